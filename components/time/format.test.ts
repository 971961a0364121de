import { expect, test } from "vitest";
import { formatAgo, formatDuration, formatMoment, msBetween } from "./format";

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1000, "1.00 s"],
  [59_990, "59.99 s"],
  [60_000, "1 min 00 s"],
  [125_400, "2 min 05 s"],
  [3_599_999, "1 h 00 min"],
  [4_320_000, "1 h 12 min"],
  [-5, "0 ms"],
])("%d milliseconds read as %s", (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});

test.each([
  [0, "just now"],
  [-2, "just now"],
  [42, "42 s ago"],
  [60, "1 min ago"],
  [7199, "1 h ago"],
  [172_800, "2 d ago"],
  [-90, "in 1 min"],
])("%d seconds later it is %s", (seconds, words) => {
  const at = "2026-11-21T04:16:22.000Z";
  expect(formatAgo(at, Date.parse(at) + seconds * 1000)).toBe(words);
});

test("a moment in UTC shows its year only when it is not the current year", () => {
  const year = new Date().getUTCFullYear();
  expect(formatMoment(`${year}-01-02T03:04:05.678Z`, "utc")).toBe("Jan 2, 03:04:05");
  expect(formatMoment("2019-12-31T23:59:59Z", "utc")).toBe("Dec 31 2019, 23:59:59");
});

test("a time span with an unknown end is unknown", () => {
  expect(msBetween("2026-01-01T00:00:00Z", null)).toBeNull();
  expect(msBetween("2026-01-01T00:00:00Z", "2026-01-01T00:00:01.500Z")).toBe(1500);
});
