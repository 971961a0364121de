"use client";
import { useState } from "react";
import { TEST_MONEY } from "@/components/billing/test-money";
import { useLive } from "@/components/blocks/data/use-live";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { dollars } from "@/components/blocks/money/money";
import { Caller } from "@/components/callers/caller";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import Link from "@/components/ui/link";
import type { HoldView } from "@/server/contract/budgets";
import { ResolveAllDialog } from "./resolve-all-dialog";
import { ResolveDialog } from "./resolve-dialog";

const REFRESH_MS = 5_000;

/** The funds reserved by unfinished jobs. An owner resolves unconfirmed charges here. */
export function HoldList({ projectId, canResolve }: { projectId: string; canResolve: boolean }) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<HoldView | null>(null);
  const { data } = useLive(trpc.budgets.holds.queryOptions({ projectId }), REFRESH_MS);
  const unknown = data.items.filter(({ state }) => state === "ambiguous").length;
  const [first] = data.items;
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
      {data.items.length === 0 ? (
        <CardBody className="text-sm text-muted">No reserved funds.</CardBody>
      ) : (
        <ResourceTable
          label="Reserved funds"
          rows={data.items}
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
    className: "[overflow-wrap:anywhere]",
    cell: (hold) => (
      <>
        <Link href={hrefOf(hold)} className="text-link hover:underline">
          {hold.capabilityKey ?? hold.executionId}
        </Link>
        <div className="font-mono text-2xs text-muted">{hold.executionId}</div>
      </>
    ),
  },
  { header: "Amount", className: "whitespace-nowrap", cell: (hold) => <Reserved hold={hold} /> },
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

function Reserved({ hold }: { hold: HoldView }) {
  return (
    <>
      {dollars(hold.amountMicros)}
      {hold.isTest && <span className="text-muted"> {TEST_MONEY}</span>}
    </>
  );
}

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
