"use client";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { column } from "@/components/blocks/list/columns";
import { type Column, ResourceTable, Titled } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { Caller } from "@/components/callers/caller";
import { comparisonHref } from "@/components/comparisons/list-state";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CardBody, Section } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { HoldView } from "@/server/contract/budgets";
import type { Names } from "./owner-name";
import { ResolveAllDialog } from "./resolve-all-dialog";
import { ResolveDialog } from "./resolve-dialog";

const REFRESH_MS = 5_000;

type Props = Names & { isTest: boolean; canResolve: boolean };

/** The funds reserved by unfinished jobs. An owner resolves unconfirmed charges here. */
export function HoldList({ projectId, keyNames, isTest, canResolve }: Props) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<HoldView | null>(null);
  const { data } = useLive(trpc.budgets.holds.queryOptions({ projectId }), REFRESH_MS);
  const holds = data.items.filter((hold) => hold.isTest === isTest);
  const unknown = holds.filter(({ state }) => state === "ambiguous").length;
  const [first] = holds;
  const resolveOf = (hold: HoldView) =>
    hold.state === "ambiguous" &&
    canResolve &&
    !isComparison(hold) && (
      <Button size="sm" aria-label={`Resolve charge of ${hold.executionId}`} onClick={() => setChosen(hold)}>
        Resolve
      </Button>
    );
  return (
    <Section
      title="Reserved funds"
      hint={unknown > 0 ? `${unknown} with unconfirmed charges` : "By unfinished jobs"}
      actions={
        canResolve &&
        first &&
        unknown > 1 && <ResolveAllDialog projectId={projectId} organizationId={first.organizationId} />
      }
      isFlush
      className="mt-4"
    >
      {holds.length === 0 ? (
        <CardBody className="text-sm text-muted">No reserved funds.</CardBody>
      ) : (
        <ResourceTable
          label="Reserved funds"
          rows={holds}
          idOf={({ holdId }) => holdId}
          columns={columnsOf({ projectId, keyNames })}
          actions={resolveOf}
        />
      )}
      {chosen && <ResolveDialog hold={chosen} onClose={() => setChosen(null)} />}
    </Section>
  );
}

const columnsOf = ({ projectId, keyNames }: Names): Column<HoldView>[] => [
  column.title("Job", (hold) => (
    <Titled title={hold.capabilityKey ?? "Comparison"}>
      <Link href={hrefOf(hold)} title={hold.executionId} className="font-mono text-link hover:underline">
        {shortId(hold.executionId)}
      </Link>
    </Titled>
  )),
  column.amount("Amount", ({ amountMicros }) => <Amount of={amountMicros} />),
  column.status(({ state }) =>
    state === "ambiguous" ? (
      <Badge tone="warn">Unconfirmed charge</Badge>
    ) : (
      <Badge tone="busy">Reserved</Badge>
    ),
  ),
  {
    header: "Caller",
    className: "max-w-40 truncate",
    cell: ({ principalId }) => (
      <span title={principalId}>
        <Caller projectId={projectId} id={principalId} name={keyNames.get(principalId)} isPlain />
      </span>
    ),
  },
  column.ago("Created", ({ createdAt }) => createdAt),
];

/** An unjudged comparison has one hold for all entries; unconfirmed charges are resolved per entry after the judgement. */
const isComparison = ({ executionId }: HoldView) => executionId.startsWith("cmp_");

const hrefOf = (hold: HoldView) =>
  isComparison(hold) ? comparisonHref(hold.projectId, hold.executionId) : `/jobs/${hold.executionId}`;
