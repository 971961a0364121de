import { afterAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { checkSchema, closeSchemaPool, type JsonSchema, misfitsOf } from "./index";

afterAll(closeSchemaPool);

const person: JsonSchema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
};

/** A schema with this many levels. */
function nested(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let level = 1; level < levels; level++) schema = { not: schema };
  return schema;
}

describe("an accepted schema", () => {
  test.each<[string, JsonSchema]>([
    ["without any keyword", {}],
    ["with plain keywords", person],
    ["with references inside it", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: true } }],
    ["that refers to itself", { type: "object", properties: { child: { $ref: "#" } } }],
    ["with an anchor", { $defs: { a: { $anchor: "x", type: "string" } }, properties: { b: { $ref: "#x" } } }],
    ["of draft-07", { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] }],
    ["of 2020-12", { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{}] }],
    ["with keywords no one knows", { "x-note": { $ref: 7 }, title: "T", format: "unheard-of" }],
    ["with a reference as data", { const: { $ref: "https://example.com" }, enum: [{ $async: true }] }],
    ["with a property called like a keyword", { properties: { $ref: { type: "string" }, const: {} } }],
    ["of 32 levels", nested(32)],
    ["with a pattern", { pattern: "^\\d{3}-[A-Z]+(?<rest>\\p{L}*)$" }],
  ])("a schema %s is accepted", async (_case, schema) => expect(await checkSchema(schema)).toBeNull());
});

describe("a refused schema", () => {
  test.each<[string, JsonSchema, (string | number)[], RegExp]>([
    ["of 33 levels", nested(33), [], /32 levels/],
    ["of more than 64 kB", { description: "x".repeat(65_536) }, [], /at most 65536/],
    ["of another draft", { $schema: "http://json-schema.org/draft-04/schema#" }, ["$schema"], /draft-07/],
    [
      "with a reference outside",
      { properties: { a: { $ref: "https://x.test/y" } } },
      ["properties", "a", "$ref"],
      /inside/,
    ],
    ["with a file as reference", { $ref: "schema.json" }, ["$ref"], /inside/],
    ["with a reference to nothing", { $ref: "#/$defs/a" }, [], /resolve/],
    ["that is asynchronous", { $async: true }, ["$async"], /synchronous/],
    ["with look-ahead", { items: { pattern: "^(?=a)b" } }, ["items", "pattern"], /linear/],
    [
      "with a back-reference",
      { patternProperties: { "(a)\\1": {} } },
      ["patternProperties", "(a)\\1"],
      /linear/,
    ],
    ["with a broken pattern", { allOf: [{ pattern: "(" }] }, ["allOf", 0, "pattern"], /linear/],
    ["with an unknown type", { properties: { a: { type: "text" } } }, ["properties", "a", "type"], /It must/],
    ["with a list where 2020-12 has none", { items: [{}] }, ["items"], /It must/],
    ["with a required that is no list", { required: "a" }, ["required"], /array/],
  ])("a schema %s is refused at its place", async (_case, schema, path, message) => {
    const problem = await checkSchema(schema);
    expect(problem?.path).toEqual(path);
    expect(problem?.message).toMatch(message);
  });

  test("a schema too deep to be serialized is refused", async () => {
    expect((await checkSchema(nested(200_000)))?.message).toMatch(/32 levels/);
  });
});

describe("misfitsOf", () => {
  test("a value that fits has no misfits", async () => {
    expect(await misfitsOf(person, { name: "Ada", age: 36 })).toEqual([]);
  });

  test("a misfit has its place and reason", async () => {
    expect(await misfitsOf(person, { age: -1, rank: 1 })).toEqual([
      { at: "", keyword: "required", message: "must have required property 'name'" },
      { at: "", keyword: "additionalProperties", message: 'must NOT have additional properties ("rank")' },
      { at: "/age", keyword: "minimum", message: "must be >= 0" },
    ]);
  });

  test("inherited properties do not count as a value's own", async () => {
    expect(await misfitsOf({ required: ["toString", "constructor"] }, {})).toHaveLength(2);
    const schema: JsonSchema = { properties: { ["__proto__"]: { type: "string" } } };
    expect(await checkSchema(schema)).toBeNull();
    expect(await misfitsOf({ properties: { constructor: { type: "string" } } }, {})).toEqual([]);
  });

  test("text is matched by characters, not by UTF-16 units", async () => {
    expect(await misfitsOf({ pattern: "^.$", maxLength: 1 }, "😀")).toEqual([]);
  });

  test("a value has at most twenty misfits", async () => {
    const list: Json = Array.from({ length: 500 }, () => 1);
    expect(await misfitsOf({ items: { type: "string" } }, list)).toHaveLength(20);
  });
});

describe("a hostile schema", () => {
  test("a pattern made to backtrack is accepted, and a long text that it does not match has one misfit", async () => {
    const schema: JsonSchema = { pattern: "^(a|a)*$" };
    expect(await checkSchema(schema)).toBeNull();
    expect(await misfitsOf(schema, `${"a".repeat(5_000)}!`)).toHaveLength(1);
  });

  test("a schema that multiplies its branches is stopped, and the next one is served", {
    tags: "long",
  }, async () => {
    // Each level tries both branches of the one below: 2^28 ways to fail.
    const levels = Array.from({ length: 28 }, (_, n) => [
      `l${n}`,
      { anyOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] },
    ]);
    const schema: JsonSchema = {
      $ref: "#/$defs/l0",
      $defs: { ...Object.fromEntries(levels), l28: { type: "string" } },
    };
    const misfits = await misfitsOf(schema, 1);
    expect(misfits).toEqual([
      { at: "", keyword: "timeout", message: "could not be validated within 250 ms" },
    ]);
    expect(await misfitsOf(person, { name: "Ada" })).toEqual([]);
  });
});
