import type { Json } from "@/server/step";
import { isObject, matchesSchema, resolveRef, type Schema } from "./json-schema-match";
import { fromPattern, matchesPattern, UnsupportedPattern } from "./pattern";
import { RequestRefused } from "./ports/define";
import type { Random } from "./random";

/** A schema the sandbox cannot make a value for; the message names the keyword and where it stands. */
export class UnsupportedSchema extends RequestRefused {
  override readonly name = "UnsupportedSchema";
  constructor(message: string) {
    super("unsupported_schema", message);
  }
}

type Context = {
  root: Json;
  random: Random;
  words: string[];
  /** Values made so far; bounds the work of one schema. */
  spent: number;
};

const MAX_VALUES = 20_000;
const MAX_DEPTH = 64;
const MAX_CHOICES = 1_000;
/** Below this depth only what is required is made, so that recursive schemas end. */
const FULL_DEPTH = 5;
const NOT_SUPPORTED = [
  "$dynamicRef",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependentSchemas",
  "contentSchema",
];

/**
 * Makes a value that satisfies a JSON Schema (2020-12), the same one for the same schema, words and random stream.
 * The value is checked before it is returned; throws `UnsupportedSchema` when none is found.
 */
export function fromSchema(schema: Json, from: { random: Random; words: string[] }): Json {
  const context: Context = { root: schema, random: from.random, words: from.words, spent: 0 };
  try {
    const value = make(schema, context, 0, "#");
    if (matchesSchema(value, schema, schema)) return value;
  } catch (error) {
    if (!(error instanceof UnsupportedPattern)) throw error;
    throw new UnsupportedSchema("A pattern of the schema is not supported.");
  }
  throw new UnsupportedSchema("No value was found that satisfies the schema.");
}

function make(schema: Json | undefined, context: Context, depth: number, at: string): Json {
  context.spent += 1;
  if (context.spent > MAX_VALUES || depth > MAX_DEPTH)
    throw new UnsupportedSchema(`The schema is too large or never ends, at ${at}.`);
  if (schema === undefined || schema === true) return word(context);
  if (schema === false) throw new UnsupportedSchema(`Nothing satisfies the schema false, at ${at}.`);
  if (!isObject(schema)) throw new UnsupportedSchema(`A schema must be an object or a boolean, at ${at}.`);

  const flat = flatten(schema, context, at, 0);
  const choices = flat.anyOf ?? flat.oneOf;
  if (Array.isArray(choices)) {
    const { anyOf, oneOf, ...rest } = flat;
    // One list is chosen from here, the other stays for the next round.
    const kept = anyOf !== undefined && oneOf !== undefined ? { ...rest, oneOf } : rest;
    return firstThat(
      choices.map((choice) => both(kept, choice)),
      flat,
      context,
      depth,
      at,
    );
  }
  if (flat.if !== undefined) {
    const { if: condition, then: yes, else: no, ...rest } = flat;
    const choices = [both(both(rest, condition), yes ?? true), both(rest, no ?? true)];
    return firstThat(choices, flat, context, depth, at);
  }
  if (flat.const !== undefined) return flat.const;
  if (Array.isArray(flat.enum)) {
    const { enum: values, ...rest } = flat;
    const fitting = values.filter((value) => matchesSchema(value, rest, context.root));
    const chosen = fitting[Math.floor(context.random() * fitting.length)];
    if (chosen === undefined) throw new UnsupportedSchema(`No value of the enum fits, at ${at}.`);
    return chosen;
  }
  if (flat.not !== undefined) {
    const { not: _excluded, ...rest } = flat;
    return firstThat(
      [rest, rest, rest, rest, rest, rest, rest, rest, ...otherTypes(rest)],
      flat,
      context,
      depth,
      at,
    );
  }
  return makeOfType(flat, context, depth, at);
}

/** The first choice whose value satisfies the whole. */
function firstThat(choices: Json[], whole: Schema, context: Context, depth: number, at: string): Json {
  let reason = `No branch can be satisfied, at ${at}.`;
  for (const choice of choices) {
    try {
      const value = make(choice, context, depth + 1, at);
      if (matchesSchema(value, whole, context.root)) return value;
    } catch (error) {
      if (!(error instanceof UnsupportedSchema)) throw error;
      reason = error.message;
    }
  }
  throw new UnsupportedSchema(reason);
}

/** When a value of the wished type is excluded, another type may do. */
function otherTypes(schema: Schema): Json[] {
  if (schema.type !== undefined) return [];
  return ["integer", "boolean", "null", "object", "array"].map((type) => ({ ...schema, type }));
}

/** Follows `$ref` and folds `allOf` in, so that one object says everything that is not a choice. */
function flatten(schema: Schema, context: Context, at: string, hops: number): Schema {
  const foreign = NOT_SUPPORTED.find((keyword) => schema[keyword] !== undefined && schema[keyword] !== true);
  if (foreign) throw new UnsupportedSchema(`The keyword ${foreign} is not supported, at ${at}.`);
  if (hops > MAX_DEPTH) throw new UnsupportedSchema(`References never end, at ${at}.`);
  let flat = schema;
  if (typeof flat.$ref === "string") {
    const { $ref, ...rest } = flat;
    const target = resolveRef($ref, context.root);
    if (target === undefined)
      throw new UnsupportedSchema(`Only references inside the schema are supported, at ${at}.`);
    flat = foldIn(rest, target, context, at, hops);
  }
  if (Array.isArray(flat.allOf)) {
    const { allOf, ...rest } = flat;
    flat = allOf.reduce<Schema>((sum, part) => foldIn(sum, part, context, at, hops), rest);
  }
  return flat;
}

function foldIn(schema: Schema, part: Json, context: Context, at: string, hops: number): Schema {
  if (part === true) return schema;
  if (!isObject(part)) throw new UnsupportedSchema(`Nothing satisfies the schema, at ${at}.`);
  return merge(schema, flatten(part, context, at, hops + 1));
}

/** Both schemas at once, unmerged until they are looked at. */
function both(a: Schema, b: Json): Schema {
  if (b === true) return a;
  return { allOf: [a, b] };
}

/** The intersection of two flat schemas, as far as keywords can say it; the final check catches the rest. */
function merge(a: Schema, b: Schema): Schema {
  const merged: Schema = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = merged[key];
    if (mine === undefined) {
      merged[key] = value;
    } else if (key === "type") {
      merged[key] = commonTypes(list(mine), list(value));
    } else if (
      key === "properties" ||
      key === "patternProperties" ||
      key === "$defs" ||
      key === "definitions"
    ) {
      if (isObject(mine) && isObject(value)) merged[key] = mergeEach(mine, value);
    } else if (
      key === "items" ||
      key === "additionalProperties" ||
      key === "propertyNames" ||
      key === "contains"
    ) {
      merged[key] = mine === false || value === false ? false : { allOf: [mine, value] };
    } else if (key === "required") {
      merged[key] = [...new Set([...list(mine), ...list(value)])];
    } else if (key === "enum") {
      const others = list(value).map((item) => JSON.stringify(item));
      merged[key] = list(mine).filter((item) => others.includes(JSON.stringify(item)));
    } else if (typeof mine === "number" && typeof value === "number") {
      merged[key] =
        key.startsWith("min") || key === "exclusiveMinimum"
          ? Math.max(mine, value)
          : key === "multipleOf"
            ? leastCommon(mine, value)
            : Math.min(mine, value);
    } else if (key === "anyOf" || key === "oneOf") {
      // A second list of choices: every pair is a choice.
      if (list(mine).length * list(value).length > MAX_CHOICES) {
        throw new UnsupportedSchema("The schema has too many combinations of choices.");
      }
      const pairs = list(mine).flatMap((left) => list(value).map((right) => ({ allOf: [left, right] })));
      merged[key] = pairs;
    } else if (key === "uniqueItems") {
      merged[key] = mine === true || value === true;
    } else if (key === "not") {
      merged[key] = { anyOf: [mine, value] };
    } else if (key === "prefixItems") {
      const [left, right] = [list(mine), list(value)];
      const length = Math.max(left.length, right.length);
      merged[key] = Array.from({ length }, (_, index) => ({
        allOf: [left[index] ?? true, right[index] ?? true],
      }));
    }
  }
  return merged;
}

function mergeEach(a: Schema, b: Schema): Schema {
  const merged: Schema = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = merged[key];
    merged[key] = mine === undefined ? value : { allOf: [mine, value] };
  }
  return merged;
}

const list = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

function commonTypes(a: Json[], b: Json[]): Json {
  const common = new Set<Json>();
  for (const left of a) {
    for (const right of b) {
      if (left === right) common.add(left);
      if ((left === "integer" && right === "number") || (left === "number" && right === "integer"))
        common.add("integer");
    }
  }
  return [...common];
}

function leastCommon(a: number, b: number): number {
  for (let factor = 1; factor <= 1_000; factor += 1) {
    if (Number.isInteger((a * factor) / b)) return a * factor;
  }
  return a * b;
}

// ---- one value of one type

function makeOfType(schema: Schema, context: Context, depth: number, at: string): Json {
  switch (typeOf(schema, context)) {
    case "object":
      return makeObject(schema, context, depth, at);
    case "array":
      return makeArray(schema, context, depth, at);
    case "string":
      return makeString(schema, context, at);
    case "integer":
      return makeNumber(schema, context, at, true);
    case "number":
      return makeNumber(schema, context, at, false);
    case "boolean":
      return context.random() < 0.5;
    case "null":
      return null;
    default:
      throw new UnsupportedSchema(`No type is left that fits, at ${at}.`);
  }
}

const SIGNS: [string, string[]][] = [
  [
    "object",
    ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"],
  ],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"]],
  ["string", ["minLength", "maxLength", "pattern", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function typeOf(schema: Schema, context: Context): Json | undefined {
  if (schema.type === undefined) {
    return (
      SIGNS.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0] ?? "string"
    );
  }
  const types = list(schema.type);
  const telling = types.filter((type) => type !== "null");
  // Null only where nothing else is allowed, or now and then where it is.
  if (telling.length === 0 || (telling.length < types.length && context.random() < 0.1))
    return types.find((type) => type === "null");
  return telling[0];
}

const numberOr = (value: Json | undefined, fallback: number) =>
  typeof value === "number" ? value : fallback;

function makeObject(schema: Schema, context: Context, depth: number, at: string): Json {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const patterns = isObject(schema.patternProperties) ? schema.patternProperties : {};
  const required = new Set(list(schema.required ?? []).filter((name) => typeof name === "string"));
  const dependent = isObject(schema.dependentRequired) ? schema.dependentRequired : {};
  const most = numberOr(schema.maxProperties, Number.POSITIVE_INFINITY);
  const least = numberOr(schema.minProperties, 0);
  const made: Schema = {};

  const schemaOf = (name: string): Json | undefined => {
    const parts: Json[] = [];
    if (Object.hasOwn(properties, name)) parts.push(properties[name] ?? true);
    for (const [pattern, part] of Object.entries(patterns))
      if (matchesPattern(pattern, name)) parts.push(part);
    if (parts.length === 0) return schema.additionalProperties;
    return parts.length === 1 ? parts[0] : { allOf: parts };
  };
  const add = (name: string) => {
    if (Object.hasOwn(made, name)) return;
    // defineProperty: `__proto__` is a name like any other.
    const value = make(schemaOf(name), context, depth + 1, `${at}/${name}`);
    Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
    for (const also of list(dependent[name] ?? [])) if (typeof also === "string") add(also);
  };

  // In the order the schema lists them: required ones always, the others where there is room and depth.
  const optional: string[] = [];
  for (const name of Object.keys(properties)) {
    if (required.has(name)) add(name);
    else optional.push(name);
  }
  for (const name of required) add(name);
  for (const name of optional) {
    const size = Object.keys(made).length;
    if (size >= most || (depth >= FULL_DEPTH && size >= least) || properties[name] === false) continue;
    const before = { ...made };
    try {
      add(name);
    } catch (error) {
      if (!(error instanceof UnsupportedSchema) || context.spent > MAX_VALUES) throw error;
      // What cannot be made may be left out.
      for (const key of Object.keys(made)) if (!Object.hasOwn(before, key)) delete made[key];
    }
  }
  for (let extra = 1; Object.keys(made).length < least; extra += 1) {
    if (extra > 1_000) throw new UnsupportedSchema(`No further property names were found, at ${at}.`);
    add(extraName(schema, patterns, context, depth, at, extra));
  }
  return made;
}

function extraName(
  schema: Schema,
  patterns: Schema,
  context: Context,
  depth: number,
  at: string,
  extra: number,
): string {
  if (schema.additionalProperties === false) {
    const pattern = Object.keys(patterns)[0];
    if (pattern === undefined)
      throw new UnsupportedSchema(`More properties are needed than are allowed, at ${at}.`);
    const name = fromPattern(pattern, context.random, extra);
    if (name !== null) return name;
  }
  if (isObject(schema.propertyNames)) {
    const name = make({ type: "string", ...schema.propertyNames }, context, depth + 1, `${at}/propertyNames`);
    if (typeof name === "string") return name;
  }
  return `extra${extra}`;
}

function makeArray(schema: Schema, context: Context, depth: number, at: string): Json {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const closed = schema.items === false;
  const least = numberOr(schema.minItems, 0);
  const most = Math.min(
    numberOr(schema.maxItems, Number.POSITIVE_INFINITY),
    closed ? prefix.length : Number.POSITIVE_INFINITY,
  );
  const wished =
    depth >= FULL_DEPTH ? least : Math.max(least, prefix.length, schema.items === undefined ? 0 : 2);
  const needed = schema.contains === undefined ? 0 : numberOr(schema.minContains, 1);
  const length = Math.min(
    Math.max(wished, prefix.length > 0 && needed > 0 ? prefix.length + needed : needed),
    most,
  );
  if (length < least) throw new UnsupportedSchema(`Fewer items are allowed than needed, at ${at}.`);

  const items: Json[] = [];
  const seen = new Set<string>();
  for (let index = 0; index < length; index += 1) {
    const own = prefix[index] ?? schema.items ?? true;
    const isWitness = needed > 0 && index >= length - needed && schema.contains !== undefined;
    const item = isWitness ? { allOf: [own, schema.contains ?? true] } : own;
    for (let attempt = 0; ; attempt += 1) {
      let value: Json;
      try {
        value = make(item, context, depth + 1, `${at}/${index}`);
      } catch (error) {
        // A list may stop early where the next item cannot be made.
        if (error instanceof UnsupportedSchema && index >= least && needed === 0) return items;
        throw error;
      }
      const key = JSON.stringify(value);
      if (schema.uniqueItems !== true || !seen.has(key)) {
        seen.add(key);
        items.push(value);
        break;
      }
      if (attempt === 200) {
        if (index >= least && needed === 0) return items;
        throw new UnsupportedSchema(`Not enough different items were found, at ${at}.`);
      }
    }
  }
  return items;
}

const FALLBACK_WORDS = ["amber", "harbor", "meadow", "silver", "lantern", "river", "cedar", "horizon"];

function word(context: Context): string {
  const words = context.words.length > 0 && context.random() < 0.6 ? context.words : FALLBACK_WORDS;
  return words[Math.floor(context.random() * words.length)] ?? "amber";
}

function makeString(schema: Schema, context: Context, at: string): string {
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
  // Cut only what overshot: by characters, not by UTF-16 units.
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

/** One maker per format; other formats are annotations and make plain text. */
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

function makeNumber(schema: Schema, context: Context, at: string, whole: boolean): number {
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

/** 0.30000000000000004 is 0.3. */
const clean = (value: number) => Number(value.toPrecision(15));
