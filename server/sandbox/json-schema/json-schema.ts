import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import type { Random } from "../random";
import { both, flatten, MAX_VALUE_DEPTH, toArray, UnsupportedSchema, type ValueContext } from "./flat";
import { matchesSchema, type Schema } from "./match";
import { fromPattern, matchesPattern, UnsupportedPattern } from "./pattern";
import { makeNumber, makeString, numberOr, word } from "./values";

const MAX_VALUES = 20_000;
/** Only required parts are made at this depth and deeper, so that recursive schemas end. */
const FULL_DEPTH = 5;
/**
 * Makes a value that satisfies a JSON Schema (2020-12); the same schema, words and random stream give the same value. The value
 * is checked before it is returned. Throws `UnsupportedSchema` if none is found.
 */
export function fromSchema(schema: Json, from: { random: Random; words: string[] }): Json {
  const context: ValueContext = { root: schema, random: from.random, words: from.words, spent: 0 };
  try {
    const value = make(schema, context, 0, "#");
    if (matchesSchema(value, schema, schema)) return value;
  } catch (error) {
    if (!(error instanceof UnsupportedPattern)) throw error;
    throw new UnsupportedSchema("A pattern of the schema is not supported.");
  }
  throw new UnsupportedSchema("No value was found that satisfies the schema.");
}

function make(schema: Json | undefined, context: ValueContext, depth: number, at: string): Json {
  context.spent += 1;
  if (context.spent > MAX_VALUES || depth > MAX_VALUE_DEPTH)
    throw new UnsupportedSchema(`The schema is too large or never ends, at ${at}.`);
  if (schema === undefined || schema === true) return word(context);
  if (schema === false) throw new UnsupportedSchema(`Nothing satisfies the schema false, at ${at}.`);
  if (!isObject(schema)) throw new UnsupportedSchema(`A schema must be an object or a boolean, at ${at}.`);

  const flat = flatten(schema, context, at, 0);
  const choices = flat.anyOf ?? flat.oneOf;
  if (Array.isArray(choices)) {
    const { anyOf, oneOf, ...rest } = flat;
    // Chooses from one list; the other one stays for the next round.
    const kept = anyOf !== undefined && oneOf !== undefined ? { ...rest, oneOf } : rest;
    return firstThat(
      choices.map((choice) => both(kept, choice)),
      flat,
      { context, depth, at },
    );
  }
  if (flat.if !== undefined) {
    const { if: condition, then: yes, else: no, ...rest } = flat;
    const choices = [both(both(rest, condition), yes ?? true), both(rest, no ?? true)];
    return firstThat(choices, flat, { context, depth, at });
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
    return firstThat([rest, rest, rest, rest, rest, rest, rest, rest, ...otherTypes(rest)], flat, {
      context,
      depth,
      at,
    });
  }
  return makeOfType(flat, context, depth, at);
}

/** Returns the value of the first choice whose value satisfies the whole schema. Throws UnsupportedSchema if there is none. */
function firstThat(
  choices: Json[],
  whole: Schema,
  { context, depth, at }: { context: ValueContext; depth: number; at: string },
): Json {
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

/** Variants of other types, in case `not` excludes every value of the type that was guessed. */
function otherTypes(schema: Schema): Json[] {
  if (schema.type !== undefined) return [];
  return ["integer", "boolean", "null", "object", "array"].map((type) => ({ ...schema, type }));
}

function makeOfType(schema: Schema, context: ValueContext, depth: number, at: string): Json {
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

function typeOf(schema: Schema, context: ValueContext): Json | undefined {
  if (schema.type === undefined) {
    return (
      SIGNS.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0] ?? "string"
    );
  }
  const types = toArray(schema.type);
  const telling = types.filter((type) => type !== "null");
  // Chooses null only if nothing else is allowed, or now and then if it is allowed.
  if (telling.length === 0 || (telling.length < types.length && context.random() < 0.1))
    return types.find((type) => type === "null");
  return telling[0];
}

function makeObject(schema: Schema, context: ValueContext, depth: number, at: string): Json {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const patterns = isObject(schema.patternProperties) ? schema.patternProperties : {};
  const required = new Set(toArray(schema.required ?? []).filter((name) => typeof name === "string"));
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
    // Uses defineProperty, because `__proto__` is a name like any other.
    const value = make(schemaOf(name), context, depth + 1, `${at}/${name}`);
    Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
    for (const also of toArray(dependent[name] ?? [])) if (typeof also === "string") add(also);
  };

  // Required properties are always made, the others in the schema's order if size and depth allow.
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
      // A property that cannot be made is left out.
      for (const key of Object.keys(made)) if (!Object.hasOwn(before, key)) delete made[key];
    }
  }
  for (let extra = 1; Object.keys(made).length < least; extra += 1) {
    if (extra > 1_000) throw new UnsupportedSchema(`No further property names were found, at ${at}.`);
    add(extraName(schema, patterns, { context, depth, at, extra }));
  }
  return made;
}

function extraName(
  schema: Schema,
  patterns: Schema,
  { context, depth, at, extra }: { context: ValueContext; depth: number; at: string; extra: number },
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

function makeArray(schema: Schema, context: ValueContext, depth: number, at: string): Json {
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
        // A list may stop early if the next item cannot be made.
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
