import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { BudgetBar } from "./budget-bar";

const spend = (settledMicros: number, heldMicros: number, availableMicros: number) => ({
  settledMicros,
  heldMicros,
  availableMicros,
});
const drawn = (props: Pick<Parameters<typeof BudgetBar>[0], "spend" | "estimateMicros">) =>
  renderToStaticMarkup(<BudgetBar name="Daily" ceilingMicros={1_000_000} {...props} />);
const widths = (html: string) => [...html.matchAll(/width:([\d.]+)%/g)].map(([, width]) => Number(width));

test("the parts of a bar are shares of the limit, and its name has every amount", () => {
  const html = drawn({ spend: spend(250_000, 100_000, 650_000), estimateMicros: 50_000 });
  expect(widths(html)).toEqual([25, 10, 5]);
  expect(html).toContain(
    'aria-label="Daily: $0.25 spent and $0.10 reserved of $1.00; this run takes up to $0.05"',
  );
  expect(html).toContain("$0.65 left");
});

test("a run that passes the limit extends the bar beyond the limit's mark and shows by how much", () => {
  const html = drawn({ spend: spend(1_200_000, 0, 0), estimateMicros: 800_000 });
  expect(widths(html)).toEqual([60, 0, 40]);
  expect(html).toContain("left:calc(50% - 3px)");
  expect(html).toContain("$1.00 above the limit");
});

test("a budget that is spent over its limit shows by how much", () => {
  const html = drawn({ spend: spend(1_200_000, 0, 0) });
  expect(html).toContain("$0.20 above the limit");
  expect(html).not.toContain("left</li>");
});
