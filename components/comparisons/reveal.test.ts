import { expect, test } from "vitest";
import { revealOf } from "./reveal";

const entry = (model: string, costMicros: number | null, seconds: number, status = "succeeded") => ({
  entryId: model,
  status: status as "succeeded",
  provider: "acme",
  model,
  costMicros,
  startedAt: "2026-01-01T00:00:00.000Z",
  completedAt: new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString(),
});
const judged = (winner: string | null, ...entries: ReturnType<typeof entry>[]) =>
  revealOf({ entries, judgement: { overallWinnerEntryId: winner } as never });

test("the winner is named, and compared with the cheapest of the others", () => {
  expect(judged("a", entry("a", 200, 2), entry("b", 90, 2.9), entry("c", 150, 9))).toBe(
    "The winner is a. Compared with b, it cost 2.2× as much and was 900 ms faster.",
  );
  expect(judged("b", entry("a", 200, 2), entry("b", 150, 3))).toBe(
    "The winner is b. Compared with a, it cost 25% less and was 1.00 s slower.",
  );
});

test("nearly equal costs count as equal, and unknown ones are not compared", () => {
  expect(judged("a", entry("a", 101, 2.05), entry("b", 100, 2))).toBe(
    "The winner is a. Compared with b, it cost about the same and took about as long.",
  );
  expect(judged("a", entry("a", null, 2), entry("b", 100, 4))).toBe(
    "The winner is a. Compared with b, it was 2.00 s faster.",
  );
  expect(judged("a", entry("a", 1, 2), entry("b", 1, 2, "failed"))).toBe("The winner is a.");
});

test("without a winner there is no sentence", () => {
  expect(judged(null, entry("a", 1, 1), entry("b", 1, 1))).toBeNull();
});
