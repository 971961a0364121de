import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tools } from "./call";
import { listedInput, strictInput, withoutNulls } from "./schemas";

/* The schemas of the tools' arguments, checked by the rules of different clients. */

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  anyOf?: Schema[];
  items?: Schema;
};

/** Tools that take an object of any fields: each names the argument and the place where its fields are described. */
const OPEN = [
  "quote_capability",
  "request_capability_quote",
  "invoke",
  "submit_job",
  "pinned_run",
  "pinned_bulk",
  "verify_lockfile",
];

/** Keywords of OpenAI's strict mode, from its guide to structured outputs. */
const STRICT = [
  "type",
  "description",
  "enum",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
];
STRICT.push("anyOf", "items", "properties", "required", "additionalProperties");
/** Fields of Gemini's `Schema`. */
const GEMINI = [
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "default",
  "enum",
  "example",
  "pattern",
];
GEMINI.push("items", "minItems", "maxItems", "properties", "required", "minProperties", "maxProperties");
GEMINI.push("minimum", "maximum", "minLength", "maxLength", "anyOf", "propertyOrdering");

function everyPart(schema: Schema): Schema[] {
  const { properties = {}, anyOf = [], items } = schema;
  const parts = [...Object.values(properties), ...anyOf, ...(items ? [items] : [])];
  return [schema, ...parts.flatMap(everyPart)];
}

const wordsOf = (schema: Schema) => [...new Set(everyPart(schema).flatMap((part) => Object.keys(part)))];

const isStrict = (schema: Schema) =>
  wordsOf(schema).every((word) => STRICT.includes(word)) &&
  everyPart(schema).every(
    ({ type, properties = {}, required = [], additionalProperties }) =>
      type !== "object" ||
      (additionalProperties === false && required.join() === Object.keys(properties).join()),
  );

const toolOf = (name: string) => tools.find((tool) => tool.name === name);
const listedOf = (name: string) => toolOf(name)?.listed.inputSchema as Schema;
const strictOf = (name: string) => toolOf(name)?.strictlyListed.inputSchema as Schema;

test.each(tools.map(({ name }) => name))(
  "%s is strict by OpenAI's rules on request, or listed as one that cannot be",
  (name) => {
    expect(isStrict(strictOf(name))).toBe(!OPEN.includes(name));
    const note = tools.find((tool) => tool.name === name)?.open;
    expect(note === undefined).toBe(!OPEN.includes(name));
  },
);

test.each(tools.map(({ name }) => name))(
  "%s uses no keyword that Gemini lacks, except the one that strict mode needs",
  (name) => {
    const more = wordsOf(listedOf(name)).filter((word) => !GEMINI.includes(word));
    expect(more).toEqual(OPEN.includes(name) ? [] : ["additionalProperties"]);
    for (const { type } of everyPart(listedOf(name))) expect(Array.isArray(type)).toBe(false);
  },
);

/**
 * The smallest arguments: with `isSaid`, null for every optional field, as strict clients send; otherwise optional fields are
 * left out.
 */
function least(schema: Schema, isSaid: boolean): unknown {
  const { type, properties = {}, items } = schema;
  if (type === "object")
    return Object.fromEntries(
      Object.entries(properties).flatMap(([name, part]): [string, unknown][] => {
        if (!part.anyOf) return [[name, least(part, isSaid)]];
        return isSaid ? [[name, null]] : [];
      }),
    );
  if (type === "array") return [least(items ?? {}, isSaid)];
  return type === "integer" ? 1 : type === "boolean" ? true : "x";
}

test.each(tools)(
  "a client that checks calls against the list may omit the optional arguments of $name",
  ({ name, input }) => {
    const isValid = new Ajv({ strict: false }).compile(listedOf(name));
    const needed = input.toJSONSchema({ io: "input", unrepresentable: "any" }).required ?? [];
    expect(listedOf(name).required ?? []).toEqual(needed);
    if (needed.length === 0) expect([isValid({}), isValid.errors]).toEqual([true, null]);
  },
);

test.each(tools.filter(({ open }) => open === undefined))(
  "$name accepts null for an optional argument as well as its absence",
  ({ name, input }) => {
    const [said, unsaid] = [true, false].map((isSaid) => least(listedOf(name), isSaid));
    const parsed = input.safeParse(withoutNulls(said));
    expect(parsed.error?.issues).toBeUndefined();
    expect(Object.keys(Object(parsed.data))).toEqual(Object.keys(Object(input.parse(unsaid))));
  },
);

describe("listed schemas", () => {
  const Named = z
    .strictObject({ at: z.literal("x"), size: z.int().min(1).max(9).default(3) })
    .meta({ id: "Named" });

  test("a closed schema has no references, constants become enums, and optional fields may be null", () => {
    expect(
      listedInput(z.strictObject({ named: Named, word: z.string().max(5).optional().describe("A word.") })),
    ).toEqual({
      isStrict: true,
      schema: {
        type: "object",
        properties: {
          named: {
            type: "object",
            properties: {
              at: { type: "string", enum: ["x"] },
              size: { anyOf: [{ type: "integer", minimum: 1, maximum: 9 }, { type: "null" }] },
            },
            required: ["at"],
            additionalProperties: false,
          },
          word: { description: "A word.", anyOf: [{ type: "string" }, { type: "null" }] },
        },
        required: ["named"],
        additionalProperties: false,
      },
    });
  });

  test("a strict schema requires every property, at every depth", () => {
    const { schema } = listedInput(z.strictObject({ named: z.array(Named).optional() }));
    const strict = strictInput(schema) as Schema;
    expect(strict.required).toEqual(["named"]);
    expect(strict.properties?.named?.anyOf?.[0]?.items?.required).toEqual(["at", "size"]);
    expect(schema.required).toBeUndefined();
  });

  test("an open schema requires only the required fields and does not forbid others", () => {
    const Open = z.strictObject({ any: z.record(z.string(), z.json()), word: z.string().optional() });
    expect(listedInput(Open)).toEqual({
      isStrict: false,
      schema: {
        type: "object",
        properties: { any: { type: "object" }, word: { type: "string" } },
        required: ["any"],
      },
    });
  });
});
