import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import { PRICING_VERSION, type Route, routeBundle, routeKey, SERVICE_FEE_BPS } from "@/server/domain/catalog";
import { fail } from "@/server/errors";
import type { Micros } from "@/server/money";
import type { ImageCall, TextCall } from "@/server/providers/define";
import type { Json } from "@/server/step";
import { inputTokensAtMost, priceOf, serviceFee } from "./price";

/** What an execution may cost, fixed before it starts; travels with the job and stands on its receipt. */
export type Estimate = {
  pricingVersion: string;
  billingMode: BillingMode;
  /** Null: runs here, free. */
  route: { key: string; provider: string; model: string; api: string } | null;
  /** Why this route. Null: runs here. */
  choice: Route["choice"] | null;
  /** The hash of the routes and prices it was planned by. */
  bundleHash: string | null;
  /** The quote it was submitted with: what that was sealed to. */
  sealed?: { hash: string; expiresAt: string };
  /** The model the caller asked for: `provider/model` or a model's id; null: any. */
  requestedTarget: string | null;
  /** Fields of the input that were sent with another value; `from` is null where the caller left it out. */
  rewrites: { field: string; from: Json; to: string | number }[];
  qualifier: "exact" | "upper_bound";
  /** Of the provider, at list price. */
  expectedUpstreamMicros: Micros;
  maximumUpstreamMicros: Micros;
  serviceFeeBps: number;
  /** What the caller may have to pay: the fee included. */
  expectedMicros: Micros;
  maximumMicros: Micros;
  bounds: { inputTokens?: number; outputTokens?: number; images?: number; quality?: string; pixels?: number };
};

export const FREE: Estimate = {
  pricingVersion: PRICING_VERSION,
  billingMode: "managed",
  route: null,
  choice: null,
  bundleHash: null,
  requestedTarget: null,
  rewrites: [],
  qualifier: "exact",
  expectedUpstreamMicros: 0,
  maximumUpstreamMicros: 0,
  serviceFeeBps: 0,
  expectedMicros: 0,
  maximumMicros: 0,
  bounds: {},
};

/** Bounds and prices one call on one route. An unknown price is EstimateUnavailable, never 0. */
export function estimate(
  capability: Capability,
  input: unknown,
  route: Route,
  call: TextCall | ImageCall,
): Estimate {
  const execution = capability.execute;
  if ("local" in execution) return FREE;
  const caps = execution.bounds(input as never, route.model); // parsed by this capability's own schema
  const bounds: Estimate["bounds"] = { ...caps };
  if (execution.port === "text")
    bounds.inputTokens = inputTokensAtMost(route.model, call as TextCall); // the port decides which call it is
  else bounds.quality = (call as ImageCall).quality;
  const upstream = priceOf(route.model.price, bounds, bounds);
  if (upstream === null)
    fail("EstimateUnavailable", `No price is known for ${routeKey(route)} with this request.`);
  const bps = route.billingMode === "managed" ? SERVICE_FEE_BPS : 0;
  const total = upstream + serviceFee(upstream, bps);
  return {
    pricingVersion: PRICING_VERSION,
    billingMode: route.billingMode,
    route: {
      key: routeKey(route),
      provider: route.provider.name,
      model: route.model.id,
      api: route.provider[execution.port]?.api ?? "",
    },
    choice: route.choice,
    bundleHash: routeBundle().hash,
    requestedTarget: null,
    rewrites: [],
    qualifier: execution.port === "image" ? "exact" : "upper_bound",
    expectedUpstreamMicros: upstream,
    maximumUpstreamMicros: upstream,
    serviceFeeBps: bps,
    expectedMicros: total,
    maximumMicros: total,
    bounds,
  };
}
