import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { campaign } from "@/testing/campaign";
import { UnsupportedSchema } from "./flat";
import { isValid, make } from "./json-schema.fixture";

describe("a schema that the sandbox cannot satisfy", () => {
  test.each<[string, Json, RegExp]>([
    ["false", false, /false/],
    ["no schema at all", "text", /object or a boolean/],
    ["a foreign reference", { $ref: "https://example.com/schema" }, /inside the schema/],
    ["a missing definition", { $ref: "#/$defs/none" }, /inside the schema/],
    ["a circle of references", { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, /never end/],
    [
      "endless requirement",
      { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
      /never ends/,
    ],
    ["contradicting types", { allOf: [{ type: "string" }, { type: "integer" }] }, /type/],
    ["contradicting bounds", { type: "integer", minimum: 5, maximum: 4 }, /number/],
    ["an empty enum", { enum: [] }, /enum/],
    [
      "too few values for unique items",
      { type: "array", items: { const: 1 }, minItems: 2, uniqueItems: true },
      /different/,
    ],
    ["look-ahead", { type: "string", pattern: "^(?=a)b$" }, /pattern/],
    ["a back-reference", { type: "string", pattern: "^(a)\\1$" }, /pattern/],
    ["a broken pattern", { type: "string", pattern: "^(a$" }, /pattern/],
    ["a pattern nothing matches", { type: "string", pattern: "a^b" }, /pattern/],
    ["a pattern that makes a flood", { type: "string", pattern: "((a{9999}){9999}){9999}" }, /pattern/],
    [
      "a value that would make a backtracking matcher hang",
      { const: `${"a".repeat(5_000)}!`, allOf: [{ type: "string", pattern: "^(a|a)*$" }] },
      /No value/,
    ],
    [
      "choices without end",
      {
        allOf: Array.from({ length: 12 }, () => ({
          anyOf: Array.from({ length: 5 }, () => ({ type: "integer" })),
        })),
      },
      /combinations/,
    ],
    ["choices of itself", { anyOf: [{ $ref: "#" }, { $ref: "#" }] }, /never ends|No branch/],
    ["a dynamic reference", { $dynamicRef: "#x" }, /\$dynamicRef/],
    ["unevaluatedProperties", { type: "object", unevaluatedProperties: false }, /unevaluatedProperties/],
    ["a huge string", { type: "string", minLength: 1e9 }, /long/],
    ["a huge list", { type: "array", items: { type: "integer" }, minItems: 1e7 }, /too large/],
  ])("a schema is refused with the reason: %s", (_name, schema, message) => {
    expect(() => make(schema)).toThrow(UnsupportedSchema);
    expect(() => make(schema)).toThrow(message);
  });

  test("a random schema gives a valid value or a refusal", () => {
    const leaf = fc.oneof(
      fc.record({ type: fc.constantFrom("string", "integer", "number", "boolean", "null") }),
      fc.record(
        { type: fc.constant("string"), minLength: fc.nat(6), maxLength: fc.nat(12) },
        { requiredKeys: ["type"] },
      ),
      fc.record(
        {
          type: fc.constant("integer"),
          minimum: fc.integer({ min: -9, max: 9 }),
          maximum: fc.integer({ min: -9, max: 20 }),
          multipleOf: fc.integer({ min: 1, max: 4 }),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record({
        enum: fc.array(fc.oneof(fc.nat(3), fc.constantFrom("a", null, true)), { minLength: 1, maxLength: 4 }),
      }),
      fc.boolean(),
    );
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        leaf,
        fc.record(
          {
            type: fc.constant("object"),
            properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema")),
            required: fc.uniqueArray(fc.constantFrom("a", "b", "d")),
            additionalProperties: tie("schema"),
          },
          { requiredKeys: ["type"] },
        ),
        fc.record(
          {
            type: fc.constant("array"),
            items: tie("schema"),
            minItems: fc.nat(3),
            maxItems: fc.nat(4),
            uniqueItems: fc.boolean(),
          },
          { requiredKeys: ["type"] },
        ),
        fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
        fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
        fc.record({ not: tie("schema") }),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.string(), (candidate, seed) => {
        try {
          const value = make(candidate, seed);
          expect({ value, valid: isValid(candidate, value) }).toEqual({ value, valid: true });
        } catch (error) {
          if (!(error instanceof UnsupportedSchema)) throw error;
        }
      }),
      campaign.runs({ small: 1_000, full: 10_000 }),
    );
  });
});
