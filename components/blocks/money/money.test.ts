import { expect, test } from "vitest";
import { dollars, formatMoney, wholeDollars } from "./money";

test.each([
  [0, "$0.00"],
  [1, "$0.000001"],
  [1_500, "$0.0015"],
  [10_000, "$0.01"],
  [1_234_500_000, "$1,234.50"],
  [999_999_999_999_999, "$999,999,999.999999"],
  [-2_500_000, "−$2.50"],
])("%i micros read %s", (micros, text) => expect(dollars(micros)).toBe(text));

test("an amount in another currency names it, and an amount in dollars from the API is shown like one in micros", () => {
  expect(formatMoney({ amountMicros: 12_340_000, currency: "CAD" })).toBe("CAD 12.34");
  expect(wholeDollars(0.1 + 0.2)).toBe("$0.30");
});
