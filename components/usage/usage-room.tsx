"use client";
import { ChartColumn, Download } from "lucide-react";
import { useLive } from "@/components/blocks/data/use-live";
import { Amount } from "@/components/blocks/money/amount";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { OtherMode, useIsTest } from "@/components/shell/mode";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { Card, Section } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { Figure, Figures } from "@/components/ui/figures";
import { LinkChoice } from "@/components/ui/link-choice";
import { useAddress } from "@/components/ui/use-address";
import { ownKeys } from "@/server/contract/own-keys";
import type { UsageFigures } from "@/server/contract/usage";
import { MOST_SERIES, type Series, StackedBars } from "./stacked-bars";
import {
  addFigures,
  exportHref,
  groupUsage,
  MEASURES,
  type Measure,
  measureOf,
  toDaysQuery,
  type UsageGroupRow,
  type UsageState,
  usageHref,
} from "./usage-state";
import { DayTable, GroupTable } from "./usage-table";

const REFRESH_MS = 30_000;
const MEASURE: Record<Measure, string> = {
  charged: "Charged",
  cost: "Provider cost",
  executions: "Executions",
  tokens: "Tokens",
};
const GROUP = { capability: "Capability", provider: "Provider", key: "Key or person" };

const isMoney = (measure: Measure) => measure === "charged" || measure === "cost";

/** Formats a figure of the chart and its table. */
export const formatMeasure = (value: number, measure: Measure) =>
  isMoney(measure) ? dollars(value) : value.toLocaleString("en-US");

/** A project's usage by day: a chart, the same figures as a table, and a CSV export. */
export function UsageRoom({ projectId, state }: { projectId: string; state: UsageState }) {
  const trpc = useTRPC();
  const { data: usage } = useLive(trpc.usage.days.queryOptions(toDaysQuery(projectId, state)), REFRESH_MS);
  const hasSome = (isTest: boolean) => usage.rows.some(({ test }) => test === isTest);
  const isTest = useIsTest();
  const groups = groupUsage(usage, state, isTest);
  const totals = addFigures(groups.map(({ figures }) => figures));
  const { wanted, show } = useAddress(state, (next) => usageHref(projectId, next));
  const choose = (name: string, change: Partial<UsageState>) => ({
    name,
    current: ownKeys(change).every((each) => wanted[each] === change[each]),
    href: usageHref(projectId, { ...wanted, ...change }),
    onChoose: () => show({ ...wanted, ...change }),
  });
  const series = toSeries(groups, usage.days, state.show);
  const whole = formatMeasure(measureOf(totals, state.show), state.show);

  return (
    <>
      <PageHeader
        title="Usage"
        actions={
          <Button asChild>
            <a href={exportHref(projectId, usage)} download>
              <Download aria-hidden />
              Download CSV
            </a>
          </Button>
        }
      >
        Spend and activity for this project. Days are in UTC, by submission time.
      </PageHeader>
      <div className="mb-4 flex flex-wrap gap-x-4 gap-y-2">
        <LinkChoice
          label="Days"
          options={(["7", "30", "90"] as const).map((days) => choose(`${days} days`, { days }))}
        />
        <LinkChoice
          label="By"
          options={(["capability", "provider", "key"] as const).map((by) => choose(GROUP[by], { by }))}
        />
        <LinkChoice label="Show" options={MEASURES.map((show) => choose(MEASURE[show], { show }))} />
      </div>
      <OtherMode has={hasSome(!isTest)}>{(other) => `${other} has activity in this period too.`}</OtherMode>
      {groups.length === 0 ? (
        <Card>
          <EmptyState
            icon={ChartColumn}
            title={isTest ? "No test activity in this period" : "No live activity in this period"}
          >
            {isTest
              ? "Sandbox executions, paid with test money, appear here."
              : "Executions on real providers appear here."}
          </EmptyState>
        </Card>
      ) : (
        <div className="grid grid-cols-1 gap-5">
          <Totals totals={totals} isTest={isTest} />
          <Section
            title={`${MEASURE[state.show]} by ${GROUP[state.by].toLowerCase()}`}
            hint={`${usage.from} to ${usage.to}`}
          >
            {series.every(({ values }) => values.every((value) => value === 0)) ? (
              <p className="text-sm text-muted">{MEASURE[state.show]}: 0 on every day of this period.</p>
            ) : (
              <StackedBars
                days={usage.days}
                series={series}
                format={(value) => formatMeasure(value, state.show)}
                label={`${MEASURE[state.show]} per day by ${GROUP[state.by].toLowerCase()}, ${usage.from} to ${usage.to}: ${whole} in total. The figures are in the tables below.`}
              />
            )}
          </Section>
          <GroupTable groups={groups} totals={totals} heading={GROUP[state.by]} />
          <DayTable
            days={usage.days}
            series={series}
            caption={`${MEASURE[state.show]} by day and ${GROUP[state.by].toLowerCase()}`}
            format={(value) =>
              isMoney(state.show) ? <Amount of={value} /> : formatMeasure(value, state.show)
            }
          />
        </div>
      )}
    </>
  );
}

/** As many groups as there are colours; the rest are combined into one. */
function toSeries(groups: UsageGroupRow[], days: string[], show: Measure): Series[] {
  const valuesOf = (some: UsageGroupRow[]) =>
    days.map((day) =>
      some.reduce((sum, { byDay }) => {
        const figures = byDay.get(day);
        return sum + (figures ? measureOf(figures, show) : 0);
      }, 0),
    );
  const shown = groups
    .slice(0, MOST_SERIES)
    .map((group) => ({ key: group.key, name: group.name, values: valuesOf([group]) }));
  const rest = groups.slice(MOST_SERIES);
  if (rest.length === 0) return shown;
  return [...shown, { key: "\nrest", name: `${rest.length} others`, values: valuesOf(rest) }];
}

function Totals({ totals, isTest }: { totals: UsageFigures; isTest: boolean }) {
  const count = (value: number) => value.toLocaleString("en-US");
  return (
    <Figures>
      <Figure
        name={isTest ? "Charged (test money)" : "Charged"}
        note={`Includes ${dollars(totals.feeMicros)} service fee`}
      >
        {dollars(totals.chargedMicros)}
      </Figure>
      <Figure
        name="Provider cost at list price"
        note={totals.unknownCosts > 0 && `${count(totals.unknownCosts)} with unknown cost`}
      >
        {totals.unknownCosts > 0 && totals.providerCostMicros === 0
          ? "Unknown"
          : dollars(totals.providerCostMicros)}
      </Figure>
      <Figure
        name="Executions"
        note={[
          totals.failed > 0 && `${count(totals.failed)} failed`,
          totals.canceled > 0 && `${count(totals.canceled)} canceled`,
          totals.unfinished > 0 && `${count(totals.unfinished)} in progress`,
          totals.unjudged > 0 && `${count(totals.unjudged)} in unjudged comparisons`,
        ]
          .filter(Boolean)
          .join(", ")}
      >
        {count(totals.executions)}
      </Figure>
      <Figure
        name="Tokens in and out"
        note={totals.images > 0 && `${count(totals.images)} ${totals.images === 1 ? "image" : "images"}`}
      >
        {count(totals.inputTokens)} / {count(totals.outputTokens)}
      </Figure>
    </Figures>
  );
}
