import type { Json } from "@/server/platform/durable/step";
import { BY_MODEL, type CapabilityDefinition, durable, type InputConstraint } from "../define";

/* Facts that text capabilities share, derived from the same figures. */

type Limits = Pick<CapabilityDefinition<never, unknown>, "sync" | "durable">;

/** Limits of synchronous and durable runs, for short and for long answers. */
export const SHORT_TEXT = { sync: { maxOutputTokens: 2048, seconds: 60 }, durable: durable(120) };
export const LONG_TEXT = { sync: { maxOutputTokens: 8192, seconds: 300 }, durable: durable(600) };

/** Feature flags of a text capability, including its limits. */
export function textFeatures(
  { sync, durable: job }: Limits,
  contextWindowTokens: number,
  own: Record<string, Json> = {},
): Record<string, Json> {
  const inline = sync && {
    supported: true,
    ...(sync.maxOutputTokens === undefined ? {} : { maxOutputTokens: sync.maxOutputTokens }),
    targetMaxDurationSeconds: sync.seconds,
  };
  return {
    syncInvoke: inline ?? { supported: false },
    ...(inline && own.streams === true ? { streamInvoke: inline } : {}),
    ...(job
      ? {
          durableJob: { outputBudget: { mode: "derived", hintField: "maxOutputTokens" } },
        }
      : {}),
    longContext: false,
    contextWindowTokens,
    noSilentTruncation: true,
    documentInput: false,
    visionInput: false,
    jsonObject: true,
    ...BY_MODEL,
    ...Object.fromEntries(Object.entries(own).filter(([name]) => name !== "streams")),
  };
}

/** A field measured in tokens and never truncated. */
export const inTokens = (max: number): InputConstraint => ({
  measurement: "tokens",
  max,
  overflow: "reject",
  semantic: true,
});

export const STRUCTURED_ERRORS = [
  "StructuredOutputInvalid",
  "StructuredOutputRepairFailed",
  "OutputLimitReached",
  "ReasoningBudgetExhausted",
  "PROVIDER_EMPTY_OUTPUT",
];
