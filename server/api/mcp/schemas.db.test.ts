import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tools } from "./call";
import { listedInput, strictInput, withoutNulls } from "./schemas";

/* The schemas of the tools' arguments, read by clients with rules of their own. */

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  anyOf?: Schema[];
  items?: Schema;
};

/** Tools that take an object of any fields: each says which argument, and where its fields are described. */
const OPEN = [
  "quote_capability",
  "request_capability_quote",
  "invoke",
  "submit_job",
  "pinned_run",
  "pinned_bulk",
  "verify_lockfile",
];

/** Of OpenAI's strict mode, by its guide to structured outputs. */
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
  "%s is strict as OpenAI has it where that is asked for, or named as one that cannot be",
  (name) => {
    expect(isStrict(strictOf(name))).toBe(!OPEN.includes(name));
    const note = tools.find((tool) => tool.name === name)?.open;
    expect(note === undefined).toBe(!OPEN.includes(name));
  },
);

test.each(tools.map(({ name }) => name))(
  "%s has no word that Gemini lacks, but for the one that strict mode needs",
  (name) => {
    const more = wordsOf(listedOf(name)).filter((word) => !GEMINI.includes(word));
    expect(more).toEqual(OPEN.includes(name) ? [] : ["additionalProperties"]);
    for (const { type } of everyPart(listedOf(name))) expect(Array.isArray(type)).toBe(false);
  },
);

/** The least a strict client may send: null wherever that is allowed; or nothing there, as others do. */
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
  "a client that checks calls against the list may leave out what $name may go without",
  ({ name, input }) => {
    const isValid = new Ajv({ strict: false }).compile(listedOf(name));
    const needed = input.toJSONSchema({ io: "input", unrepresentable: "any" }).required ?? [];
    expect(listedOf(name).required ?? []).toEqual(needed);
    if (needed.length === 0) expect([isValid({}), isValid.errors]).toEqual([true, null]);
  },
);

test.each(tools.filter(({ open }) => open === undefined))(
  "$name takes null for what may be left out, as it takes its absence",
  ({ name, input }) => {
    const [said, unsaid] = [true, false].map((isSaid) => least(listedOf(name), isSaid));
    const parsed = input.safeParse(withoutNulls(said));
    expect(parsed.error?.issues).toBeUndefined();
    expect(Object.keys(Object(parsed.data))).toEqual(Object.keys(Object(input.parse(unsaid))));
  },
);

describe("a schema as it is listed", () => {
  const Named = z
    .strictObject({ at: z.literal("x"), size: z.int().min(1).max(9).default(3) })
    .meta({ id: "Named" });

  test("closed: references are written out, constants are enums, what may be absent may be null", () => {
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

  test("strict: every property is required, at every depth", () => {
    const { schema } = listedInput(z.strictObject({ named: z.array(Named).optional() }));
    const strict = strictInput(schema) as Schema;
    expect(strict.required).toEqual(["named"]);
    expect(strict.properties?.named?.anyOf?.[0]?.items?.required).toEqual(["at", "size"]);
    expect(schema.required).toBeUndefined();
  });

  test("open: only what is required is, and nothing says that more is refused", () => {
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
