import { expect, test } from "vitest";
import { formatRemaining, nextTickMs } from "./countdown";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test.each([
  [14 * DAY, "14 days"],
  [14 * DAY - 1, "14 days"],
  [13 * DAY + 22.5 * HOUR, "13 days 23 h"],
  [2 * DAY + 1, "2 days 1 h"],
  [2 * DAY, "2 days 0 h 00 min"],
  [DAY + 5 * HOUR + 3 * 60_000, "1 day 5 h 03 min"],
  [DAY - 60_000, "23 h 59 min"],
  [HOUR + 1, "1 h 01 min"],
  [HOUR, "60 min 00 s"],
  [HOUR - 1, "60 min 00 s"],
  [HOUR - 1000, "59 min 59 s"],
  [61_000, "1 min 01 s"],
  [59_001, "1 min 00 s"],
  [59_000, "59 s"],
  [1, "1 s"],
])("%d ms before the end the text is %s", (ms, words) => {
  expect(formatRemaining(ms)).toBe(words);
});

test.each([0, -1, -DAY])("%d ms before the end no time is left, and the text never changes again", (ms) => {
  expect(formatRemaining(ms)).toBeNull();
  expect(nextTickMs(ms)).toBeNull();
});

test("the text changes every minute while more than an hour is left, and every second after that", () => {
  expect(nextTickMs(2 * HOUR + 12_345)).toBe(12_345);
  expect(nextTickMs(2 * HOUR)).toBe(60_000);
  expect(nextTickMs(HOUR + 1)).toBe(1);
  expect(nextTickMs(HOUR)).toBe(1000);
  expect(nextTickMs(90_250)).toBe(250);
  expect(nextTickMs(400)).toBe(400);
});

test("waiting for each change shows every text once, up to the last one before the end", () => {
  const seen: (string | null)[] = [];
  let left = HOUR + 90_500;
  for (let wait = nextTickMs(left); wait !== null; wait = nextTickMs(left)) {
    left -= wait;
    seen.push(formatRemaining(left));
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.slice(-3)).toEqual(["2 s", "1 s", null]);
  expect(seen.slice(0, 3)).toEqual(["1 h 01 min", "60 min 00 s", "59 min 59 s"]);
  expect(seen).toHaveLength(2 + 3600);
});
