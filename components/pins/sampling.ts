import type { PinChoice, PinnedSampling } from "@/server/contract/pinned";

export type SamplingName = PinChoice["sampling"][number];
/** The form's sampling fields. Empty ones are not sent. */
export type SamplingText = Partial<Record<SamplingName, string>>;

type Field = { label: string; kind: "number" | "words" | "lines" | "switch"; hint?: string };

/** Every member of `sampling` as a form field. */
export const SAMPLING: Record<SamplingName, Field> = {
  temperature: { label: "Temperature", kind: "number" },
  topP: { label: "Top P", kind: "number" },
  topK: { label: "Top K", kind: "number" },
  maxOutputTokens: { label: "Maximum output tokens", kind: "number" },
  seed: { label: "Seed", kind: "number" },
  stop: { label: "Stop sequences", kind: "lines", hint: "One per line." },
  frequencyPenalty: { label: "Frequency penalty", kind: "number" },
  presencePenalty: { label: "Presence penalty", kind: "number" },
  reasoningEffort: {
    label: "Reasoning effort",
    kind: "words",
    hint: "A value that the provider defines, such as low or high.",
  },
  thinking: { label: "Thinking", kind: "switch" },
  thinkingBudgetTokens: { label: "Thinking budget, tokens", kind: "number" },
  verbosity: {
    label: "Verbosity",
    kind: "words",
    hint: "A value that the provider defines, such as low or high.",
  },
};

/**
 * The filled-in members that the pin supports. Invalid numbers are sent unchanged, so that the server names them in its
 * error.
 */
export function toSampling(text: SamplingText, can: readonly SamplingName[]): PinnedSampling | undefined {
  const filled = can.flatMap((name): [SamplingName, unknown][] => {
    const value = text[name]?.trim();
    if (!value) return [];
    const { kind } = SAMPLING[name];
    if (kind === "lines") return [[name, value.split("\n").filter((line) => line !== "")]];
    const number = Number(value);
    return [[name, kind === "number" && Number.isFinite(number) ? number : value]];
  });
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}
