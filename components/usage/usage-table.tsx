import type { ReactNode } from "react";
import { Capped } from "@/components/blocks/list/capped";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { Amount } from "@/components/blocks/money/amount";
import { Section } from "@/components/ui/card";
import type { UsageFigures } from "@/server/contract/usage";
import type { Series } from "./stacked-bars";
import type { UsageGroupRow } from "./usage-state";

const count = (value: number) => value.toLocaleString("en-US");

/** The known cost, with a note if some is unknown. Unknown is never shown as zero. */
function providerCost({ providerCostMicros, unknownCosts }: UsageFigures) {
  if (unknownCosts > 0 && providerCostMicros === 0) return "Unknown";
  return <Amount of={providerCostMicros} note={unknownCosts > 0 && `+ ${count(unknownCosts)} unknown`} />;
}

/** Amounts have six decimals, so that they add up as in the ledger. */
const COLUMNS: [name: string, of: (figures: UsageFigures) => ReactNode, card?: TableColumn<never>["card"]][] =
  [
    ["Executions", ({ executions }) => count(executions), "fact"],
    ["Failed", ({ failed }) => count(failed), "fact"],
    ["Work", ({ chargedMicros, feeMicros }) => <Amount of={chargedMicros - feeMicros} />],
    ["Fee", ({ feeMicros }) => <Amount of={feeMicros} />],
    ["Charged", ({ chargedMicros }) => <Amount of={chargedMicros} />, "amount"],
    ["Provider cost", providerCost],
    ["Tokens in", ({ inputTokens }) => count(inputTokens)],
    ["Tokens out", ({ outputTokens }) => count(outputTokens)],
    ["Images", ({ images }) => count(images)],
  ];

type Props = { groups: UsageGroupRow[]; totals: UsageFigures; heading: string };

/** Every group with all its figures. */
export function GroupTable({ groups, totals, heading }: Props) {
  return (
    <Section
      title={`By ${heading.toLowerCase()}`}
      hint="Work and fee add up to what you paid. Provider cost is the list price, also of work on your own accounts."
      isFlush
    >
      <Capped rows={groups}>
        {(rows) => (
          <ResourceTable
            label={`Usage by ${heading.toLowerCase()}, largest first`}
            rows={rows}
            idOf={({ key }) => key}
            columns={[
              {
                header: heading,
                card: "title",
                className: "font-medium [overflow-wrap:anywhere]",
                cell: ({ name }) => name,
              },
              ...COLUMNS.map(
                ([header, of, card = "hidden"]): TableColumn<UsageGroupRow> => ({
                  header,
                  align: "end",
                  card,
                  cell: ({ figures }) => of(figures),
                }),
              ),
            ]}
            totals={["Total", ...COLUMNS.map(([, of]) => of(totals))]}
          />
        )}
      </Capped>
    </Section>
  );
}

type DayTableProps = {
  days: string[];
  series: Series[];
  caption: string;
  format: (value: number) => ReactNode;
};

/** The chart's figures by day, newest first, without empty days. */
export function DayTable({ days, series, caption, format }: DayTableProps) {
  const lines = days
    .map((day, at) => ({ day, values: series.map(({ values }) => values[at] ?? 0) }))
    .filter(({ values }) => values.some((value) => value > 0))
    .reverse();
  if (lines.length === 0) return null;
  return (
    <Section title="By day" isFlush>
      <Capped rows={lines}>
        {(rows) => (
          <ResourceTable
            label={caption}
            rows={rows}
            idOf={({ day }) => day}
            columns={[
              { header: "Day", card: "title", className: "whitespace-nowrap", cell: ({ day }) => day },
              ...series.map(
                ({ key, name }, place): TableColumn<(typeof lines)[number]> => ({
                  id: key,
                  header: name,
                  align: "end",
                  card: "hidden",
                  cell: ({ values }) => format(values[place] ?? 0),
                }),
              ),
              {
                header: "Total",
                align: "end",
                card: "amount",
                className: "font-medium",
                cell: ({ values }) => format(values.reduce((sum, value) => sum + value, 0)),
              },
            ]}
          />
        )}
      </Capped>
    </Section>
  );
}
