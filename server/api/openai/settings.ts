import type { Conversation } from "@/server/domain/jobs";

/* Settings of chat completions and Responses that not every model supports, and unknown members. */

export type ConversationSettings = NonNullable<Conversation["settings"]> | undefined;
type Json = NonNullable<NonNullable<ConversationSettings>["members"]>[string];

type Given = {
  top_p?: number | null | undefined;
  stop?: string | string[] | null | undefined;
  seed?: number | null | undefined;
  n?: number | null | undefined;
  frequency_penalty?: number | null | undefined;
  presence_penalty?: number | null | undefined;
};

const NAMES = {
  topP: "top_p",
  stop: "stop",
  seed: "seed",
  choices: "n",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
} as const;

/** The settings that differ from the defaults; undefined if there are none. `known` are the members that have a meaning here. */
export function conversationSettings(
  given: Given,
  request: Record<string, unknown>,
  known: object,
): ConversationSettings {
  const { top_p, seed, n, frequency_penalty, presence_penalty } = given;
  const stop = typeof given.stop === "string" ? [given.stop] : given.stop;
  const unknown = Object.entries(request).filter(([name, value]) => !(name in known) && value !== null);
  const settings: NonNullable<ConversationSettings> = {
    ...(typeof top_p === "number" && top_p !== 1 ? { topP: top_p } : {}),
    ...(stop?.length ? { stop } : {}),
    ...(typeof seed === "number" ? { seed } : {}),
    ...(typeof n === "number" && n > 1 ? { choices: n } : {}),
    ...(frequency_penalty ? { frequencyPenalty: frequency_penalty } : {}),
    ...(presence_penalty ? { presencePenalty: presence_penalty } : {}),
    ...(unknown.length > 0 ? { members: Object.fromEntries(unknown) as Record<string, Json> } : {}), // parsed JSON
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

/** A setting's name as the sender spells it; unknown members keep the sender's name. */
export function spellingOf([name, ...below]: (string | number)[]): string {
  return name === "members" ? below.join(".") : NAMES[name as keyof typeof NAMES]; // every other path starts with one of the settings' names
}
