import type { Capability } from "@/server/capabilities/define";
import type { ModelFacts } from "@/server/providers/define";
import { capSync } from "./input";

/**
 * Returns the output tokens of a synchronous answer of this model: the limit if the request sets none, and
 * the highest limit. Null if the capability produces no tokens or only the provider sets a limit.
 */
export function outputLimits(
  capability: Capability,
  model: ModelFacts,
): { byDefault: number | null; atMost: number | null } {
  const { execute, examples, input, sync } = capability;
  const example = examples[0] && input.safeParse(examples[0].input);
  if ("local" in execute || !example?.success) return { byDefault: null, atMost: null };
  const { maxOutputTokens: _, ...unsaid } = example.data as { maxOutputTokens?: number };
  const { outputTokens } = execute.bounds(capSync(capability, unsaid), model);
  const most = Math.min(
    sync?.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    model.maxOutputTokens ?? Number.POSITIVE_INFINITY,
  );
  return {
    byDefault: outputTokens || null,
    atMost: outputTokens && Number.isFinite(most) ? most : null,
  };
}
