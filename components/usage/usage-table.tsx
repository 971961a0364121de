import { Card, CardHeader } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import type { UsageFigures } from "@/server/contract/usage";
import type { Series } from "./stacked-bars";
import type { UsageGroupRow } from "./usage-state";

/** To the micro, so that what is shown adds up as it does in the books. */
export const usd = (micros: number) => `$${(micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;
const count = (value: number) => value.toLocaleString("en-US");

/** The known cost, with a note if some is unknown. Unknown is never shown as zero. */
function providerCost({ providerCostMicros, unknownCosts }: UsageFigures): string {
  if (unknownCosts === 0) return usd(providerCostMicros);
  return providerCostMicros === 0 ? "Unknown" : `${usd(providerCostMicros)} + ${count(unknownCosts)} unknown`;
}

const COLUMNS: [name: string, of: (figures: UsageFigures) => string][] = [
  ["Executions", ({ executions }) => count(executions)],
  ["Failed", ({ failed }) => count(failed)],
  ["Work", ({ chargedMicros, feeMicros }) => usd(chargedMicros - feeMicros)],
  ["Fee", ({ feeMicros }) => usd(feeMicros)],
  ["Charged", ({ chargedMicros }) => usd(chargedMicros)],
  ["Provider cost", providerCost],
  ["Tokens in", ({ inputTokens }) => count(inputTokens)],
  ["Tokens out", ({ outputTokens }) => count(outputTokens)],
  ["Images", ({ images }) => count(images)],
];

/** Every group with all its figures; on a phone as a list of cards. */
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
      <div className="hidden lg:block">
        <Table>
          <caption className="sr-only">Usage by {heading.toLowerCase()}, largest first</caption>
          <thead>
            <tr>
              <TableHead>{heading}</TableHead>
              {COLUMNS.map(([name]) => (
                <TableHead key={name} className="text-right">
                  {name}
                </TableHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map(({ key, name, figures }) => (
              <TableRow key={key}>
                <th
                  scope="row"
                  className="h-11 px-3 py-1.5 text-left font-medium first:pl-4 [overflow-wrap:anywhere]"
                >
                  {name}
                </th>
                {COLUMNS.map(([column, of]) => (
                  <TableCell key={column} className="text-right">
                    {of(figures)}
                  </TableCell>
                ))}
              </TableRow>
            ))}
          </tbody>
          <tfoot>
            <tr className="border-t border-line font-medium">
              <th scope="row" className="h-11 px-3 py-1.5 text-left first:pl-4">
                {" "}
                Total
              </th>
              {COLUMNS.map(([column, of]) => (
                <TableCell key={column} className="text-right">
                  {of(totals)}
                </TableCell>
              ))}
            </tr>
          </tfoot>
        </Table>
      </div>
      <ul
        aria-label={`Usage by ${heading.toLowerCase()}, largest first`}
        className="divide-y divide-line lg:hidden"
      >
        {groups.map(({ key, name, figures }) => (
          <li key={key} className="space-y-2 px-4 py-3">
            <div className="text-sm font-medium [overflow-wrap:anywhere]">{name}</div>
            <Facts className="sm:grid-cols-2">
              {COLUMNS.map(([column, of]) => (
                <Fact key={column} name={column}>
                  {of(figures)}
                </Fact>
              ))}
            </Facts>
          </li>
        ))}
      </ul>
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wider than a phone, it scrolls in its frame, by keyboard too */}
      <section aria-label={caption} tabIndex={0} className="overflow-x-auto">
        <table className="w-full border-collapse text-left text-sm tabular-nums">
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              <TableHead>Day</TableHead>
              {series.map(({ key, name }) => (
                <TableHead key={key} className="text-right">
                  {name}
                </TableHead>
              ))}
              <TableHead className="text-right">Total</TableHead>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ day, values }) => (
              <TableRow key={day}>
                <th scope="row" className="h-9 px-3 text-left font-medium whitespace-nowrap first:pl-4">
                  {day}
                </th>
                {values.map((value, place) => (
                  <TableCell key={series[place]?.key} className="h-9 text-right">
                    {format(value)}
                  </TableCell>
                ))}
                <TableCell className="h-9 text-right font-medium">
                  {format(values.reduce((sum, value) => sum + value, 0))}
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}
