"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { TEST_MONEY } from "@/components/billing/test-money";
import { dollars } from "@/components/blocks/money/money";
import { Ago } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import type { BudgetAlert } from "@/server/contract/budgets";
import { nameOf } from "./words";

const SHOWN = 5;
const toneOf = ({ percent }: BudgetAlert) => (percent === 100 ? "bad" : percent === 80 ? "warn" : "neutral");

/** The latest alerts at 50, 80 and 100% of a limit; renders nothing when there are none. */
export function AlertList({
  projectId,
  keyNames,
}: {
  projectId: string;
  keyNames: ReadonlyMap<string, string>;
}) {
  const trpc = useTRPC();
  const { data: alerts } = useSuspenseQuery(trpc.budgets.alerts.queryOptions({ project_id: projectId }));
  if (alerts.length === 0) return null;
  return (
    <Card aria-labelledby="alerts-title" className="mb-4">
      <CardHeader id="alerts-title" title="Alerts" hint="At 50, 80 and 100% of a limit" />
      <ul className="divide-y divide-line">
        {alerts.slice(0, SHOWN).map((alert) => (
          <li key={alert.alertId} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm">
            <Badge tone={toneOf(alert)}>{alert.percent}%</Badge>
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {nameOf(alert, keyNames)}
              {alert.isTest && ` (${TEST_MONEY})`}
            </span>
            <span className="text-muted tabular-nums">
              {dollars(alert.spentMicros + alert.reservedMicros)} of {dollars(alert.ceilingMicros)}
            </span>
            <span className="text-xs text-muted sm:ml-auto">
              <Ago at={alert.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
