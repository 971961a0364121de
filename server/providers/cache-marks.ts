import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import {
  type CacheTtl,
  type ModelFacts,
  messageText,
  type PromptCacheMark,
  type TextCall,
  type TextMessage,
} from "./define";

/* The caller's marks for a vendor's prompt cache: which models receive them, and where they are. */

/** Maximum marks per request at every vendor that has a price for cache writes. */
export const MOST_CACHE_MARKS = 4;

export const statesCacheWrites = (price: ModelFacts["price"]): boolean =>
  price.per === "million_tokens" && price.cacheWrite !== undefined;

export const hasCacheMarks = ({
  messages,
  toolCache = [],
}: Pick<TextCall, "messages" | "toolCache">): boolean =>
  toolCache.length > 0 || messages.some(({ cache = [] }) => cache.length > 0);

/**
 * Will this call write its prompt to the vendor's cache? Only if the model's price includes cache writes; other models
 * receive no marks.
 */
export const writesCache = (
  call: Pick<TextCall, "messages" | "toolCache">,
  { price }: Pick<ModelFacts, "price">,
): boolean => statesCacheWrites(price) && hasCacheMarks(call);

/** Does a tool have a mark, in its flat or its nested form? */
export const isMarked = ({ cache_control: outer, function: inner }: Record<string, Json>): boolean =>
  Boolean(outer ?? (isObject(inner) && inner.cache_control));

/** The mark as every server with prompt caching spells it. */
export const toCacheControl = ({ ttl }: { ttl?: CacheTtl }) => ({
  cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) },
});

/**
 * A message's marks by the position in its text at which they end, in ascending order. The mark of a part ends with
 * that part.
 */
export function cacheEnds(message: TextMessage): { end: number; ttl?: CacheTtl }[] {
  const { content, cache = [] } = message;
  const text = messageText(message);
  const endOf = ({ part, end }: PromptCacheMark) =>
    part === undefined || typeof content === "string"
      ? Math.min(end ?? text.length, text.length)
      : messageText({ role: "user", content: content.slice(0, part + 1) }).length;
  return cache
    .map((mark) => ({ end: endOf(mark), ...(mark.ttl ? { ttl: mark.ttl } : {}) }))
    .sort((one, other) => one.end - other.end);
}
