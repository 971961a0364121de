import type { Capability } from "@/server/capabilities/define";
import { describeCapability, toSummary } from "./describe";
import { PRICING_VERSION } from "./pricing";
import { allCapabilities } from "./registry";

/** How well a capability matches a task text: title and key count more than the description. 0: not at all. */
function relevance(capability: Capability, words: string[]): number {
  const title = `${capability.title} ${capability.key} ${capability.synonyms.join(" ")}`.toLowerCase();
  const text =
    `${capability.description} ${capability.intentExamples.join(" ")} ${capability.taskTags.join(" ")}`.toLowerCase();
  return words.reduce((sum, word) => sum + (title.includes(word) ? 3 : text.includes(word) ? 1 : 0), 0);
}

/** The capabilities a task text is about, best first; all of them, in the order of their keys, without any word. */
export function matching(q: string | undefined): readonly Capability[] {
  const words = (q ?? "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}.]+/u)
    .filter((word) => word.length > 1);
  if (words.length === 0) return allCapabilities;
  return allCapabilities
    .map((capability) => ({ capability, score: relevance(capability, words) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((each) => each.capability);
}

/** The catalog: whole descriptors, or with `view: summary` six fields each; with `q` only matches, best first. */
export function list(query: { q?: string | undefined; view?: string | undefined }, signedIn: boolean) {
  return {
    capabilities: matching(query.q).map((capability) =>
      query.view === "summary" ? toSummary(capability) : describeCapability(capability, signedIn),
    ),
    pricingVersion: PRICING_VERSION,
  };
}
