import { createHash } from "node:crypto";
import { z } from "zod";
import { JsonValue } from "@/server/contract/common";

export type OpenApiSchema = Record<string, unknown>;
export type Media = { schema: OpenApiSchema; example?: unknown };
export type ResponseContent = Record<string, Media>;
export type Ref = { $ref: string };
export type Parameter = {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: OpenApiSchema;
};
export type Response = { description: string; content?: ResponseContent };
/** Parts that several operations of a document share. `withOneList` merges `inputs` into `schemas`. */
export type Components = {
  inputs: Record<string, OpenApiSchema>;
  schemas: Record<string, OpenApiSchema>;
  responses: Record<string, Response>;
};

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/**
 * Shares a response among the operations that return the same one. Its name is like `Error404_NotFound`, or ends in a hash if
 * that is too long.
 */
export function sharedResponse(
  { responses }: Components,
  name: string,
  codes: string[],
  response: Response,
): Ref {
  const all = codes.join("_");
  const short = all.length <= MOST_NAME ? all : createHash("sha256").update(all).digest("hex").slice(0, 6);
  const full = short ? `${name}_${short}` : name;
  const there = responses[full];
  if (there && JSON.stringify(there) !== JSON.stringify(response))
    throw new Error(`${full} means two things`);
  responses[full] = response;
  return { $ref: `#/components/responses/${full}` };
}
const MOST_NAME = 24;

/**
 * A schema for the document; a schema with an id becomes a component. Responses are published as open objects, so that
 * fields added later break no client.
 */
export function openApiSchema(
  schema: z.ZodType,
  io: "input" | "output",
  components: Components,
): OpenApiSchema {
  const made: OpenApiSchema = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (io === "output" && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      if (zodSchema === JsonValue) delete jsonSchema.anyOf; // recursive (contract/common.ts)
      // A Unicode property needs a flag that JSON Schema cannot express: Python, Go and others reject the pattern.
      if (jsonSchema.pattern?.includes("\\p{")) delete jsonSchema.pattern;
      if (io === "input" && mayNotBeBlank(zodSchema, jsonSchema)) jsonSchema.pattern = "\\S";
      // zod omits the default of a field that is transformed on input, where the default applies as well.
      if (io === "input" && zodSchema._zod.def.type === "default")
        jsonSchema.default ??= (zodSchema as z.ZodDefault).def.defaultValue as never;
      if (jsonSchema.format === "date-time" || jsonSchema.format === "date") delete jsonSchema.pattern;
      // A constraint that every name in JSON meets, because names are strings.
      if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
      if (jsonSchema.minimum === -Number.MAX_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const { $schema: _, $defs = {}, ...rest }: OpenApiSchema & { $defs?: Record<string, OpenApiSchema> } = made;
  const place = io === "input" ? "inputs" : "schemas";
  const keep = (name: string, { id: _, ...body }: OpenApiSchema) => {
    components[place][name] = compact(io === "input" ? sayDefaults(name, body) : body, place);
  };
  for (const [name, definition] of Object.entries($defs)) keep(name, definition);
  const { id } = rest;
  if (typeof id !== "string") return compact(rest, place);
  keep(id, rest);
  return { $ref: `#/components/${place}/${id}` };
}

/**
 * Schemas of requests that run or price work. Type generators make a field with a default required, and callers omit
 * most of these fields.
 */
const SAID_IN_WORDS = new Set([
  "CapabilityContext",
  "CapabilityExecutionOptions",
  "CapabilityInvokeRequest",
  "CapabilityJobRequest",
  "ExecutionConstraints",
  "PinnedBulkRequest",
  "PinnedRequest",
  "RetailEstimateRequest",
]);

const EMPTY = ["null", '""', "[]", "{}"];

/** Moves the defaults of such a request's fields into their descriptions. */
function sayDefaults(name: string, schema: OpenApiSchema): OpenApiSchema {
  if (!SAID_IN_WORDS.has(name)) return schema;
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    if (value === null || typeof value !== "object" || !("default" in value)) return value;
    const { default: given, description, ...rest } = value;
    // An omitted field looks empty anyway.
    const words = EMPTY.includes(JSON.stringify(given)) ? undefined : `Default: \`${given}\`.`;
    return { ...rest, description: [description, words].filter(Boolean).join(" ") || undefined };
  });
}

const INPUT_REF = "#/components/inputs/";

/** The document with one list of schemas. An id that is used for input and output has a component for each. */
export function withOneList<D extends { components: Components }>(document: D) {
  const { inputs, schemas, ...components } = document.components;
  const nameOf = (id: string) => (id in schemas ? `${id}Input` : id);
  const taken = Object.fromEntries(Object.entries(inputs).map(([id, schema]) => [nameOf(id), schema]));
  const whole = { ...document, components: { ...components, schemas: sorted({ ...schemas, ...taken }) } };
  return JSON.parse(JSON.stringify(whole), (key, value) =>
    key === "$ref" && typeof value === "string" && value.startsWith(INPUT_REF)
      ? ref(nameOf(value.slice(INPUT_REF.length))).$ref
      : value,
  ) as typeof whole;
}

export const sorted = <T>(components: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));

/** True for a trimmed string that must not be blank, which the generated schema alone does not express. */
function mayNotBeBlank(
  schema: z.core.$ZodType,
  { type, minLength, pattern }: z.core.JSONSchema.BaseSchema,
): boolean {
  if (type !== "string" || !minLength || pattern !== undefined) return false;
  return !z.safeParse(schema, " ".repeat(minLength)).success;
}

/** The same schema with references to the document's components, and a nullable scalar as a list of two types. */
function compact(schema: OpenApiSchema, place: "inputs" | "schemas"): OpenApiSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === "$ref" && typeof value === "string" && value.startsWith("#/$defs/"))
      return `#/components/${place}/${value.slice("#/$defs/".length)}`;
    const [some, none, ...more] = Array.isArray(value?.anyOf) ? value.anyOf : [];
    const isPlain = SCALARS.includes(some?.type) && !("enum" in some) && !("const" in some);
    if (!isPlain || none?.type !== "null" || more.length > 0) return value;
    const { anyOf: _, ...rest } = value;
    return { ...some, ...rest, type: [some.type, "null"] };
  });
}
const SCALARS = ["string", "number", "integer", "boolean"];
