import type { Json } from "@/server/platform/durable/step";
import { BY_MODEL, type CapabilityDefinition, durable, type InputConstraint } from "../define";

/* What text capabilities say of themselves in the same way, from the same figures. */

type Limits = Pick<CapabilityDefinition<never, unknown>, "sync" | "durable">;

/** Short runs, and long ones: what a synchronous run may take, and a durable one. */
export const SHORT = { sync: { maxOutputTokens: 2048, seconds: 60 }, durable: durable(120) };
export const LONG = { sync: { maxOutputTokens: 8192, seconds: 300 }, durable: durable(600) };

/** The feature flags of a text capability, its limits among them. */
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

/** A field that is measured in tokens and never trimmed. */
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
