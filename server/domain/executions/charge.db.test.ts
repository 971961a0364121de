import { expect, test } from "vitest";
import type { HoldFacts } from "@/server/domain/budgets";
import { chargeOf } from "./charge";

const open: HoldFacts = {
  state: "open",
  amountMicros: 900,
  settledMicros: null,
  funding: "wallet",
  isTest: false,
};
const settled = { ...open, state: "settled", settledMicros: 318 } as const;
const released = { ...open, state: "released" } as const;

test.each<[string, string, HoldFacts | null, number | null]>([
  ["reserved", "managed", open, null],
  ["unsettled", "managed", { ...open, state: "ambiguous" }, null],
  ["charged", "managed", settled, 318],
  ["covered", "managed", { ...settled, funding: "allowance" }, 318],
  ["covered", "managed", { ...settled, isTest: true }, 318],
  ["not_charged", "managed", { ...settled, settledMicros: 0 }, 0],
  ["not_charged", "managed", released, 0],
  ["not_charged", "managed", { ...released, resolution: "person" }, 0],
  ["written_off", "managed", { ...released, resolution: "written_off" }, 0],
  ["not_charged", "managed", null, 0],
  ["byok", "byok", open, 0],
  ["byok", "byok", { ...open, state: "ambiguous" }, 0],
  ["byok", "byok", settled, 0],
  ["byok", "byok", null, 0],
])('the charge is "%s" in billing mode %s with the hold %j', (state, billingMode, hold, chargedMicros) => {
  expect(chargeOf({ billingMode, estimatedMicros: 300, hold })).toEqual({
    currency: "USD",
    estimatedMicros: 300,
    authorizedMicros: hold ? 900 : 0,
    chargedMicros,
    state,
  });
});
