"use client";
import Link from "next/link";
import { useState } from "react";
import { callerName } from "@/components/callers/caller-name";
import { Ago } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Label } from "@/components/ui/label";
import { Pagination } from "@/components/ui/pagination";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import type { AliasShown, AliasStep } from "@/server/contract/adapters";
import { type Target, weightWords } from "./diff";
import { DiffTable } from "./diff-table";
import { adapterHref, aliasHref, type PageState } from "./list-state";

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
  const { items, nextCursor } = history;
  return (
    <div className="space-y-4">
      <Card aria-labelledby="history-title" className="overflow-hidden">
        <CardHeader title="Versions" id="history-title" hint="Immutable, newest first" />
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
      </Card>
      <Pagination
        label="Pages of versions"
        state={state}
        nextCursor={nextCursor}
        hrefOf={(page) => aliasHref(projectId, alias.alias, page)}
      />
      {items.length > 1 && <Compare key={items[0]?.versionId} items={items} />}
    </div>
  );
}

/** Compares two versions; the newest two by default. */
function Compare({ items }: { items: AliasStep[] }) {
  const [from, setFrom] = useState(items[1]?.versionId ?? "");
  const [to, setTo] = useState(items[0]?.versionId ?? "");
  const [before, after] = [from, to].map((id) => items.find(({ versionId }) => versionId === id));
  return (
    <Card aria-labelledby="compare-title">
      <CardHeader title="What changed" id="compare-title" />
      <CardBody className="space-y-3">
        <div className="flex flex-wrap gap-x-4 gap-y-2">
          <VersionSelect id="compare-from" label="From" items={items} value={from} onChange={setFrom} />
          <VersionSelect id="compare-to" label="To" items={items} value={to} onChange={setTo} />
        </div>
        <div aria-live="polite">
          {before && after && <DiffTable before={targetOf(before)} after={targetOf(after)} />}
        </div>
      </CardBody>
    </Card>
  );
}

function VersionSelect({
  id,
  label,
  items,
  value,
  onChange,
}: {
  id: string;
  label: string;
  items: AliasStep[];
  value: string;
  onChange(value: string): void;
}) {
  return (
    <div className="grid min-w-0 flex-1 basis-48 gap-1.5">
      <Label htmlFor={id}>{label}</Label>
      <Select value={value} onValueChange={onChange}>
        <SelectTrigger id={id} />
        <SelectContent>
          {items.map(({ versionId, number, adapter }) => (
            <SelectItem key={versionId} value={versionId}>
              Version {number}: {adapter.displayName}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
    </div>
  );
}
