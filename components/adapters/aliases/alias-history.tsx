"use client";
import { useState } from "react";
import { adapterHref, aliasHref, type PageState } from "@/components/adapters/list-state";
import { column } from "@/components/blocks/list/columns";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, type TableColumn, Titled } from "@/components/blocks/list/resource-table";
import { callerName } from "@/components/callers/caller-name";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CardHeader, Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import Link from "@/components/ui/link";
import type { AliasShown, AliasStep } from "@/server/contract/adapters";
import { type WeightedAdapter, weightWords } from "./diff";
import { DiffTable } from "./diff-table";

const targetOf = ({ adapter, target }: AliasStep): WeightedAdapter => ({ adapter, weight: target.weight });

type Props = {
  projectId: string;
  alias: AliasShown;
  history: { items: AliasStep[]; nextCursor?: string | undefined };
  state: PageState;
  /** Null when the reader may not promote. */
  onPromote: ((target: WeightedAdapter) => void) | null;
};

/** The versions of an alias, newest first, and the differences between any two. */
export function AliasHistory({ projectId, alias, history, state, onPromote }: Props) {
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
        <ResourceTable
          label="Versions, newest first"
          rows={items}
          idOf={({ versionId }) => versionId}
          columns={columnsOf(projectId, alias)}
          actions={
            onPromote
              ? (step) =>
                  step.number !== alias.current.number &&
                  !step.isAdapterDeleted && (
                    <Button
                      size="sm"
                      aria-label={`Promote version ${step.number} again`}
                      onClick={() => onPromote(targetOf(step))}
                    >
                      Promote again
                    </Button>
                  )
              : undefined
          }
        />
      </ListCard>
      {items.length > 1 && <Compare key={items[0]?.versionId} items={items} />}
    </div>
  );
}

const columnsOf = (projectId: string, alias: AliasShown): TableColumn<AliasStep>[] => [
  column.title("Version", ({ number, adapter, isAdapterDeleted, target }) => (
    <Titled
      title={
        <>
          {number}{" "}
          {isAdapterDeleted ? (
            <span className="text-muted">{adapter.displayName} (deleted)</span>
          ) : (
            <Link href={adapterHref(projectId, adapter.adapterId)} className="text-link hover:underline">
              {adapter.displayName}
            </Link>
          )}
        </>
      }
    >
      <span>Strength {weightWords(target.weight, adapter)}</span>
    </Titled>
  )),
  column.status(
    ({ number, versionId }) => (
      <span className="flex flex-wrap gap-1 empty:hidden">
        {number === alias.current.number && <Badge tone="good">Current</Badge>}
        {versionId === alias.binding?.versionId && <Badge tone="busy">Recipe</Badge>}
      </span>
    ),
    "Used as",
  ),
  {
    header: "Promoted by",
    className: "text-muted",
    cell: ({ createdBy, createdByName }) => (
      <span title={createdBy}>{callerName({ id: createdBy, name: createdByName })}</span>
    ),
  },
  column.ago("Promoted", ({ createdAt }) => createdAt),
];

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
    <Section title="What changed" id="compare-title" bodyClassName="space-y-3">
      <div className="grid gap-x-4 gap-y-2 sm:grid-cols-2">
        <Choice label="From" options={options} value={from} onChange={setFrom} />
        <Choice label="To" options={options} value={to} onChange={setTo} />
      </div>
      <div aria-live="polite">
        {before && after && <DiffTable before={targetOf(before)} after={targetOf(after)} />}
      </div>
    </Section>
  );
}
