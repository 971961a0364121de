import { expect, test } from "vitest";
import type { JobStatus } from "@/server/contract/jobs";
import { judgementText, letterOf, mayBeJudged, NOTHING_CHOSEN, toJudgement } from "./judgement";

const entries = (...statuses: JobStatus[]) =>
  statuses.map((status, place) => ({ entryId: `cent_${letterOf(place)}`, status }));

test("a comparison cannot be judged while an entry runs", () => {
  const running = entries("succeeded", "running");
  expect(mayBeJudged(running)).toBe(false);
  expect(toJudgement({ overall: "none", value: null }, running)).toBeNull();
  expect(toJudgement({ overall: { winner: "cent_A" }, value: null }, running)).toBeNull();
  expect(mayBeJudged(entries("failed", "canceled"))).toBe(true);
});

test("the winner is also the best value unless another entry is named", () => {
  const ended = entries("succeeded", "succeeded", "failed");
  expect(toJudgement(NOTHING_CHOSEN, ended)).toBeNull();
  expect(toJudgement({ overall: { winner: "cent_B" }, value: null }, ended)).toEqual({
    decision: "winner",
    overallWinnerEntryId: "cent_B",
    valueWinnerEntryId: "cent_B",
  });
  expect(toJudgement({ overall: { winner: "cent_B" }, value: "cent_A" }, ended)).toMatchObject({
    valueWinnerEntryId: "cent_A",
  });
});

test("a failed entry cannot win, and a single entry cannot tie", () => {
  const ended = entries("succeeded", "failed");
  expect(toJudgement({ overall: { winner: "cent_B" }, value: null }, ended)).toBeNull();
  expect(toJudgement({ overall: { winner: "cent_A" }, value: "cent_B" }, ended)).toMatchObject({
    valueWinnerEntryId: "cent_A",
  });
  expect(toJudgement({ overall: "tie", value: null }, ended)).toBeNull();
  expect(toJudgement({ overall: "none", value: "cent_A" }, ended)).toEqual({ decision: "none" });
});

test("a judgement is summarized before it is submitted", () => {
  const ended = entries("succeeded", "succeeded");
  const words = (value: string | null) => {
    const judgement = toJudgement({ overall: { winner: "cent_A" }, value }, ended);
    return judgement && judgementText(judgement, ended);
  };
  expect(words(null)).toBe("Entry A is the best and the best value.");
  expect(words("cent_B")).toBe("Entry A is the best, Entry B is the best value.");
});
