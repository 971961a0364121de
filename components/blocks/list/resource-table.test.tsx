import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { ResourceTable, type TableColumn } from "./resource-table";

type Row = { id: string; name: string; cost: string | null };
const ROWS: Row[] = [
  { id: "a", name: "First", cost: "$1.00" },
  { id: "b", name: "Second", cost: null },
];
const COLUMNS: TableColumn<Row>[] = [
  { header: "Name", card: "title", cell: ({ name }) => name },
  { header: "Cost", card: "fact", align: "end", cell: ({ cost }) => cost },
];
const draw = (more: object = {}) =>
  renderToStaticMarkup(
    <ResourceTable label="Things" rows={ROWS} idOf={({ id }) => id} columns={COLUMNS} {...more} />,
  );
const count = (html: string, part: string) => html.split(part).length - 1;

test("a row is drawn once, and keeps the roles of a table when it is shown as a card", () => {
  const html = draw();
  expect(count(html, "First")).toBe(1);
  for (const [role, times] of [
    ["table", 1],
    ["row", 3],
    ["columnheader", 2],
    ["rowheader", 2],
    ["cell", 2],
  ] as const)
    expect(count(html, `role="${role}"`), role).toBe(times);
});

test("a fact carries its header for a card, and an absent one leaves its cell empty", () => {
  const html = draw();
  expect(html).toMatch(/data-header="Cost"[^>]*>\$1\.00<\/td>/);
  expect(html).toMatch(/data-header="Cost"[^>]*><\/td>/);
});

test("each row has its data attributes, its actions and a checkbox, and the totals are in the table's foot", () => {
  const html = draw({
    marks: ({ id }: Row) => ({ "data-thing": id }),
    actions: ({ name }: Row) => <button type="button">Open {name}</button>,
    selection: { chosen: new Set(["a"]), choose() {}, nameOf: ({ name }: Row) => name },
    totals: ["Total", "$1.00"],
  });
  expect(html).toContain('data-thing="b"');
  expect(html).toContain("Open Second");
  expect(html).toMatch(
    /aria-checked="true"[^>]*aria-label="Select First"|aria-label="Select First"[^>]*aria-checked="true"/,
  );
  expect(html.slice(html.indexOf("<tfoot"))).toMatch(/Total.*\$1\.00/);
});
