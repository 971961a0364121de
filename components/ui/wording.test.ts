import { expect, test } from "vitest";
import { wordsOfCode } from "./wording";

test("a code of any form reads as words", () => {
  expect(
    ["key.rotated", "BudgetExceeded", "PROVIDER_ERROR", "job.awaiting_approval"].map(wordsOfCode),
  ).toEqual(["Key rotated", "Budget exceeded", "Provider error", "Job awaiting approval"]);
});
