import type { Capability } from "@/server/capabilities/define";
import { describeCapability, toListed, toSummary } from "./describe";
import { PRICING_VERSION } from "./pricing/pricing";
import { allCapabilities } from "./registry";
import { hasWords, search } from "./search";

/** The capabilities a task text is about, best first; all of them, in the order of their keys, without any word. */
export function matching(q: string | undefined): readonly Capability[] {
  if (!hasWords(q ?? "")) return allCapabilities;
  return search(q ?? "").hits.map(({ capability }) => capability);
}

/** The catalog: whole descriptors, or with `view: summary` six fields each; with `q` only matches, best first. */
export function list(query: { q?: string | undefined; view?: string | undefined }, signedIn: boolean) {
  return {
    capabilities: matching(query.q).map((capability) =>
      query.view === "summary"
        ? toSummary(capability)
        : toListed(capability, describeCapability(capability, signedIn)),
    ),
    pricingVersion: PRICING_VERSION,
  };
}
