import { expect, test } from "vitest";
import { warningWords } from "./warning-words";

test("a budget that only warns says in a sentence which limit a job passes", () => {
  const warning = {
    code: "BudgetExceeded",
    scope: "project:cpr_1",
    period: "month",
    ceiling: 34.7,
    remaining: 0,
    enforcement: "warn",
    estimatedCost: 0.005227,
  };
  expect(warningWords(warning)).toBe(
    "This job passes the monthly limit of $34.70 of this project. That budget warns and does not stop jobs.",
  );
  expect(warningWords({ ...warning, scope: "principal:sp_1", period: "total" })).toContain(
    "limit of $34.70 of its caller",
  );
});

test("another warning is its own sentence, or its code in words", () => {
  expect(warningWords({ code: "Slow", message: "The provider is slow." })).toBe("The provider is slow.");
  expect(warningWords({ code: "ProviderSlow" })).toBe("Provider slow");
});
