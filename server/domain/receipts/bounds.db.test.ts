import fc from "fast-check";
import { expect, test } from "vitest";
import { ReceiptPricing } from "@/server/contract/pricing";
import { allCapabilities, priceOf, targetsOfPort } from "@/server/domain/catalog";
import { moneyOf } from "@/server/domain/executions";
import type { Estimate } from "@/server/domain/quotes";
import { figures, MOST_COST_MICROS, MOST_COUNT, toCostMicros } from "@/server/providers/counts";
import type { ModelFacts, Usage } from "@/server/providers/define";
import { modelsFromSetting } from "@/server/providers/openai-compatible";
import { campaign } from "@/testing/campaign";
import type { ReceiptFacts } from "./facts";
import { pricing } from "./pricing";

/*
 * Whatever usage a vendor reports, the pricing of the receipt must match its contract.
 */

const MODELS: ModelFacts[] = [
  ...new Set(allCapabilities.flatMap((capability) => targetsOfPort(capability).map(({ model }) => model))),
  ...modelsFromSetting("dearest:999999.999999:999999.999999"),
];
const count = fc.oneof(
  fc.integer({ min: 0, max: 10_000 }),
  fc.constantFrom(
    MOST_COUNT,
    MOST_COUNT + 1,
    2 ** 52,
    2 ** 53,
    1e30,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ),
  fc.double(),
);
const counts = fc.record({
  inputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  cacheWriteHourTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  images: count,
  durationMs: count,
  characters: count,
  meshes: count,
  requests: count,
});
const dollars = fc.oneof(count, fc.constantFrom(1e13, MOST_COST_MICROS / 1e6));

/** Returns the pricing of a receipt for this many calls that each had this usage, at its list price. */
function sealed(model: ModelFacts, usage: Usage, calls: number) {
  const price = priceOf(model.price, usage, { width: 1024, height: 1024 });
  const costMicros = price === null ? null : price * calls;
  const estimate = {
    billingMode: "managed",
    deferredDiscountBps: 0,
    route: { key: model.id, provider: "any", model: model.id, api: "any" },
    fx: {
      rateScaled: 1_500_000,
      scale: 1_000_000,
      baseCurrency: "USD",
      quoteCurrency: "CAD",
      source: "test",
      asOf: "2026-01-01",
    },
    pricingVersion: "v1",
    qualifier: "exact",
    bounds: {},
    serviceFeeBps: 600,
    expectedUpstreamMicros: 100,
    maximumUpstreamMicros: 100,
    expectedMicros: 106,
    maximumMicros: 106,
  } as unknown as Estimate; // only the members that the calculation of money reads
  const settlement = costMicros === null ? "hold" : "cost";
  const { chargedMicros, feeMicros } = moneyOf(estimate, [
    { provider: "any", settlement, costMicros, usage },
  ]);
  const all = Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, value * calls]));
  const facts = {
    job: { quote_id: null, capability_key: "text.generate.v1" },
    estimate,
    usage: all,
    costMicros,
    charge: { chargedMicros, state: "charged" },
    feeMicros,
    funding: "wallet",
    provider: "any",
    completedAt: new Date(),
  };
  return pricing(facts as unknown as ReceiptFacts);
}

test("the pricing of a receipt matches its contract for any usage that a port can report, at any price and over several calls", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MODELS),
      counts,
      dollars,
      fc.integer({ min: 1, max: 3 }),
      (model, given, cost, calls) => {
        const reportedCostMicros = toCostMicros(cost);
        const usage = { ...figures(given), ...(reportedCostMicros === null ? {} : { reportedCostMicros }) };
        ReceiptPricing.parse(sealed(model, usage, calls));
      },
    ),
    campaign.runs({ small: 2_000, full: 20_000 }),
  );
});

test("the pricing of a receipt matches its contract for the highest usage of every model", () => {
  const most = {
    inputTokens: MOST_COUNT,
    outputTokens: MOST_COUNT,
    images: MOST_COUNT,
    durationMs: MOST_COUNT,
  };
  const others = { characters: MOST_COUNT, meshes: MOST_COUNT, requests: MOST_COUNT };
  const usage = { ...most, ...others, reportedCostMicros: MOST_COST_MICROS };
  for (const model of MODELS) {
    const { customerCharge } = ReceiptPricing.parse(sealed(model, usage, 3));
    expect(customerCharge?.upstreamMicros, model.id).toBeGreaterThanOrEqual(0);
  }
});
