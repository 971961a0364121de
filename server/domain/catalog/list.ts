import type { Capability } from "@/server/capabilities/define";
import { describeCapability, toCapabilityItem, toCapabilitySummary } from "./describe";
import { PRICING_VERSION } from "./pricing/pricing";
import { allCapabilities } from "./registry";
import { hasWords, search } from "./search";

/**
 * Returns the capabilities that match a task text, best first, or all of them by key if the text has no word to search
 * for.
 */
export function matchingCapabilities(q: string | undefined): readonly Capability[] {
  if (!hasWords(q ?? "")) return allCapabilities;
  return search(q ?? "").hits.map(({ capability }) => capability);
}

/**
 * Returns the catalog as whole descriptors, or as six fields each with `view: summary`. With `q` it has only the
 * matches, best first.
 */
export function list(query: { q?: string | undefined; view?: string | undefined }, signedIn: boolean) {
  return {
    capabilities: matchingCapabilities(query.q).map((capability) =>
      query.view === "summary"
        ? toCapabilitySummary(capability)
        : toCapabilityItem(capability, describeCapability(capability, signedIn)),
    ),
    pricingVersion: PRICING_VERSION,
  };
}
