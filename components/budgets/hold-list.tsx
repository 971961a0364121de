"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { TEST_MONEY } from "@/components/billing/test-money";
import { Caller } from "@/components/callers/caller";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { HoldView } from "@/server/contract/budgets";
import { ResolveAllDialog } from "./resolve-all-dialog";
import { ResolveDialog } from "./resolve-dialog";
import { dollars } from "./words";

const REFRESH_MS = 5_000;

/** The funds reserved by unfinished jobs. An owner resolves unconfirmed charges here. */
export function HoldList({ projectId, canResolve }: { projectId: string; canResolve: boolean }) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<HoldView | null>(null);
  const { data } = useSuspenseQuery({
    ...trpc.budgets.holds.queryOptions({ projectId }),
    refetchInterval: REFRESH_MS,
  });
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
        <>
          <div className="hidden md:block">
            <Table>
              <thead>
                <tr>
                  <TableHead>Job</TableHead>
                  <TableHead>Amount</TableHead>
                  <TableHead>Status</TableHead>
                  <TableHead>Caller</TableHead>
                  <TableHead>Created</TableHead>
                  <TableHead>
                    <span className="sr-only">Actions</span>
                  </TableHead>
                </tr>
              </thead>
              <tbody>
                {data.items.map((hold) => (
                  <TableRow key={hold.holdId}>
                    <TableCell>
                      <JobOf hold={hold} />
                    </TableCell>
                    <TableCell className="whitespace-nowrap">
                      <Reserved hold={hold} />
                    </TableCell>
                    <TableCell>
                      <HoldState hold={hold} />
                    </TableCell>
                    <TableCell className="max-w-40 truncate" title={hold.principalId}>
                      <Caller projectId={projectId} id={hold.principalId} isPlain />
                    </TableCell>
                    <TableCell className="text-muted">
                      <Ago at={hold.createdAt} />
                    </TableCell>
                    <TableCell className="text-right">{resolveOf(hold)}</TableCell>
                  </TableRow>
                ))}
              </tbody>
            </Table>
          </div>
          <ul aria-label="Reserved funds" className="divide-y divide-line md:hidden">
            {data.items.map((hold) => (
              <li key={hold.holdId} className="space-y-2 px-4 py-3 text-sm">
                <div className="flex items-start justify-between gap-3">
                  <div className="min-w-0 [overflow-wrap:anywhere]">
                    <JobOf hold={hold} />
                  </div>
                  <HoldState hold={hold} />
                </div>
                <div className="flex items-end justify-between gap-3">
                  <div className="min-w-0 text-xs text-muted [overflow-wrap:anywhere]">
                    <div className="text-sm text-text tabular-nums">
                      <Reserved hold={hold} />
                    </div>
                    <Caller projectId={projectId} id={hold.principalId} isPlain />,{" "}
                    <Ago at={hold.createdAt} />
                  </div>
                  {resolveOf(hold)}
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
      <ResolveDialog hold={chosen} onClose={() => setChosen(null)} />
    </Card>
  );
}

function JobOf({ hold }: { hold: HoldView }) {
  return (
    <>
      <Link href={hrefOf(hold)} className="text-link hover:underline">
        {hold.capabilityKey ?? hold.executionId}
      </Link>
      <div className="font-mono text-2xs text-muted">{hold.executionId}</div>
    </>
  );
}

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
