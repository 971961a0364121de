import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { RequestRefused } from "../ports/define";
import type { Random } from "../random";
import { resolveRef, type Schema } from "./match";

/** Thrown for a schema that the sandbox cannot make a value for; the message says why and, if one place is to blame, where. */
export class UnsupportedSchema extends RequestRefused {
  override readonly name = "UnsupportedSchema";
  constructor(message: string) {
    super("unsupported_schema", message);
  }
}

/** The state of making one value. */
export type ValueContext = {
  root: Json;
  random: Random;
  words: string[];
  /** Number of values made so far; bounds the work of one schema. */
  spent: number;
};

export const MAX_VALUE_DEPTH = 64;
const MAX_CHOICES = 1_000;
const NOT_SUPPORTED = [
  "$dynamicRef",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependentSchemas",
  "contentSchema",
];

/** Follows `$ref` and merges `allOf`, so that one object says everything that is not a choice. */
export function flatten(schema: Schema, context: ValueContext, at: string, hops: number): Schema {
  const foreign = NOT_SUPPORTED.find((keyword) => schema[keyword] !== undefined && schema[keyword] !== true);
  if (foreign) throw new UnsupportedSchema(`The keyword ${foreign} is not supported, at ${at}.`);
  if (hops > MAX_VALUE_DEPTH) throw new UnsupportedSchema(`References never end, at ${at}.`);
  let flat = schema;
  if (typeof flat.$ref === "string") {
    const { $ref, ...rest } = flat;
    const target = resolveRef($ref, context.root);
    if (target === undefined)
      throw new UnsupportedSchema(`Only references inside the schema are supported, at ${at}.`);
    flat = foldIn(rest, target, { context, at, hops });
  }
  if (Array.isArray(flat.allOf)) {
    const { allOf, ...rest } = flat;
    flat = allOf.reduce<Schema>((sum, part) => foldIn(sum, part, { context, at, hops }), rest);
  }
  return flat;
}

function foldIn(
  schema: Schema,
  part: Json,
  { context, at, hops }: { context: ValueContext; at: string; hops: number },
): Schema {
  if (part === true) return schema;
  if (!isObject(part)) throw new UnsupportedSchema(`Nothing satisfies the schema, at ${at}.`);
  return merge(schema, flatten(part, context, at, hops + 1));
}

/** Combines two schemas, which are merged only when a value is made. */
export function both(a: Schema, b: Json): Schema {
  if (b === true) return a;
  return { allOf: [a, b] };
}

/** The intersection of two flat schemas, as far as keywords can express it; the final check catches the rest. */
function merge(a: Schema, b: Schema): Schema {
  const merged: Schema = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = merged[key];
    if (mine === undefined) {
      merged[key] = value;
    } else if (key === "type") {
      merged[key] = commonTypes(toArray(mine), toArray(value));
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
      merged[key] = [...new Set([...toArray(mine), ...toArray(value)])];
    } else if (key === "enum") {
      const others = toArray(value).map((item) => JSON.stringify(item));
      merged[key] = toArray(mine).filter((item) => others.includes(JSON.stringify(item)));
    } else if (typeof mine === "number" && typeof value === "number") {
      merged[key] =
        key.startsWith("min") || key === "exclusiveMinimum"
          ? Math.max(mine, value)
          : key === "multipleOf"
            ? leastCommon(mine, value)
            : Math.min(mine, value);
    } else if (key === "anyOf" || key === "oneOf") {
      // Every pair from the two lists of choices is a choice.
      if (toArray(mine).length * toArray(value).length > MAX_CHOICES) {
        throw new UnsupportedSchema("The schema has too many combinations of choices.");
      }
      const pairs = toArray(mine).flatMap((left) =>
        toArray(value).map((right) => ({ allOf: [left, right] })),
      );
      merged[key] = pairs;
    } else if (key === "uniqueItems") {
      merged[key] = mine === true || value === true;
    } else if (key === "not") {
      merged[key] = { anyOf: [mine, value] };
    } else if (key === "prefixItems") {
      const [left, right] = [toArray(mine), toArray(value)];
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

export const toArray = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

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

/** The least common multiple of two numbers, or their product if a thousand multiples of the first do not include it. */
export function leastCommon(a: number, b: number): number {
  for (let factor = 1; factor <= 1_000; factor += 1) {
    if (Number.isInteger((a * factor) / b)) return a * factor;
  }
  return a * b;
}
