import { expect, test } from "vitest";
import { etaMs, formatRate, rateOf, type Sample, withSample } from "./rate";

const readings = (...pairs: [seconds: number, ended: number][]) =>
  pairs.reduce<readonly Sample[]>(
    (samples, [seconds, ended]) => withSample(samples, { atMs: seconds * 1000, ended }),
    [],
  );

test("there is no rate and no time left before the second reading", () => {
  expect(rateOf(readings())).toBeNull();
  expect(rateOf(readings([0, 40]))).toBeNull();
  expect(etaMs(100, null)).toBeNull();
});

test("the rate covers the last half minute, not the whole run", () => {
  expect(rateOf(readings([0, 0], [4, 40]))).toBe(10);
  const samples = readings([0, 0], [10, 1000], [20, 1010], [30, 1020], [40, 1030], [50, 1040]);
  expect(rateOf(samples)).toBeCloseTo(1);
  expect(samples.length).toBeLessThanOrEqual(5);
});

test("after a suspended page resumes, the rate is averaged over the suspension", () => {
  expect(rateOf(readings([0, 0], [4, 8], [304, 608]))).toBe(2);
});

test("a repeated reading changes nothing", () => {
  const samples = readings([0, 0], [4, 40]);
  expect(withSample(samples, { atMs: 4000, ended: 40 })).toBe(samples);
});

test("the time left follows the rate; it is unknown while nothing moves and zero at the end", () => {
  expect(etaMs(100, 10)).toBe(10_000);
  expect(etaMs(100, 0)).toBeNull();
  expect(etaMs(0, null)).toBe(0);
});

test("a slow rate is shown as the time of one item", () => {
  expect([0, 0.25, 1.25, 240.4].map(formatRate)).toEqual([
    "0 per second",
    "1 per 4.0 s",
    "1.3 per second",
    "240 per second",
  ]);
});
