import { RE2JS } from "re2js";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";

/* Checks a caller's JSON Schema before anything compiles it. */

export const MAX_SCHEMA_BYTES = 64 * 1024;
export const MAX_SCHEMA_DEPTH = 32;

export const DRAFT_7 = "http://json-schema.org/draft-07/schema";
export const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";
export type SchemaDraft = typeof DRAFT_7 | typeof DRAFT_2020;

export type JsonSchema = Record<string, Json>;
/** A fault of a schema, and its place in the schema. */
export type SchemaProblem = { path: (string | number)[]; message: string };

/** The draft that a schema names; 2020-12 if it names none, null if it names another one. */
export function schemaDraft(schema: JsonSchema): SchemaDraft | null {
  if (schema.$schema === undefined) return DRAFT_2020;
  const named = typeof schema.$schema === "string" ? schema.$schema.replace(/#$/, "") : "";
  return named === DRAFT_7 || named === DRAFT_2020 ? named : null;
}

/**
 * Checks size and depth, which decide whether the schema may be copied to another thread at all. Yields between its passes, because
 * each takes time on an object with many names.
 */
export function* checkSize(schema: JsonSchema): Generator<undefined, SchemaProblem | null> {
  // Checks the depth first, because a schema that is too deep cannot be serialized either.
  let level: object[] = [schema];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_SCHEMA_DEPTH)
      return { path: [], message: `The schema is nested more than ${MAX_SCHEMA_DEPTH} levels deep.` };
    // A loop, because flatMap took a tenth of a second over the 90,000 lists that a body may hold.
    const next: object[] = [];
    for (const node of level)
      for (const value of Array.isArray(node) ? node : Object.values(node))
        if (typeof value === "object" && value !== null) next.push(value);
    level = next;
  }
  yield;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > MAX_SCHEMA_BYTES
    ? { path: [], message: `The schema has ${bytes} bytes; at most ${MAX_SCHEMA_BYTES} are allowed.` }
    : null;
}

/** Keywords that hold schemas by name, schemas in a list, or data that is not a schema. */
const BY_NAME = [
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
];
const IN_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const DATA = ["const", "enum", "default", "examples", "example"];
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];

/**
 * Checks that the draft is supported, references stay inside the schema, patterns take linear time and nothing is asynchronous.
 * Null if all of this is so.
 */
export function checkStructure(schema: JsonSchema): SchemaProblem | null {
  if (!schemaDraft(schema))
    return { path: ["$schema"], message: `It must be ${DRAFT_2020} or ${DRAFT_7}#, or be left out.` };
  return checkNode(schema, []);
}

function checkNode(node: Json, path: (string | number)[]): SchemaProblem | null {
  if (!isObject(node)) return null;
  for (const [key, value] of Object.entries(node)) {
    const at = [...path, key];
    const found = checkKeyword(key, value, at);
    if (found) return found;
  }
  return null;
}

function checkKeyword(key: string, value: Json, at: (string | number)[]): SchemaProblem | null {
  if (DATA.includes(key)) return null;
  if (REFERENCES.includes(key) && typeof value === "string" && !value.startsWith("#"))
    return { path: at, message: "Only references inside the schema itself (#...) are followed." };
  if (key === "$async") return { path: at, message: "Asynchronous schemas are not supported." };
  if (key === "pattern" && typeof value === "string") return checkPattern(value, at);
  if (IN_LISTS.includes(key) && Array.isArray(value))
    return first(value.map((part, place) => () => checkNode(part, [...at, place])));
  if (BY_NAME.includes(key) && isObject(value))
    return first(
      Object.entries(value).map(([name, part]) => () => {
        const inner = [...at, name];
        return (key === "patternProperties" ? checkPattern(name, inner) : null) ?? checkNode(part, inner);
      }),
    );
  return checkNode(value, at);
}

function first(checks: (() => SchemaProblem | null)[]): SchemaProblem | null {
  for (const check of checks) {
    const found = check();
    if (found) return found;
  }
  return null;
}

function checkPattern(pattern: string, path: (string | number)[]): SchemaProblem | null {
  try {
    toMatcher(pattern);
    return null;
  } catch {
    return {
      path,
      message:
        "The pattern cannot be matched in linear time: look-around and back-references are not supported.",
    };
  }
}

/** Compiles a pattern on RE2, which matches in linear time. Throws for what RE2 cannot do, such as look-around. */
export function toMatcher(pattern: string): { test(text: string): boolean } {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.matcher(text).find() };
}
