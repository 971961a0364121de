import { expect, test } from "vitest";
import { percentile, spreadOf } from "./statistics";

test("median and quartiles lie between the nearest ranks", () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, low: 1.75, high: 3.25 });
  expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
});

test("a percentile leaves its argument as it was", () => {
  const values = [3, 1, 2];
  expect(percentile(values, 0.99)).toBeCloseTo(2.98);
  expect(values).toEqual([3, 1, 2]);
});

test("an empty list is an error, never a zero", () => {
  expect(() => spreadOf([])).toThrow("nothing was measured");
});
