import { cacheEnds, toCacheControl } from "../cache-marks";
import { type CacheTtl, type PromptCacheMark, refuseCall, type TextCall, type TextMessage } from "../define";

/* Writes the caller's cache marks into the blocks of a request. */

/** A message without its marks, for models that receive none. */
export const withoutMarks = ({ cache: _cache, ...message }: TextMessage): TextMessage => message;

export const controlOf = (mark: { ttl?: CacheTtl } | null | undefined) => (mark ? toCacheControl(mark) : {});

export const markOfTool = ({ toolCache = [] }: TextCall, place: number) =>
  toolCache.find(({ at }) => at === place) ?? null;

/** Adds the marks of parts to their blocks; a mark of the whole message goes to the last block. */
export const markedBy =
  (cache: readonly PromptCacheMark[] = []) =>
  (block: object, place: number, { length }: { length: number }) => ({
    ...block,
    ...controlOf(cache.find(({ part = length - 1 }) => part === place)),
  });

/**
 * Splits a text into blocks that end at its marks. A block of white space is left out, because the vendor refuses it;
 * its mark goes to the block before, if there is one.
 */
export function toTextBlocks(text: string, marks: readonly { end: number; ttl?: CacheTtl }[]): object[] {
  const blocks: object[] = [];
  let start = 0;
  for (const mark of [...marks, null]) {
    const words = text.slice(start, mark?.end);
    if (words.trim() !== "") blocks.push({ type: "text", text: words, ...controlOf(mark) });
    else if (mark && blocks.length > 0) blocks.push({ ...blocks.pop(), ...controlOf(mark) });
    // The line break that joins two parts belongs to neither block.
    if (mark) start = text[mark.end] === "\n" ? mark.end + 1 : Math.max(start, mark.end);
  }
  return blocks;
}

/**
 * The system prompt: one text, or blocks if the caller marked a part of it. `texts` are its messages and the
 * instructions added here; only the latter if all messages are system messages, because these become a user turn
 * (`apart`).
 */
export function toSystem(messages: TextMessage[], texts: string[]): string | object[] {
  const spoken = messages.filter(({ role }) => role === "system");
  const isTurn = spoken.length === messages.length;
  if (isTurn || !spoken.some(({ cache }) => cache)) return texts.join("\n\n");
  return texts.flatMap((text, place) => {
    const message = spoken[place];
    return toTextBlocks(text, message ? cacheEnds(message) : []);
  });
}

type Marked = { cache_control?: { ttl?: CacheTtl } };

/**
 * Throws for an order of marks that the vendor refuses: one hour after five minutes. Tools come first, then the system
 * prompt, then messages.
 */
export function requireOrder({
  tools = [],
  system = [],
  messages,
}: {
  tools?: object[] | undefined;
  system?: string | object[] | undefined;
  messages: object[];
}): void {
  const blocks = [
    ...tools,
    ...[system].flat(),
    ...messages.flatMap((message) => ("content" in message ? [message.content].flat() : [])),
  ] as (Marked | string)[]; // tools and blocks built here, or plain text
  const ttls = blocks.flatMap((block) =>
    typeof block === "string" || !block.cache_control ? [] : [block.cache_control.ttl ?? "5m"],
  );
  if (ttls.lastIndexOf("1h") > ttls.indexOf("5m") && ttls.includes("5m"))
    refuseCall(
      "Claude takes cache_control of 1h only before that of 5m: tools come first, then system messages, then the others. Use one ttl.",
    );
}
