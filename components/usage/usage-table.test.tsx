import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { addFigures } from "./usage-state";
import { GroupTable } from "./usage-table";

const NOTHING = addFigures([]);
const group = (key: string, figures: Partial<typeof NOTHING>) => ({
  key,
  name: key,
  figures: { ...NOTHING, executions: 1, ...figures },
  byDay: new Map(),
});

/** The rows of the table as read, by their columns' names; the last one is the total. */
function readRows(html: string): Record<string, string>[] {
  const table = /<table.*?<\/table>/s.exec(html)?.[0] ?? "";
  const cellsOf = (row: string) =>
    [...row.matchAll(/<t[hd].*?>(.*?)<\/t[hd]>/gs)].map(([, text = ""]) => text.replace(/<.*?>/g, ""));
  const [names = [], ...rows] = [...table.matchAll(/<tr.*?<\/tr>/gs)].map(([row]) => cellsOf(row));
  return rows.map((cells) => Object.fromEntries(names.map((name, place) => [name, cells[place] ?? ""])));
}
const micros = (shown = "") => Math.round(Number(shown.replace("$", "")) * 1_000_000);

test("on screen, work and fee add up to what was charged, in each row and in the total", () => {
  const groups = [
    // A charge whose provider cost is not known, one above a dollar, and work on an own account.
    group("unknown", { chargedMicros: 5_218, feeMicros: 295, unknownCosts: 1 }),
    group("dear", { chargedMicros: 1_543_217, feeMicros: 87_352, providerCostMicros: 1_455_865 }),
    group("own", { providerCostMicros: 2_000_004 }),
  ];
  const totals = addFigures(groups.map(({ figures }) => figures));
  const rows = readRows(
    renderToStaticMarkup(<GroupTable groups={groups} totals={totals} heading="Capability" />),
  );
  expect(rows.map((row) => row.Capability)).toEqual(["unknown", "dear", "own", "Total"]);
  for (const row of rows) expect(micros(row.Work) + micros(row.Fee)).toBe(micros(row.Charged));
  for (const name of ["Work", "Fee", "Charged"]) {
    const each = rows.slice(0, -1).map((row) => micros(row[name]));
    expect(each.reduce((sum, value) => sum + value, 0)).toBe(micros(rows.at(-1)?.[name]));
  }
  expect(rows[0]).toMatchObject({ Charged: "$0.005218", "Provider cost": "Unknown" });
  expect(rows[2]).toMatchObject({ Charged: "$0.000000", "Provider cost": "$2.000004" });
});
