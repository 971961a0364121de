"use client";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { type Column, ResourceTable, Titled } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { WORK_COLUMN } from "@/components/blocks/work/work";
import { Caller } from "@/components/callers/caller";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import Link from "@/components/ui/link";
import type { HoldView } from "@/server/contract/budgets";
import { ResolveAllDialog } from "./resolve-all-dialog";
import { ResolveDialog } from "./resolve-dialog";

const REFRESH_MS = 5_000;

type Props = { projectId: string; isTest: boolean; canResolve: boolean };

/** The funds reserved by unfinished jobs. An owner resolves unconfirmed charges here. */
export function HoldList({ projectId, isTest, canResolve }: Props) {
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
    <Card aria-labelledby="holds-title" className="mt-4 overflow-hidden">
      <CardHeader
        id="holds-title"
        title="Reserved funds"
        hint={unknown > 0 ? `${unknown} with unconfirmed charges` : "By unfinished jobs"}
        actions={
          canResolve &&
          first &&
          unknown > 1 && <ResolveAllDialog projectId={projectId} organizationId={first.organizationId} />
        }
      />
      {holds.length === 0 ? (
        <CardBody className="text-sm text-muted">No reserved funds.</CardBody>
      ) : (
        <ResourceTable
          label="Reserved funds"
          rows={holds}
          idOf={({ holdId }) => holdId}
          columns={columnsOf(projectId)}
          actions={resolveOf}
        />
      )}
      {chosen && <ResolveDialog hold={chosen} onClose={() => setChosen(null)} />}
    </Card>
  );
}

const columnsOf = (projectId: string): Column<HoldView>[] => [
  {
    header: "Job",
    card: "title",
    className: WORK_COLUMN,
    cell: (hold) => (
      <Titled title={hold.capabilityKey ?? "Comparison"}>
        <Link href={hrefOf(hold)} title={hold.executionId} className="font-mono text-link hover:underline">
          {shortId(hold.executionId)}
        </Link>
      </Titled>
    ),
  },
  {
    header: "Amount",
    align: "end",
    card: "amount",
    cell: ({ amountMicros }) => <Amount of={amountMicros} />,
  },
  { header: "Status", card: "status", cell: (hold) => <HoldState hold={hold} /> },
  {
    header: "Caller",
    className: "max-w-40 truncate",
    cell: ({ principalId }) => (
      <span title={principalId}>
        <Caller projectId={projectId} id={principalId} isPlain />
      </span>
    ),
  },
  { header: "Created", className: "text-muted", cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

function HoldState({ hold }: { hold: HoldView }) {
  return hold.state === "ambiguous" ? (
    <Badge tone="warn">Unconfirmed charge</Badge>
  ) : (
    <Badge tone="busy">Reserved</Badge>
  );
}

/** An unjudged comparison has one hold for all entries; unconfirmed charges are resolved per entry after the judgement. */
const isComparison = ({ executionId }: HoldView) => executionId.startsWith("cmp_");

const hrefOf = (hold: HoldView) =>
  isComparison(hold) ? comparisonHref(hold.projectId, hold.executionId) : `/jobs/${hold.executionId}`;
