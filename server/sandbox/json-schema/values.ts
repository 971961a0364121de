import type { Json } from "@/server/platform/durable/step";
import type { Random } from "../random";
import { leastCommon, UnsupportedSchema, type ValueContext } from "./flat";
import { matchesSchema, type Schema } from "./match";
import { fromPattern } from "./pattern";

export const numberOr = (value: Json | undefined, fallback: number) =>
  typeof value === "number" ? value : fallback;

const FALLBACK_WORDS = ["amber", "harbor", "meadow", "silver", "lantern", "river", "cedar", "horizon"];

/** A word of the prompt, or one of our own. */
export function word(context: ValueContext): string {
  const words = context.words.length > 0 && context.random() < 0.6 ? context.words : FALLBACK_WORDS;
  return words[Math.floor(context.random() * words.length)] ?? "amber";
}

export function makeString(schema: Schema, context: ValueContext, at: string): string {
  const least = numberOr(schema.minLength, 0);
  const most = numberOr(schema.maxLength, Number.POSITIVE_INFINITY);
  const fits = (text: string) => {
    const length = [...text].length;
    return length >= least && length <= most;
  };
  if (typeof schema.pattern === "string") {
    for (let repeats = 0; repeats <= 300; repeats += 1) {
      const text = fromPattern(schema.pattern, context.random, repeats);
      if (text !== null && fits(text)) return text;
      if (text !== null && [...text].length > most && repeats > 8) break;
    }
    throw new UnsupportedSchema(`No string of the allowed length was found for the pattern, at ${at}.`);
  }
  if (typeof schema.format === "string") {
    const text = FORMATS[schema.format]?.(context.random);
    if (text !== undefined) {
      if (fits(text)) return text;
      throw new UnsupportedSchema(`No string of the allowed length was found for the format, at ${at}.`);
    }
  }
  if (least > 1_000_000) throw new UnsupportedSchema(`The string would be too long, at ${at}.`);
  let text = word(context);
  if (most >= 24 && context.random() < 0.7) text = `${text} ${word(context)}`;
  while ([...text].length < least) text += ` ${word(context)}`;
  // Cuts only the excess, by characters and not by UTF-16 units.
  const target = Math.max(least, Math.min([...text].length, most));
  return [...text].slice(0, Math.min(target, most)).join("");
}

const digits = (random: Random, count: number) =>
  Array.from({ length: count }, () => Math.floor(random() * 10)).join("");
const hex = (random: Random, count: number) =>
  Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join("");
const two = (value: number) => String(value).padStart(2, "0");
const day = (random: Random) =>
  `2026-${two(1 + Math.floor(random() * 12))}-${two(1 + Math.floor(random() * 28))}`;
const clock = (random: Random) =>
  `${two(Math.floor(random() * 24))}:${two(Math.floor(random() * 60))}:${two(Math.floor(random() * 60))}Z`;
const host = (random: Random) => `h${digits(random, 3)}.example.com`;

/** Makers of the known formats; other formats are annotations and give plain text. */
const FORMATS: Record<string, (random: Random) => string> = {
  "date-time": (random) => `${day(random)}T${clock(random)}`,
  date: day,
  time: clock,
  duration: (random) => `PT${1 + Math.floor(random() * 59)}M`,
  email: (random) => `a${digits(random, 3)}@example.com`,
  "idn-email": (random) => `a${digits(random, 3)}@example.com`,
  hostname: host,
  "idn-hostname": host,
  ipv4: (random) => `192.0.2.${1 + Math.floor(random() * 254)}`,
  ipv6: (random) => `2001:db8::${hex(random, 3).replace(/^0+/, "") || "1"}`,
  uri: (random) => `https://example.com/${hex(random, 6)}`,
  iri: (random) => `https://example.com/${hex(random, 6)}`,
  "uri-reference": (random) => `/${hex(random, 6)}`,
  "iri-reference": (random) => `/${hex(random, 6)}`,
  "uri-template": (random) => `https://example.com/${hex(random, 4)}/{id}`,
  "json-pointer": (random) => `/${hex(random, 4)}`,
  "relative-json-pointer": (random) => `1/${hex(random, 4)}`,
  regex: () => "^[a-z]+$",
  uuid: (random) =>
    `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-a${hex(random, 3)}-${hex(random, 12)}`,
};

export function makeNumber(schema: Schema, context: ValueContext, at: string, whole: boolean): number {
  const step = numberOr(schema.multipleOf, whole ? 1 : 0);
  const unit = whole && !Number.isInteger(step) ? leastCommon(step, 1) : step;
  const lows = [schema.minimum, schema.exclusiveMinimum].filter((bound) => typeof bound === "number");
  const highs = [schema.maximum, schema.exclusiveMaximum].filter((bound) => typeof bound === "number");
  const low = lows.length > 0 ? Math.max(...lows) : highs.length > 0 ? Math.min(...highs) - 100 : 0;
  const high = highs.length > 0 ? Math.min(...highs) : low + 100;
  const allowed = (value: number) =>
    matchesSchema(value, { ...schema, type: whole ? "integer" : "number" }, context.root);

  if (unit > 0) {
    const first = Math.ceil(low / unit);
    const count = Math.max(1, Math.floor(high / unit) - first + 1);
    const start = Math.floor(context.random() * count);
    for (let turn = 0; turn < Math.min(count + 2, 2_000); turn += 1) {
      const value = clean((first + ((start + turn) % (count + 2))) * unit);
      if (allowed(value)) return value;
    }
  } else {
    for (const share of [context.random(), 0.5, 0, 1]) {
      const value = low + (high - low) * share;
      const rounded = Math.round(value * 100) / 100;
      if (allowed(rounded)) return rounded;
      if (allowed(value)) return value;
    }
  }
  throw new UnsupportedSchema(`No number was found within the bounds, at ${at}.`);
}

/** Removes binary noise: 0.30000000000000004 becomes 0.3. */
const clean = (value: number) => Number(value.toPrecision(15));
