"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { comparisonHref } from "@/components/comparisons/list-state";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { HoldView } from "@/server/contract/budgets";
import { ResolveDialog } from "./resolve-dialog";
import { dollars } from "./words";

const REFRESH_MS = 5_000;

/** What is reserved now and by which job; an owner says what became of those whose charge nobody knows. */
export function HoldList({
  projectId,
  keyNames,
  canResolve,
}: {
  projectId: string;
  keyNames: ReadonlyMap<string, string>;
  canResolve: boolean;
}) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<HoldView | null>(null);
  const { data } = useSuspenseQuery({
    ...trpc.budgets.holds.queryOptions({ project_id: projectId }),
    refetchInterval: REFRESH_MS,
  });
  const unknown = data.items.filter(({ state }) => state === "ambiguous").length;
  return (
    <Card aria-labelledby="holds-title" className="mt-4 overflow-hidden">
      <CardHeader
        id="holds-title"
        title="Reserved now"
        hint={
          unknown > 0 ? `${unknown} ended without anybody knowing the charge` : "By jobs that have not ended"
        }
      />
      {data.items.length === 0 ? (
        <CardBody className="text-sm text-muted">Nothing is reserved.</CardBody>
      ) : (
        <Table>
          <thead>
            <tr>
              <TableHead>Job</TableHead>
              <TableHead>Reserved</TableHead>
              <TableHead>State</TableHead>
              <TableHead>By</TableHead>
              <TableHead>Since</TableHead>
              <TableHead>
                <span className="sr-only">Actions</span>
              </TableHead>
            </tr>
          </thead>
          <tbody>
            {data.items.map((hold) => (
              <TableRow key={hold.holdId}>
                <TableCell>
                  <Link href={hrefOf(hold)} className="text-link hover:underline">
                    {hold.capabilityKey ?? hold.executionId}
                  </Link>
                  <div className="font-mono text-2xs text-muted">{hold.executionId}</div>
                </TableCell>
                <TableCell className="whitespace-nowrap">
                  {dollars(hold.amountMicros)}
                  {hold.isTest && <span className="text-muted"> sandbox</span>}
                </TableCell>
                <TableCell>
                  {hold.state === "ambiguous" ? (
                    <Badge tone="warn">Charge unknown</Badge>
                  ) : (
                    <Badge tone="busy">Reserved</Badge>
                  )}
                </TableCell>
                <TableCell className="max-w-40 truncate" title={hold.principalId}>
                  {keyNames.get(hold.principalId) ?? hold.principalId}
                </TableCell>
                <TableCell className="text-muted">
                  <Ago at={hold.createdAt} />
                </TableCell>
                <TableCell className="text-right">
                  {hold.state === "ambiguous" && canResolve && !isComparison(hold) && (
                    <Button
                      size="sm"
                      aria-label={`Resolve the charge of ${hold.executionId}`}
                      onClick={() => setChosen(hold)}
                    >
                      Resolve
                    </Button>
                  )}
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      )}
      <ResolveDialog hold={chosen} onClose={() => setChosen(null)} />
    </Card>
  );
}

/** Of a comparison that nobody has judged all holds are one; what is unknown of it is resolved by entry, afterwards. */
const isComparison = ({ executionId }: HoldView) => executionId.startsWith("cmp_");

const hrefOf = (hold: HoldView) =>
  isComparison(hold) ? comparisonHref(hold.projectId, hold.executionId) : `/jobs/${hold.executionId}`;
