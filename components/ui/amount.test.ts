import fc from "fast-check";
import { expect, test } from "vitest";
import { type AmountBounds, ANY_AMOUNT, amountText, readAmount, requiredAmount, sentAmount } from "./amount";

const CENTS: AmountBounds = { leastMicros: 1_000_000, mostMicros: 1_000_000_000_000, decimals: 2 };

test.each([
  ["1250", 1_250_000_000],
  ["1250.5", 1_250_500_000],
  [" 1250.50 ", 1_250_500_000],
  ["1", 1_000_000],
  ["0001.10", 1_100_000],
  ["5.", 5_000_000],
  ["1000000.00", 1_000_000_000_000],
])("%s is %s micros", (text, micros) => {
  expect(readAmount(text, CENTS)).toEqual({ micros, problem: null });
});

const EXAMPLE = "Use digits and one point, like 1250.50.";
test.each([
  ["", "Enter an amount."],
  ["   ", "Enter an amount."],
  ["abc", EXAMPLE],
  ["1e3", EXAMPLE],
  ["-5", EXAMPLE],
  ["$5", EXAMPLE],
  [".", EXAMPLE],
  ["1.234,50", EXAMPLE],
  ["1,234.50", EXAMPLE],
  ["1.234.50", EXAMPLE],
  ["12,50", EXAMPLE],
  ["1,250", EXAMPLE],
  ["1 250", EXAMPLE],
  ["12.345", "Whole cents only, like 1250.50."],
  ["0.99", "At least 1."],
  ["1000000.01", "At most 1000000."],
  ["9".repeat(400), "At most 1000000."],
])("%j is refused: %s", (text, problem) => {
  expect(readAmount(text, CENTS)).toEqual({ micros: null, problem });
});

test("amounts below a cent are accepted where the bounds allow, down to a micro", () => {
  expect(readAmount("0.000125", ANY_AMOUNT).micros).toBe(125);
  expect(readAmount(".5", ANY_AMOUNT).micros).toBe(500_000);
  expect(readAmount("0", ANY_AMOUNT).micros).toBe(0);
  expect(readAmount("0.0000001", ANY_AMOUNT).problem).toBe("At most 6 decimals.");
});

test("an amount as a field shows it parses back to the same amount", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: ANY_AMOUNT.mostMicros }),
      (micros) => readAmount(amountText(micros), ANY_AMOUNT).micros === micros,
    ),
  );
});

test("an empty amount is null, and a required one throws", () => {
  const fields = new FormData();
  fields.set("limit", "");
  expect(sentAmount(fields, "limit")).toBeNull();
  expect(() => requiredAmount(fields, "limit")).toThrow('without an amount in "limit"');
  fields.set("limit", "2,50");
  expect(() => sentAmount(fields, "limit")).toThrow(EXAMPLE);
  fields.set("limit", "2.50");
  expect(requiredAmount(fields, "limit")).toBe(2_500_000);
});
