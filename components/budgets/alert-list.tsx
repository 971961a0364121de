"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { column } from "@/components/blocks/list/columns";
import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import type { BudgetAlert } from "@/server/contract/budgets";
import { type Names, OwnerName } from "./owner-name";
import { PERIODS } from "./words";

const TONES: Record<number, "bad" | "warn"> = { 100: "bad", 80: "warn" };

/** Of each budget the latest alert at 50, 80 and 100% of its limit; renders nothing when there are none. */
export function AlertList({ projectId, keyNames, isTest }: Names & { isTest: boolean }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.budgets.alerts.queryOptions({ project_id: projectId }));
  const ofMode = data.filter((alert) => alert.isTest === isTest);
  const latest = ofMode
    .filter(({ budgetId }, at) => ofMode.findIndex((each) => each.budgetId === budgetId) === at)
    .toSorted((one, other) => other.percent - one.percent);
  if (latest.length === 0) return null;
  return (
    <Section title="Alerts" hint="At 50, 80 and 100% of a limit" isFlush className="mb-4">
      <ResourceTable
        label="Alerts by budget"
        rows={latest}
        idOf={({ alertId }) => alertId}
        columns={columnsOf({ projectId, keyNames })}
      />
    </Section>
  );
}

const columnsOf = (names: Names): Column<BudgetAlert>[] => [
  {
    header: "Budget",
    card: "title",
    cell: ({ scope, period }) => (
      <>
        <span className="font-medium">
          <OwnerName {...names} scope={scope} />
        </span>
        <span className="text-muted">, {PERIODS[period].toLowerCase()}</span>
      </>
    ),
  },
  column.status(({ percent }) => <Badge tone={TONES[percent] ?? "neutral"}>{percent}%</Badge>, "Reached"),
  column.amount("Spent and reserved", ({ spentMicros, reservedMicros }) => (
    <Amount of={spentMicros + reservedMicros} />
  )),
  {
    header: "Limit",
    align: "end",
    card: "fact",
    className: "text-muted",
    cell: ({ ceilingMicros }) => dollars(ceilingMicros),
  },
  column.ago("Time", ({ createdAt }) => createdAt),
];
