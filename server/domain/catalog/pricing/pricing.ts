import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import { type PricingContract, SERVICE_FEE_BPS } from "@/server/contract/pricing";
import type { Json } from "@/server/platform/durable/step";
import { type Micros, toMoney } from "@/server/platform/money";
import type { ModelFacts, Price, Usage } from "@/server/providers/define";
import { requiredInputs } from "../schema";
import { availabilityOf, SANDBOX, type Target, targetsOfPort } from "../targets";
import { type PriceTerms, priceOf, serviceFee } from "./price";

export const PRICING_VERSION = "price_2026_08_1";

/** Returns the fee of a billing mode, in basis points. Only work on our own accounts has one. */
export const feeBpsOf = (billingMode: BillingMode) => (billingMode === "managed" ? SERVICE_FEE_BPS : 0);

const usd = (micros: Micros) => {
  const cents = (micros / 1_000_000).toFixed(2);
  const exact = String(micros / 1_000_000);
  return `$${exact.length > cents.length ? exact : cents}`;
};

type Factor = PricingContract["pricingFactors"][number];
const factor = (key: string, display: string, kind: Factor["kind"], requiredForEstimate = false): Factor => ({
  key,
  display,
  kind,
  requiredForEstimate,
});

/** An estimate always concerns one model: the one that was named, or the one that would be chosen. */
const MODEL = factor("model", "Model", "selection", true);

/** Applies to a capability with calls before the main one. A quote includes all of them. */
const STAGES = factor("stages", "Earlier calls, such as views drawn first", "selection");

/** The factors that each kind of price depends on. */
const FACTORS: Record<Price["per"], Factor[]> = {
  million_tokens: [
    MODEL,
    factor("inputTokens", "Tokens in the request", "measured-usage"),
    factor("maxOutputTokens", "Maximum tokens in the answer", "usage-ceiling"),
  ],
  image: [
    MODEL,
    factor("quality", "Quality", "selection"),
    factor("size", "Size in pixels", "selection"),
    factor("variantCount", "Number of images", "selection"),
  ],
  second: [MODEL, factor("durationMs", "Length in milliseconds", "usage-ceiling")],
  million_characters: [MODEL, factor("characters", "Characters to read aloud", "measured-usage")],
  mesh: [
    MODEL,
    factor("meshes", "Number of meshes", "selection"),
    factor("textured", "With a texture", "selection"),
  ],
  request: [MODEL],
};

/** The usage that the examples of each kind of price show. Images are shown in their first listed size. */
const SHOWN: Record<Price["per"], { title: string; usage: Usage }> = {
  million_tokens: {
    title: "1,000 tokens in, 500 tokens out",
    usage: { inputTokens: 1_000, outputTokens: 500 },
  },
  image: { title: "One image", usage: { images: 1 } },
  second: { title: "Ten seconds", usage: { durationMs: 10_000 } },
  million_characters: { title: "1,000 characters", usage: { characters: 1_000 } },
  mesh: { title: "One mesh", usage: { meshes: 1 } },
  request: { title: "One request", usage: { requests: 1 } },
};

/** Embedding models output vectors instead of tokens, so only the input has a price. */
const makesVectors = (model: ModelFacts | undefined) => model?.port === "embedding";

/** Returns the factors that a model's price depends on. */
const factorsOf = (model: ModelFacts) =>
  FACTORS[model.price.per].filter(({ key }) => !(makesVectors(model) && key === "maxOutputTokens"));

/** Returns the usage that a model's price example shows. */
const shownOf = (model: ModelFacts) =>
  makesVectors(model)
    ? { title: "1,000 tokens in", usage: { inputTokens: 1_000, outputTokens: 0 } }
    : SHOWN[model.price.per];

/**
 * Returns the models that a request may get without naming one, as far as they are reachable here. Real models go
 * before the sandbox.
 */
function offered(capability: Capability): Target[] {
  const targets = targetsOfPort(capability).filter(({ model }) => !model.onlyByName);
  const real = targets.filter(({ provider }) => provider.name !== SANDBOX);
  const reachable = (each: Target) => availabilityOf(each).account !== null;
  return [real.filter(reachable), targets.filter(reachable), real].find((some) => some.length > 0) ?? targets;
}

/**
 * Returns the cost of an execution on one target, with the fee of this billing mode. Returns null if the price is
 * unknown.
 */
function costOf({ model }: Target, usage: Usage, terms: PriceTerms, billingMode: BillingMode) {
  const upstream = priceOf(model.price, usage, terms);
  if (upstream === null) return null;
  const fee = serviceFee(upstream, feeBpsOf(billingMode));
  return { upstream, fee, total: upstream + fee };
}

/**
 * Returns the terms of every price that a model lists: each size and quality of images, meshes with and without
 * texture, or a single one.
 */
function listedTerms(price: Price): PriceTerms[] {
  if (price.per === "mesh" && price.texturedMicros !== undefined)
    return [{ textured: false }, { textured: true }];
  if (price.per !== "image") return [{}];
  return price.sizes.flatMap(({ width, height, micros }) =>
    Object.keys(micros).map((quality) => ({ quality, width, height })),
  );
}

function examplesOf(target: Target, billingMode: BillingMode): Record<string, Json>[] {
  const { provider, model } = target;
  const { title, usage } = shownOf(model);
  const listed = listedTerms(model.price);
  const isOfFirstSize = ({ width, height }: PriceTerms) =>
    width === listed[0]?.width && height === listed[0]?.height;
  return listed.filter(isOfFirstSize).flatMap((terms) => {
    const cost = costOf(target, usage, terms, billingMode);
    if (!cost) return [];
    const basis: Record<string, Json> = { ...usage, ...terms };
    return [
      {
        title,
        provider: provider.name,
        model: model.id,
        billingMode,
        basis,
        chargeBasis: toMoney(cost.upstream),
        serviceFee: toMoney(cost.fee),
        customerTotal: toMoney(cost.total),
      },
    ];
  });
}

/**
 * Returns the lowest price of one unit on any of these targets, in micros. Returns null if none has a price of
 * one unit; prices by token have several parts.
 */
function startingAt(targets: Target[], billingMode: BillingMode): Micros | null {
  const totals = targets.flatMap((target) => {
    const { price } = target.model;
    if (price.per === "million_tokens") return [];
    const unit: Usage = { images: 1, durationMs: 1_000, characters: 1_000_000, meshes: 1 };
    return listedTerms(price).flatMap((each) => costOf(target, unit, each, billingMode)?.total ?? []);
  });
  return totals.length > 0 ? Math.min(...totals) : null;
}

const UNITS: Record<Exclude<Price["per"], "million_tokens">, string> = {
  image: "image",
  second: "second",
  million_characters: "million characters",
  mesh: "mesh",
  request: "request",
};

function displayOf(targets: Target[], billingMode: BillingMode): string {
  const per = targets[0]?.model.price.per;
  const paid = billingMode === "byok" ? ", paid to the provider" : "";
  if (!per) return "Priced by quote";
  if (per !== "million_tokens") {
    const least = startingAt(targets, billingMode);
    return least === null ? "Priced by quote" : `from ${usd(least)} per ${UNITS[per]}${paid}`;
  }
  const fee = feeBpsOf(billingMode);
  const rates = targets.flatMap(({ model }) => (model.price.per === "million_tokens" ? [model.price] : []));
  const cheapest = rates.reduce((a, b) => (b.input + b.output < a.input + a.output ? b : a));
  const plus = fee > 0 ? `, plus ${fee / 100}%` : paid;
  const out = makesVectors(targets[0]?.model) ? "" : `, ${usd(cheapest.output)} out`;
  return `from ${usd(cheapest.input)} in${out} per million tokens${plus}`;
}

/** True if the capability is free: it runs locally, or it only looks things up that cost nothing anywhere. */
const isFree = (capability: Capability) =>
  targetsOfPort(capability).every(({ model: { price } }) => price.per === "request" && price.micros === 0);

/** Returns the price of usual requests on each offered model. The list is empty for a free capability. */
export const priceExamples = (capability: Capability, billingMode: BillingMode = "managed") =>
  isFree(capability) ? [] : offered(capability).flatMap((target) => examplesOf(target, billingMode));

/**
 * Returns the published price of a capability in a billing mode, without its examples (`priceExamples`),
 * computed from the prices beside its models. The price is the same for every caller and, unless it is free,
 * not binding; a quote is.
 */
export function pricingContract(
  capability: Capability,
  pricingContext: "catalog_default" | "account",
  billingMode: BillingMode = "managed",
): PricingContract {
  const base = { billingCurrency: "USD", pricingVersion: PRICING_VERSION, pricingContext };
  if (isFree(capability)) {
    return {
      ...base,
      mode: "free",
      display: "Free",
      estimateRequired: false,
      quoteEndpoint: null,
      estimateEndpoint: null,
      pricingFactors: [],
      authoritativeForExecution: true,
      examples: [],
      billable: false,
      quote: { supported: false, requirements: [] },
      requiresInput: false,
      estimateAvailable: false,
    };
  }
  const targets = offered(capability);
  const per = targets[0]?.model.price.per;
  const least = startingAt(targets, billingMode);
  const hasStages = "stages" in capability.execute && capability.execute.stages !== undefined;
  const path = `/v1/capabilities/${capability.key}`;
  return {
    ...base,
    mode: per === "million_tokens" ? "metered" : "fixed",
    display: `${displayOf(targets, billingMode)}${hasStages ? ", plus earlier calls" : ""}`,
    estimateRequired: false,
    quoteEndpoint: `${path}/quote`,
    estimateEndpoint: `${path}/estimate`,
    pricingFactors: [...(targets[0] ? factorsOf(targets[0].model) : []), ...(hasStages ? [STAGES] : [])],
    startingAt: least === null ? null : toMoney(least),
    authoritativeForExecution: false,
    examples: [],
    billable: true,
    quote: { supported: true, requirements: requiredInputs(capability) },
    requiresInput: true,
    estimateAvailable: true,
  };
}
