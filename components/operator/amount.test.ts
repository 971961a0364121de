import fc from "fast-check";
import { expect, test } from "vitest";
import { IssueCommissionQuote } from "@/server/contract/requests";
import { campaign } from "@/testing/campaign";
import { readPrice, readStartingPrice } from "./amount";

test.each([
  ["1250", 1_250_000_000],
  ["1,250.00", 1_250_000_000],
  ["1250.5", 1_250_500_000],
  [" $1,250.50 ", 1_250_500_000],
  ["1", 1_000_000],
  ["0001.10", 1_100_000],
  ["5.", 5_000_000],
  ["1,000,000.00", 1_000_000_000_000],
  ["4503599.37", null],
])("%s is %s micros", (text, micros) => {
  expect(readPrice(text).micros).toBe(micros);
});

test.each([
  ["", "Enter an amount."],
  ["   ", "Enter an amount."],
  ["abc", "Write the amount in digits, like 1,250.00."],
  ["1e3", "Write the amount in digits, like 1,250.00."],
  ["-5", "Write the amount in digits, like 1,250.00."],
  ["1.250,00", "Write the amount in digits, like 1,250.00."],
  ["12,50", "Write the amount in digits, like 1,250.00."],
  [".50", "Write the amount in digits, like 1,250.00."],
  ["1,25,000", "Write the amount in digits, like 1,250.00."],
  ["12.345", "Whole cents only, like 1,250.00."],
  ["0.99", "At least 1.00."],
  ["1,000,000.01", "At most 1,000,000.00."],
  ["9".repeat(400), "At most 1,000,000.00."],
])("%j is refused in words: %s", (text, problem) => {
  expect(readPrice(text)).toEqual({ micros: null, problem });
});

test("every whole number of cents in bounds is read exactly, and issued as it is", () => {
  const price = IssueCommissionQuote.shape.priceMicros;
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 100_000_000 }), (cents) => {
      const text = `${Math.floor(cents / 100).toLocaleString("en-US")}.${String(cents % 100).padStart(2, "0")}`;
      const { micros } = readPrice(text);
      return micros === cents * 10_000 && price.safeParse(micros).success;
    }),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});

test("what a run starts at may be less than a cent, or nothing", () => {
  expect(readStartingPrice("0.000125").micros).toBe(125);
  expect(readStartingPrice("0").micros).toBe(0);
  expect(readStartingPrice("0.0000001").problem).toBe("At most 6 decimals.");
  expect(readStartingPrice("1000.01").problem).toBe("At most 1,000.00.");
});
