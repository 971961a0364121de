import type { PinChoice, PinnedSampling } from "@/server/contract/pinned";

export type SamplingName = PinChoice["sampling"][number];
/** What stands in the fields of the form; what is empty is not sent. */
export type SamplingText = Partial<Record<SamplingName, string>>;

type Field = { label: string; kind: "number" | "words" | "lines" | "switch"; hint?: string };

/** Every member of `sampling` as a form asks for it. */
export const SAMPLING: Record<SamplingName, Field> = {
  temperature: { label: "Temperature", kind: "number" },
  topP: { label: "Top P", kind: "number" },
  topK: { label: "Top K", kind: "number" },
  maxOutputTokens: { label: "Most output tokens", kind: "number" },
  seed: { label: "Seed", kind: "number" },
  stop: { label: "Stop at", kind: "lines", hint: "One on each line." },
  frequencyPenalty: { label: "Frequency penalty", kind: "number" },
  presencePenalty: { label: "Presence penalty", kind: "number" },
  reasoningEffort: {
    label: "Reasoning effort",
    kind: "words",
    hint: "In the provider’s words, as low or high.",
  },
  thinking: { label: "Thinking", kind: "switch" },
  thinkingBudgetTokens: { label: "Thinking budget, tokens", kind: "number" },
  verbosity: { label: "Verbosity", kind: "words", hint: "In the provider’s words, as low or high." },
};

/** The members that were filled in, of those the pin can say. A number that is none goes as it stands, to be refused by name. */
export function toSampling(text: SamplingText, can: readonly SamplingName[]): PinnedSampling | undefined {
  const filled = can.flatMap((name): [SamplingName, unknown][] => {
    const value = text[name]?.trim();
    if (!value) return [];
    const { kind } = SAMPLING[name];
    if (kind === "lines") return [[name, value.split("\n").filter((line) => line !== "")]];
    const number = Number(value);
    return [[name, kind === "number" && Number.isFinite(number) ? number : value]];
  });
  return filled.length > 0 ? (Object.fromEntries(filled) as PinnedSampling) : undefined; // parsed by the server
}
