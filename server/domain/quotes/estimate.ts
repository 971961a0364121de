import type { Capability } from "@/server/capabilities/define";
import type { ScaledFxRate } from "@/server/contract/billing";
import type { BillingMode } from "@/server/contract/common";
import type { ResolvedAdapter } from "@/server/domain/adapters";
import {
  feeBpsOf,
  hasListedPrice,
  PRICING_VERSION,
  priceAtMost,
  type Route,
  routeBundle,
  routeKey,
  serviceFee,
} from "@/server/domain/catalog";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";
import { writesCache } from "@/server/providers/cache-marks";
import type {
  AnyCall,
  EmbeddingCall,
  ImageCall,
  MeshCall,
  ModelFacts,
  TextCall,
  Usage,
} from "@/server/providers/define";
import { embeddedTokensAtMost, inputTokensAtMost, repairTokensAtMost } from "./tokens";

/**
 * `deferred` lets the provider run the work when it has capacity, at its flex rates; if needed it falls
 * back once to the standard rates.
 */
export type ProcessingMode = "standard" | "deferred";

/** Price of an execution, fixed before it starts; stored with the job and shown on its receipt. */
export type Estimate = {
  pricingVersion: string;
  billingMode: BillingMode;
  /** Null for work that runs here, which is free. */
  route: { key: string; provider: string; model: string; api: string } | null;
  /**
   * The project's own account for the call. Absent for the operator's account, for the sandbox and for work
   * that runs here.
   */
  account?: {
    credentialId: string;
    /** A model that the owner of the account lists, with its price at the time of the estimate. */
    model?: ModelFacts;
  };
  /** Reason for this route. Null for work that runs here. */
  choice: Route["choice"] | null;
  /** Hash of the routes and prices that the plan used. */
  bundleHash: string | null;
  /**
   * Seal of the estimate: from the quote it was submitted with, or from admission, which sets no expiry.
   * Absent for free work.
   */
  sealed?: { hash: string; expiresAt: string | null };
  /**
   * Exchange rate at the time of the estimate, for showing amounts to an organization that is billed in
   * another currency.
   */
  fx?: ScaledFxRate;
  /** Model that the caller named: `provider/model` or a model id. Null if the caller named none. */
  requestedTarget: string | null;
  /**
   * LoRA adapters as resolved at admission; a later promotion or deletion has no effect. Absent if there
   * are none.
   */
  adapters?: { used: ResolvedAdapter[]; isDefault: boolean };
  /** Input fields that were sent with another value; `from` is null if the caller left the field out. */
  rewrites: { field: string; from: Json; to: string | number }[];
  /**
   * `exact`: the price is listed for this output, or the input tokens are counted. `upper_bound`: derived
   * from bytes or area, or including a possible second call.
   */
  qualifier: "exact" | "upper_bound";
  processing: ProcessingMode;
  /** Discount on the provider's token rates, in basis points; 0 unless deferred. */
  deferredDiscountBps: number;
  /** The provider's price, at list price. */
  expectedUpstreamMicros: Micros;
  maximumUpstreamMicros: Micros;
  serviceFeeBps: number;
  /** The caller's price including the fee. */
  expectedMicros: Micros;
  maximumMicros: Micros;
  /** Calls before the main one, in order; the totals above include their cost. Absent if there are none. */
  stages?: StageEstimate[];
  bounds: Pick<
    Usage,
    | "inputTokens"
    | "cacheWriteTokens"
    | "outputTokens"
    | "images"
    | "durationMs"
    | "characters"
    | "meshes"
    | "requests"
  > & {
    /** Maximum number of calls; a second one sends an unfit answer back to the model. Absent for one call. */
    submissions?: number;
    quality?: string;
    width?: number;
    height?: number;
    textured?: boolean;
  };
};

/** Fixed facts of one call before the main one. */
export type StageEstimate = Pick<
  Estimate,
  "account" | "choice" | "requestedTarget" | "expectedUpstreamMicros" | "maximumUpstreamMicros" | "bounds"
> & { name: string; isOptional: boolean; route: NonNullable<Estimate["route"]> };

/** Returns the organization's own accounts that the execution may use, without duplicates. */
export const credentialIdsOf = ({ account, stages = [] }: Pick<Estimate, "account" | "stages">): string[] => [
  ...new Set([account, ...stages.map((stage) => stage.account)].flatMap((each) => each?.credentialId ?? [])),
];

export const FREE: Estimate = {
  pricingVersion: PRICING_VERSION,
  billingMode: "managed",
  route: null,
  choice: null,
  bundleHash: null,
  requestedTarget: null,
  rewrites: [],
  qualifier: "exact",
  processing: "standard",
  deferredDiscountBps: 0,
  expectedUpstreamMicros: 0,
  maximumUpstreamMicros: 0,
  serviceFeeBps: 0,
  expectedMicros: 0,
  maximumMicros: 0,
  bounds: {},
};

/**
 * Bounds and prices one call on one route, plus a second call if it may have to repair the answer. Deferred
 * work is expected at flex rates and held at standard rates, since it may end on them. Throws
 * EstimateUnavailable if a price is unknown, instead of assuming 0.
 */
export async function estimate(
  capability: Capability,
  {
    input,
    route,
    call,
    processing = "standard",
    mayRepair = false,
  }: {
    input: unknown;
    route: Route;
    call: AnyCall;
    processing?: ProcessingMode | undefined;
    mayRepair?: boolean | undefined;
  },
): Promise<Estimate> {
  const execution = capability.execute;
  if ("local" in execution) return FREE;
  const { price } = route.model;
  const bounds: Estimate["bounds"] = execution.bounds(input, route.model);
  let qualifier: Estimate["qualifier"] = "upper_bound";
  if (execution.port === "text") {
    const text = call as TextCall; // the text port takes text calls
    const input = await inputTokensAtMost(route.model, text);
    bounds.inputTokens = input.tokens;
    // Any part of the prompt may be written to the vendor's cache, at the highest rate.
    if (writesCache(text, route.model)) bounds.cacheWriteTokens = input.tokens;
    // Each of several answers may have the full length.
    if (text.settings?.choices) bounds.outputTokens = (bounds.outputTokens ?? 0) * text.settings.choices;
    if (input.isCounted) qualifier = "exact";
  } else if (execution.port === "embedding") {
    bounds.inputTokens = embeddedTokensAtMost(route.model, call as EmbeddingCall); // the embedding port takes embedding calls
  } else {
    if (execution.port === "image") {
      const { quality, width, height } = call as ImageCall; // the image port takes image calls
      Object.assign(bounds, { quality, width, height });
    }
    if (execution.port === "mesh") bounds.textured = (call as MeshCall).texture !== null; // the mesh port takes mesh calls
    if (hasListedPrice(price, bounds)) qualifier = "exact";
  }
  const expected =
    processing === "deferred"
      ? priceAtMost(price, bounds, { ...bounds, tier: "flex" })
      : priceAtMost(price, bounds, bounds);
  if (mayRepair) {
    Object.assign(bounds, withRepair(route.model, bounds));
    qualifier = "upper_bound";
  }
  const maximum = priceAtMost(price, bounds, bounds);
  if (maximum === null || expected === null)
    fail(
      "EstimateUnavailable",
      `The price of ${routeKey(route)} for this request is unknown. Choose another model.`,
    );
  const bps = feeBpsOf(route.billingMode);
  return {
    pricingVersion: PRICING_VERSION,
    billingMode: route.billingMode,
    route: {
      key: routeKey(route),
      provider: route.provider.name,
      model: route.model.id,
      api: route.provider[execution.port]?.api ?? "",
    },
    ...(typeof route.account === "object"
      ? { account: { ...route.account, ...(route.listedBy ? { model: route.model } : {}) } }
      : {}),
    choice: route.choice,
    bundleHash: routeBundle().hash,
    requestedTarget: null,
    rewrites: [],
    qualifier,
    processing,
    deferredDiscountBps:
      processing === "deferred" && price.per === "million_tokens" ? (price.flexDiscountBps ?? 0) : 0,
    expectedUpstreamMicros: expected,
    maximumUpstreamMicros: maximum,
    serviceFeeBps: bps,
    expectedMicros: expected + serviceFee(expected, bps),
    maximumMicros: maximum + serviceFee(maximum, bps),
    bounds,
  };
}

/**
 * Bounds both calls of a run: the second reads the first call, its answer, and the errors of that answer.
 */
function withRepair(
  model: ModelFacts,
  { inputTokens = 0, outputTokens = 0, cacheWriteTokens }: Estimate["bounds"],
) {
  const ofBoth = 2 * inputTokens + outputTokens + repairTokensAtMost(model);
  return {
    inputTokens: ofBoth,
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens: ofBoth }),
    outputTokens: 2 * outputTokens,
    submissions: 2,
  };
}
