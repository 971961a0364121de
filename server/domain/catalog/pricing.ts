import type { Capability } from "@/server/capabilities/define";
import type { PricingContract } from "@/server/contract/pricing";
import { type Micros, toMoney } from "@/server/money";
import type { Price } from "@/server/providers/define";
import { targetsOf } from "./routes";

export const PRICING_VERSION = "price_2026_08_1";
export { SERVICE_FEE_BPS } from "@/server/domain/billing";

const usd = (micros: Micros) => `$${(micros / 1_000_000).toFixed(micros % 10_000 === 0 ? 2 : 4)}`;

/** The lowest listed price of one unit; null where a price has several parts. */
function lowestUnit(price: Price): Micros | null {
  if (price.per === "million_tokens") return null;
  if (price.per !== "image") return price.micros;
  return Math.min(...price.sizes.flatMap(({ micros }) => Object.values(micros)));
}

function displayOf(price: Price): string {
  if (price.per === "million_tokens")
    return `${usd(price.input)} in, ${usd(price.output)} out per million tokens`;
  const unit = price.per === "million_characters" ? "million characters" : price.per;
  const lowest = usd(lowestUnit(price) ?? 0);
  return price.per === "image" ? `from ${lowest} per ${unit}` : `${lowest} per ${unit}`;
}

/** The published price of a capability; anonymous and not authoritative: a quote is. */
export function pricingContract(
  capability: Capability,
  pricingContext: "catalog_default" | "account",
): PricingContract {
  const endpoint = `/v1/capabilities/${capability.key}/quote`;
  const base = { billingCurrency: "USD", pricingVersion: PRICING_VERSION, pricingContext, examples: [] };
  const execution = capability.execute;
  if ("local" in execution) {
    return {
      ...base,
      mode: "free",
      display: "Free",
      estimateRequired: false,
      quoteEndpoint: null,
      estimateEndpoint: null,
      pricingFactors: [],
      authoritativeForExecution: true,
      billable: false,
      quote: { supported: false, requirements: [] },
    };
  }
  const prices = targetsOf(capability)
    .filter(({ model }) => !model.onlyByName)
    .map(({ model }) => model.price);
  const perImage = execution.port === "image";
  const cheapest = prices[0];
  const lowest = cheapest ? lowestUnit(cheapest) : null;
  return {
    ...base,
    mode: perImage ? "fixed" : "metered",
    display: cheapest ? displayOf(cheapest) : "Priced by quote",
    estimateRequired: false,
    quoteEndpoint: endpoint,
    estimateEndpoint: endpoint.replace(/quote$/, "estimate"),
    pricingFactors: perImage
      ? [
          { key: "model", display: "Model", kind: "selection", requiredForEstimate: false },
          { key: "quality", display: "Quality", kind: "selection", requiredForEstimate: false },
          { key: "size", display: "Size in pixels", kind: "selection", requiredForEstimate: false },
          { key: "variantCount", display: "Number of images", kind: "selection", requiredForEstimate: false },
        ]
      : [
          {
            key: "inputTokens",
            display: "Tokens in the request",
            kind: "measured-usage",
            requiredForEstimate: false,
          },
          {
            key: "maxOutputTokens",
            display: "Cap on tokens in the answer",
            kind: "usage-ceiling",
            requiredForEstimate: false,
          },
        ],
    startingAt: lowest === null ? null : toMoney(lowest),
    authoritativeForExecution: false,
    billable: true,
    quote: { supported: true, requirements: perImage ? ["/input/prompt"] : ["/input/messages"] },
  };
}
