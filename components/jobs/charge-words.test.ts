import { expect, test } from "vitest";
import type { Charge } from "@/server/contract/charge";
import { chargeWords } from "./charge-words";

const charge = (state: Charge["state"], chargedMicros: number | null): Charge => ({
  currency: "USD",
  state,
  chargedMicros,
  estimatedMicros: 20_000,
  authorizedMicros: 50_000,
});

test.each<[string, Charge, string]>([
  ["what is reserved shows the most it may cost", charge("reserved", null), "$0.05, at most"],
  ["a charge that is not settled is unknown, not 0", charge("unsettled", null), "Not known yet"],
  ["a charge shows what was charged", charge("charged", 30_000), "$0.03"],
  ["the allowance shows what it covered", charge("covered", 30_000), "$0.03, covered"],
  ["an own account shows who bills it", charge("byok", 0), "$0.00, the provider bills you"],
  ["what is free shows 0", charge("not_charged", 0), "$0.00"],
  ["a write-off shows 0 and why", charge("written_off", 0), "$0.00, written off"],
])("%s", (_promise, given, words) => {
  expect(chargeWords(given)).toBe(words);
});
