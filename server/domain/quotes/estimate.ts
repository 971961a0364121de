import type { Capability } from "@/server/capabilities/define";
import type { ScaledFxRate } from "@/server/contract/billing";
import type { BillingMode } from "@/server/contract/common";
import type { ResolvedAdapter } from "@/server/domain/adapters";
import {
  feeBpsOf,
  isListed,
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

/** Deferred: the provider works as it finds time, at its flex rates, and once at its standard rates if it must. */
export type Processing = "standard" | "deferred";

/** What an execution may cost, fixed before it starts; travels with the job and is on its receipt. */
export type Estimate = {
  pricingVersion: string;
  billingMode: BillingMode;
  /** Null: runs here, free. */
  route: { key: string; provider: string; model: string; api: string } | null;
  /** The project's own account it runs on. Absent: the operator's, the sandbox, or here. */
  account?: {
    credentialId: string;
    /** Of a model that its owner lists: as it was, with its price. */
    model?: ModelFacts;
  };
  /** Why this route. Null: runs here. */
  choice: Route["choice"] | null;
  /** The hash of the routes and prices it was planned by. */
  bundleHash: string | null;
  /** What it is sealed to: by the quote it was submitted with, or at admission, when there is no expiry. Free work has none. */
  sealed?: { hash: string; expiresAt: string | null };
  /** The rate of that moment by which amounts are shown to an organization that is billed in another currency. */
  fx?: ScaledFxRate;
  /** The model the caller asked for: `provider/model` or a model's id; null: any. */
  requestedTarget: string | null;
  /** LoRA adapters, as they were at admission: a promotion or deletion since then changes nothing. Absent: none. */
  adapters?: { used: ResolvedAdapter[]; isDefault: boolean };
  /** Fields of the input that were sent with another value; `from` is null where the caller left it out. */
  rewrites: { field: string; from: Json; to: string | number }[];
  /** exact: a listed price of a whole, or of tokens that were counted. upper_bound: bounded by bytes or by area. */
  qualifier: "exact" | "upper_bound";
  processing: Processing;
  /** Off the provider's token rates, in basis points; 0 unless deferred. */
  deferredDiscountBps: number;
  /** Of the provider, at list price. */
  expectedUpstreamMicros: Micros;
  maximumUpstreamMicros: Micros;
  serviceFeeBps: number;
  /** What the caller may have to pay: the fee included. */
  expectedMicros: Micros;
  maximumMicros: Micros;
  /** The calls before the main one, in their order; their money is part of the totals above. Absent: there are none. */
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
    /** Calls the run may make: a second one gives an unfit answer back. Absent: one. */
    submissions?: number;
    quality?: string;
    width?: number;
    height?: number;
    textured?: boolean;
  };
};

/** One call before the main one, as far as it was fixed. */
export type StageEstimate = Pick<
  Estimate,
  "account" | "choice" | "requestedTarget" | "expectedUpstreamMicros" | "maximumUpstreamMicros" | "bounds"
> & { name: string; isOptional: boolean; route: NonNullable<Estimate["route"]> };

/** The accounts of an organization's own that it may run on, each once. */
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
 * Bounds and prices one call on one route, and the second one that may have to repair its answer. Deferred work is expected at the flex rates and held at the standard ones,
 * since it may end on them. An unknown price is EstimateUnavailable, never 0.
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
    processing?: Processing | undefined;
    mayRepair?: boolean | undefined;
  },
): Promise<Estimate> {
  const execution = capability.execute;
  if ("local" in execution) return FREE;
  const { price } = route.model;
  const bounds: Estimate["bounds"] = execution.bounds(input, route.model);
  let qualifier: Estimate["qualifier"] = "upper_bound";
  if (execution.port === "text") {
    const text = call as TextCall; // the port decides which call it is
    const input = await inputTokensAtMost(route.model, text);
    bounds.inputTokens = input.tokens;
    // Any part of the prompt may be written to the vendor's cache, at the dearest rate.
    if (writesCache(text, route.model)) bounds.cacheWriteTokens = input.tokens;
    // Each of several answers may be as long as one.
    if (text.settings?.choices) bounds.outputTokens = (bounds.outputTokens ?? 0) * text.settings.choices;
    if (input.isCounted) qualifier = "exact";
  } else if (execution.port === "embedding") {
    bounds.inputTokens = embeddedTokensAtMost(route.model, call as EmbeddingCall); // likewise
  } else {
    if (execution.port === "image") {
      const { quality, width, height } = call as ImageCall; // likewise
      Object.assign(bounds, { quality, width, height });
    }
    if (execution.port === "mesh") bounds.textured = (call as MeshCall).texture !== null; // likewise
    if (isListed(price, bounds)) qualifier = "exact";
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

/** Both calls of a run: the second reads the first, its answer, and what is wrong with that. */
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
