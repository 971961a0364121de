import { expect, test } from "vitest";
import { usdText, usdToMicros } from "./money";

test("a bound in dollars lets nothing more expensive through, and is exact for whole micros", () => {
  expect(usdToMicros(0.0013085)).toBe(1308);
  expect(usdToMicros(1e-7)).toBe(0);
  // 0.29 and 1.1 are not binary fractions: times a million they lie just beside the whole number.
  for (const micros of [1, 290_000, 1_100_000, 4_350_000, 999_999_999_999_999])
    expect(usdToMicros(micros / 1_000_000)).toBe(micros);
});

test("dollars in a sentence keep their last digit", () => {
  expect([0.000_001, 1e-7, 0.25, 0, 1_234.5].map(usdText)).toEqual([
    ...["0.000001", "0.0000001", "0.25", "0", "1234.5"],
  ]);
});
