"use client";
import { useState } from "react";
import { adapterHref, aliasHref, type PageState } from "@/components/adapters/list-state";
import { ListCard } from "@/components/blocks/list/list-card";
import { callerName } from "@/components/callers/caller-name";
import { Ago } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import Link from "@/components/ui/link";
import type { AliasShown, AliasStep } from "@/server/contract/adapters";
import { type Target, weightWords } from "./diff";
import { DiffTable } from "./diff-table";

const targetOf = ({ adapter, target }: AliasStep): Target => ({ adapter, weight: target.weight });

/** The versions of an alias, newest first, and the differences between any two. */
export function AliasHistory({
  projectId,
  alias,
  history,
  state,
  onPromote,
}: {
  projectId: string;
  alias: AliasShown;
  history: { items: AliasStep[]; nextCursor?: string | undefined };
  state: PageState;
  /** Null when the reader may not promote. */
  onPromote: ((target: Target) => void) | null;
}) {
  const { items } = history;
  return (
    <div className="space-y-4">
      <ListCard
        noun="versions"
        header={<CardHeader title="Versions" hint="Immutable, newest first" />}
        page={history}
        state={state}
        hrefOf={(page) => aliasHref(projectId, alias.alias, page)}
        first={null}
      >
        <ol aria-label="Versions, newest first" className="divide-y divide-line">
          {items.map((step) => (
            <li
              key={step.versionId}
              className="flex flex-wrap items-center gap-x-4 gap-y-1.5 px-4 py-2.5 text-sm"
              data-version={step.number}
            >
              <span className="w-8 font-semibold tabular-nums">
                <span className="sr-only">Version </span>
                {step.number}
              </span>
              <span className="min-w-0 flex-1 basis-56">
                {step.isAdapterDeleted ? (
                  <span className="text-muted">{step.adapter.displayName} (deleted)</span>
                ) : (
                  <Link
                    href={adapterHref(projectId, step.adapter.adapterId)}
                    className="text-link [overflow-wrap:anywhere] hover:underline"
                  >
                    {step.adapter.displayName}
                  </Link>
                )}
                <span className="block text-xs text-muted">
                  Strength {weightWords(step.target.weight, step.adapter)}
                </span>
              </span>
              <span className="flex flex-wrap gap-1">
                {step.number === alias.current.number && <Badge tone="good">Current</Badge>}
                {step.versionId === alias.binding?.versionId && <Badge tone="busy">Recipe</Badge>}
              </span>
              <span className="min-w-0 text-xs text-muted sm:w-56 sm:text-right">
                <span className="block truncate" title={step.createdBy}>
                  {callerName({ id: step.createdBy, name: step.createdByName })}
                </span>
                <Ago at={step.createdAt} />
              </span>
              {onPromote && (
                <span className="text-right empty:max-sm:hidden sm:w-28">
                  {step.number !== alias.current.number && !step.isAdapterDeleted && (
                    <Button
                      size="sm"
                      aria-label={`Promote version ${step.number} again`}
                      onClick={() => onPromote(targetOf(step))}
                    >
                      Promote again
                    </Button>
                  )}
                </span>
              )}
            </li>
          ))}
        </ol>
      </ListCard>
      {items.length > 1 && <Compare key={items[0]?.versionId} items={items} />}
    </div>
  );
}

/** Compares two versions; the newest two by default. */
function Compare({ items }: { items: AliasStep[] }) {
  const [from, setFrom] = useState(items[1]?.versionId ?? "");
  const [to, setTo] = useState(items[0]?.versionId ?? "");
  const options = items.map(({ versionId, number, adapter }): [string, string] => [
    versionId,
    `Version ${number}: ${adapter.displayName}`,
  ]);
  const [before, after] = [from, to].map((id) => items.find(({ versionId }) => versionId === id));
  return (
    <Card aria-labelledby="compare-title">
      <CardHeader title="What changed" id="compare-title" />
      <CardBody className="space-y-3">
        <div className="grid gap-x-4 gap-y-2 sm:grid-cols-2">
          <Choice label="From" options={options} value={from} onChange={setFrom} />
          <Choice label="To" options={options} value={to} onChange={setTo} />
        </div>
        <div aria-live="polite">
          {before && after && <DiffTable before={targetOf(before)} after={targetOf(after)} />}
        </div>
      </CardBody>
    </Card>
  );
}
