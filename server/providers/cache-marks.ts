import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import {
  type CacheMark,
  type CacheTtl,
  type ModelFacts,
  type TextCall,
  type TextMessage,
  textOf,
} from "./define";

/* Marks of the caller for what a vendor caches of a prompt: whose price has them, and where they are. */

/** The most marks that a vendor takes which has a price for cache writes. */
export const MOST_CACHE_MARKS = 4;

export const statesCacheWrites = (price: ModelFacts["price"]): boolean =>
  price.per === "million_tokens" && price.cacheWrite !== undefined;

export const hasCacheMarks = ({
  messages,
  toolCache = [],
}: Pick<TextCall, "messages" | "toolCache">): boolean =>
  toolCache.length > 0 || messages.some(({ cache = [] }) => cache.length > 0);

/** Is this call's prompt written to the vendor's cache? Only of models whose price states what that costs: others are sent no marks. */
export const writesCache = (
  call: Pick<TextCall, "messages" | "toolCache">,
  { price }: Pick<ModelFacts, "price">,
): boolean => statesCacheWrites(price) && hasCacheMarks(call);

/** Has a tool the mark, in either usual spelling of a tool? */
export const isMarked = ({ cache_control: outer, function: inner }: Record<string, Json>): boolean =>
  Boolean(outer ?? (isObject(inner) && inner.cache_control));

/** The member that marks a part of the prompt, as every server spells it that has one. */
export const toCacheControl = ({ ttl }: { ttl?: CacheTtl }) => ({
  cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) },
});

/** The marks of a message by where they end in its text, in order; those of parts end with their part. */
export function cacheEnds(message: TextMessage): { end: number; ttl?: CacheTtl }[] {
  const { content, cache = [] } = message;
  const text = textOf(message);
  const endOf = ({ part, end }: CacheMark) =>
    part === undefined || typeof content === "string"
      ? Math.min(end ?? text.length, text.length)
      : textOf({ role: "user", content: content.slice(0, part + 1) }).length;
  return cache
    .map((mark) => ({ end: endOf(mark), ...(mark.ttl ? { ttl: mark.ttl } : {}) }))
    .sort((one, other) => one.end - other.end);
}
