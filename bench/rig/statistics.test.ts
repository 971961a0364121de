import { expect, test } from "vitest";
import { percentile, spreadOf } from "./statistics";

test("median and quartiles lie between the nearest ranks", () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, low: 1.75, high: 3.25 });
  expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
});

test("a percentile is interpolated, and its argument stays as it was", () => {
  const values = [3, 1, 2];
  expect(percentile(values, 0.99)).toBeCloseTo(2.98);
  expect(values).toEqual([3, 1, 2]);
});

test("the spread of an empty list is an error", () => {
  expect(() => spreadOf([])).toThrow("nothing was measured");
});
