import { expect, test } from "vitest";
import { isHeld, toMarkdown } from "./report";
import { nullTest } from "./results";

const nullAt = (median: number) => nullTest("CPU per call", { median, low: 0.9, high: 1.1 }, 0.03);

test("a null test holds up to its tolerance, whatever its quartiles", () => {
  expect([0.969, 0.97, 1, 1.03, 1.031].map((median) => nullAt(median).holds)).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(nullAt(1)).toMatchObject({ what: "CPU per call: 0.97 to 1.03", value: "1.000 (0.900 to 1.100)" });
});

test("a run whose null test does not hold is void, and says so", () => {
  const outcome = (median: number) => ({
    ...{ results: [], floors: [], growth: [], limits: [], failures: [], machine: [] },
    nulls: [nullAt(1), nullAt(median)],
  });
  expect(isHeld(outcome(1.03))).toBe(true);
  expect(isHeld(outcome(0.96))).toBe(false);
  expect(toMarkdown(outcome(1.03))).not.toContain("void");
  expect(toMarkdown(outcome(0.96))).toContain(
    "A null test does not hold: the machine was not quiet, and this run is void.",
  );
});
