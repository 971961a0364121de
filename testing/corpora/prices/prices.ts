import { SERVICE_FEE_BPS } from "@/server/contract/pricing";
import { PRICING_VERSION } from "@/server/domain/catalog/pricing/pricing";
import type { Price } from "@/server/providers/define";
import { providers } from "@/server/providers/registry.gen";

/** Prices of rare kinds and with odd rates, so that the same table checks their arithmetic. */
const SAMPLES = {
  "sample/reasoning-apart": {
    per: "million_tokens",
    input: 550_000,
    cachedInput: 140_000,
    output: 2_190_000,
    reasoning: 3_000_001,
    flexDiscountBps: 5_000,
  },
  "sample/odd-rates": {
    per: "million_tokens",
    input: 3,
    cachedInput: 1,
    output: 7,
    flexDiscountBps: 5_000,
  },
  "sample/video": { per: "second", micros: 400_000 },
  "sample/music": { per: "second", micros: 1_667 },
  "sample/voice": { per: "million_characters", micros: 15_000_000 },
  "sample/voice-odd": { per: "million_characters", micros: 119_999_999 },
  "sample/mesh": { per: "mesh", micros: 400_000 },
  "sample/mesh-textured": { per: "mesh", micros: 333_333, texturedMicros: 500_001 },
  "sample/request": { per: "request", micros: 1_500 },
} satisfies Record<string, Price>;

/** Returns every price as plain data, by `provider/model/port`. The script of the price cases reads nothing else. */
export function priceList() {
  const listed = providers
    .filter(({ name }) => name !== "openai-compatible") // these are the operator's own prices, from the environment
    .flatMap(({ name, models }) =>
      models.map(({ id, port, price }) => [`${name}/${id}/${port}`, price] as const),
    );
  const prices: Record<string, Price> = { ...Object.fromEntries(listed), ...SAMPLES };
  return { pricingVersion: PRICING_VERSION, serviceFeeBps: SERVICE_FEE_BPS, prices };
}
