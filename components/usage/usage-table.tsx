import { type Column, ResourceTable } from "@/components/blocks/list/resource-table";
import { dollars } from "@/components/blocks/money/money";
import { Card, CardHeader } from "@/components/ui/card";
import type { UsageFigures } from "@/server/contract/usage";
import type { Series } from "./stacked-bars";
import type { UsageGroupRow } from "./usage-state";

/** To the micro, so that what is shown adds up as it does in the books. */
const count = (value: number) => value.toLocaleString("en-US");

/** The known cost, with a note if some is unknown. Unknown is never shown as zero. */
function providerCost({ providerCostMicros, unknownCosts }: UsageFigures): string {
  if (unknownCosts === 0) return dollars(providerCostMicros);
  return providerCostMicros === 0
    ? "Unknown"
    : `${dollars(providerCostMicros)} + ${count(unknownCosts)} unknown`;
}

const COLUMNS: [name: string, of: (figures: UsageFigures) => string][] = [
  ["Executions", ({ executions }) => count(executions)],
  ["Failed", ({ failed }) => count(failed)],
  ["Work", ({ chargedMicros, feeMicros }) => dollars(chargedMicros - feeMicros)],
  ["Fee", ({ feeMicros }) => dollars(feeMicros)],
  ["Charged", ({ chargedMicros }) => dollars(chargedMicros)],
  ["Provider cost", providerCost],
  ["Tokens in", ({ inputTokens }) => count(inputTokens)],
  ["Tokens out", ({ outputTokens }) => count(outputTokens)],
  ["Images", ({ images }) => count(images)],
];

/** Every group with all its figures. */
export function GroupTable({
  groups,
  totals,
  heading,
}: {
  groups: UsageGroupRow[];
  totals: UsageFigures;
  heading: string;
}) {
  return (
    <Card className="overflow-hidden" aria-labelledby="groups-title">
      <CardHeader
        id="groups-title"
        title={`By ${heading.toLowerCase()}`}
        hint="Work and fee add up to what you paid. Provider cost is the list price, also of work on your own accounts."
      />
      <ResourceTable
        label={`Usage by ${heading.toLowerCase()}, largest first`}
        rows={groups}
        idOf={({ key }) => key}
        columns={[
          {
            header: heading,
            card: "title",
            className: "font-medium [overflow-wrap:anywhere]",
            cell: ({ name }) => name,
          },
          ...COLUMNS.map(
            ([header, of]): Column<UsageGroupRow> => ({
              header,
              align: "end",
              card: "fact",
              cell: ({ figures }) => of(figures),
            }),
          ),
        ]}
        totals={["Total", ...COLUMNS.map(([, of]) => of(totals))]}
      />
    </Card>
  );
}

/** The chart's figures by day, newest first, without empty days. */
export function DayTable({
  days,
  series,
  caption,
  format,
}: {
  days: string[];
  series: Series[];
  caption: string;
  format: (value: number) => string;
}) {
  const lines = days
    .map((day, at) => ({ day, values: series.map(({ values }) => values[at] ?? 0) }))
    .filter(({ values }) => values.some((value) => value > 0))
    .reverse();
  if (lines.length === 0) return null;
  return (
    <Card className="overflow-hidden" aria-labelledby="days-title">
      <CardHeader id="days-title" title="By day" />
      <ResourceTable
        label={caption}
        rows={lines}
        idOf={({ day }) => day}
        columns={[
          { header: "Day", card: "title", className: "whitespace-nowrap", cell: ({ day }) => day },
          ...series.map(
            ({ key, name }, place): Column<(typeof lines)[number]> => ({
              id: key,
              header: name,
              align: "end",
              card: "fact",
              cell: ({ values }) => format(values[place] ?? 0),
            }),
          ),
          {
            header: "Total",
            align: "end",
            card: "status",
            className: "font-medium",
            cell: ({ values }) => format(values.reduce((sum, value) => sum + value, 0)),
          },
        ]}
      />
    </Card>
  );
}
