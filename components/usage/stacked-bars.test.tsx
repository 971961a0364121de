import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { niceTop, StackedBars } from "./stacked-bars";
import { formatMeasure } from "./usage-room";

function axisOf(value: number, measure: "charged" | "executions"): string[] {
  const html = renderToStaticMarkup(
    <StackedBars
      days={["2026-05-01"]}
      series={[{ key: "a", name: "A", values: [value] }]}
      label="Usage"
      format={(each) => formatMeasure(each, measure)}
    />,
  );
  const [axis = ""] = /<div aria-hidden.*?<\/div>/.exec(html) ?? [];
  return [...axis.matchAll(/<span[^>]*>([^<]*)/g)].map(([, text = ""]) => text);
}

test("the axis of small amounts shows three different amounts", () => {
  expect(axisOf(1, "charged")).toEqual(["$0.000002", "$0.000001", "$0.00"]);
  for (const micros of [1, 2, 3, 5, 9, 12, 49, 50, 101, 999, 5_000, 12_345, 5_000_000])
    expect(new Set(axisOf(micros, "charged")).size).toBe(3);
});

test("without any amount the axis has zero only", () => {
  expect(axisOf(0, "charged").filter(Boolean)).toEqual(["$0.00"]);
});

test("the axis of counts shows whole numbers", () => {
  expect(axisOf(1, "executions")).toEqual(["2", "1", "0"]);
  expect(axisOf(5, "executions")).toEqual(["10", "5", "0"]);
  for (let value = 0; value < 2_000; value++) {
    expect(niceTop(value)).toBeGreaterThanOrEqual(value);
    expect(Number.isInteger(niceTop(value) / 2)).toBe(true);
  }
});
