"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { dollars } from "@/components/blocks/money/money";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import type { BudgetAlert } from "@/server/contract/budgets";
import { OwnerName } from "./owner-name";
import { PERIODS } from "./words";

const TONES: Record<number, "bad" | "warn"> = { 100: "bad", 80: "warn" };

/** Of each budget the latest alert at 50, 80 and 100% of its limit; renders nothing when there are none. */
export function AlertList({ projectId, isTest }: { projectId: string; isTest: boolean }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.budgets.alerts.queryOptions({ project_id: projectId }));
  const ofMode = data.filter((alert) => alert.isTest === isTest).toSorted((a, b) => b.percent - a.percent);
  const latest = [...new Map(ofMode.toReversed().map((alert) => [alert.budgetId, alert])).values()].reverse();
  if (latest.length === 0) return null;
  return (
    <Card aria-labelledby="alerts-title" className="mb-4">
      <CardHeader id="alerts-title" title="Alerts" hint="At 50, 80 and 100% of a limit" />
      <ResourceTable
        label="Alerts by budget"
        rows={latest}
        idOf={({ alertId }) => alertId}
        columns={columnsOf(projectId)}
      />
    </Card>
  );
}

const columnsOf = (projectId: string): Column<BudgetAlert>[] => [
  {
    header: "Budget",
    card: "title",
    cell: ({ scope, period }) => (
      <>
        <span className="font-medium">
          <OwnerName projectId={projectId} scope={scope} />
        </span>
        <span className="text-muted">, {PERIODS[period].toLowerCase()}</span>
      </>
    ),
  },
  {
    header: "Reached",
    card: "status",
    cell: ({ percent }) => <Badge tone={TONES[percent] ?? "neutral"}>{percent}%</Badge>,
  },
  {
    header: "Spent and reserved",
    align: "end",
    card: "amount",
    cell: ({ spentMicros, reservedMicros }) => <Amount of={spentMicros + reservedMicros} />,
  },
  {
    header: "Limit",
    align: "end",
    card: "fact",
    className: "text-muted",
    cell: ({ ceilingMicros }) => dollars(ceilingMicros),
  },
  { header: "Time", align: "end", className: "text-muted", cell: ({ createdAt }) => <Ago at={createdAt} /> },
];
