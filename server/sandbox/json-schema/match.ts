import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { matchesPattern } from "./pattern";

export type Schema = { [keyword: string]: Json };

/** Resolves a local reference (`#`, `#/json/pointer`, `#anchor`) to its subschema; undefined if it is not in this document. */
export function resolveRef(ref: string, root: Json): Json | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#")) return undefined;
  if (!ref.startsWith("#/")) return findAnchor(root, ref.slice(1));
  let found: Json | undefined = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isObject(found) && Object.hasOwn(found, key)) found = found[key];
    else return undefined;
  }
  return found;
}

function findAnchor(node: Json, anchor: string): Json | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if (isObject(node) && node.$anchor === anchor) return node;
  for (const child of Object.values(node)) {
    const found = findAnchor(child, anchor);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * True if the value satisfies the schema. Covers the keywords of JSON Schema 2020-12 that the sandbox makes values for. Throws
 * `UnsupportedPattern` for a pattern that pattern.ts does not support.
 */
export function matchesSchema(value: Json, schema: Json, root: Json): boolean {
  return check(value, schema, { root, budget: { left: MAX_CHECKS }, hops: 0 });
}

const MAX_CHECKS = 500_000;
const MAX_HOPS = 300;

/** False also after `MAX_CHECKS` checks, or `MAX_HOPS` nested ones, as for a schema that keeps referring to itself. */
function check(
  value: Json,
  schema: Json,
  { root, budget, hops }: { root: Json; budget: { left: number }; hops: number },
): boolean {
  if (typeof schema === "boolean") return schema;
  budget.left -= 1;
  if (!isObject(schema) || budget.left < 0 || hops > MAX_HOPS) return false;
  const matches = (item: Json, part: Json) => check(item, part, { root, budget, hops: hops + 1 });

  if (typeof schema.$ref === "string") {
    const target = resolveRef(schema.$ref, root);
    if (target === undefined || !matches(value, target)) return false;
  }
  if (schema.type !== undefined && !types(schema.type).some((type) => isOfType(value, type))) return false;
  if (schema.const !== undefined && !isSame(value, schema.const)) return false;
  if (Array.isArray(schema.enum) && !schema.enum.some((item) => isSame(value, item))) return false;
  if (Array.isArray(schema.allOf) && !schema.allOf.every((part) => matches(value, part))) return false;
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((part) => matches(value, part))) return false;
  if (Array.isArray(schema.oneOf) && schema.oneOf.filter((part) => matches(value, part)).length !== 1)
    return false;
  if (schema.not !== undefined && matches(value, schema.not)) return false;
  if (schema.if !== undefined) {
    const branch = matches(value, schema.if) ? schema.then : schema.else;
    if (branch !== undefined && !matches(value, branch)) return false;
  }
  if (typeof value === "number") return numberMatches(value, schema);
  if (typeof value === "string") return stringMatches(value, schema);
  if (Array.isArray(value)) return arrayMatches(value, schema, matches);
  if (isObject(value)) return objectMatches(value, schema, matches);
  return true;
}

type Matches = (item: Json, part: Json) => boolean;
const types = (type: Json): Json[] => (Array.isArray(type) ? type : [type]);
const within = (value: number, least: Json | undefined, most: Json | undefined) =>
  !(typeof least === "number" && value < least) && !(typeof most === "number" && value > most);

function isOfType(value: Json, type: Json): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function isSame(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index] ?? null));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isSame(a[key] ?? null, b[key] ?? null))
    );
  }
  return a === b;
}

function numberMatches(value: number, schema: Schema): boolean {
  const { multipleOf, exclusiveMinimum, exclusiveMaximum } = schema;
  if (!within(value, schema.minimum, schema.maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== "number" || Number.isInteger(value / multipleOf);
}

function stringMatches(value: string, schema: Schema): boolean {
  if (!within([...value].length, schema.minLength, schema.maxLength)) return false;
  return typeof schema.pattern !== "string" || matchesPattern(schema.pattern, value);
}

function arrayMatches(value: Json[], schema: Schema, matches: Matches): boolean {
  if (!within(value.length, schema.minItems, schema.maxItems)) return false;
  if (
    schema.uniqueItems === true &&
    value.some((item, index) => value.slice(0, index).some((other) => isSame(item, other)))
  ) {
    return false;
  }
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const { items, contains } = schema;
  const fits = value.every((item, index) => {
    const part = prefix[index] ?? items;
    return part === undefined || matches(item, part);
  });
  if (!fits) return false;
  if (contains === undefined) return true;
  const found = value.filter((item) => matches(item, contains)).length;
  return within(found, schema.minContains ?? 1, schema.maxContains);
}

function objectMatches(value: Schema, schema: Schema, matches: Matches): boolean {
  const names = Object.keys(value);
  if (!within(names.length, schema.minProperties, schema.maxProperties)) return false;
  const needs = (required: Json | undefined) =>
    !Array.isArray(required) ||
    required.every((name) => typeof name !== "string" || Object.hasOwn(value, name));
  if (!needs(schema.required)) return false;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const patterns = isObject(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
  const dependent = isObject(schema.dependentRequired) ? schema.dependentRequired : {};
  return names.every((name) => {
    const item = value[name] ?? null;
    const parts = patterns.filter(([pattern]) => matchesPattern(pattern, name)).map(([, part]) => part);
    if (Object.hasOwn(properties, name)) parts.push(properties[name] ?? true);
    if (parts.length === 0 && schema.additionalProperties !== undefined)
      parts.push(schema.additionalProperties);
    if (schema.propertyNames !== undefined && !matches(name, schema.propertyNames)) return false;
    return (
      parts.every((part) => matches(item, part)) &&
      (!Object.hasOwn(dependent, name) || needs(dependent[name]))
    );
  });
}
