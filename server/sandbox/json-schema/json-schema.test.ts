import { describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { FORMATS, isValid, make } from "./json-schema.fixture";

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    age: { type: "integer", minimum: 0, maximum: 130 },
    email: { type: "string", format: "email" },
    tags: { type: "array", items: { type: "string" }, maxItems: 3, uniqueItems: true },
  },
  required: ["name", "age"],
  additionalProperties: false,
};
const tree = {
  $defs: {
    node: {
      type: "object",
      properties: {
        value: { type: "integer" },
        children: { type: "array", items: { $ref: "#/$defs/node" } },
      },
      required: ["value"],
      additionalProperties: false,
    },
  },
  $ref: "#/$defs/node",
};

const SATISFIABLE: [string, Json][] = [
  ["anything", true],
  ["an empty schema", {}],
  ["null", { type: "null" }],
  ["boolean", { type: "boolean" }],
  ["string", { type: "string" }],
  ["string of exact length", { type: "string", minLength: 7, maxLength: 7 }],
  ["long string", { type: "string", minLength: 900 }],
  ["empty string only", { type: "string", maxLength: 0 }],
  ["one character", { type: "string", minLength: 1, maxLength: 1 }],
  ["integer", { type: "integer" }],
  ["integer in bounds", { type: "integer", minimum: 5, maximum: 5 }],
  ["integer between exclusive bounds", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 3 }],
  ["negative integer", { type: "integer", maximum: -1000 }],
  ["integer of a multiple", { type: "integer", multipleOf: 7, minimum: 100, maximum: 106 }],
  ["integer of a fraction", { type: "integer", multipleOf: 2.5, minimum: 1 }],
  ["number", { type: "number" }],
  ["number in a narrow gap", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.001 }],
  ["cents", { type: "number", multipleOf: 0.01, minimum: 0.01, maximum: 9.99 }],
  ["tenths", { type: "number", multipleOf: 0.1, minimum: 0, maximum: 1 }],
  ["large number", { type: "number", minimum: 1e15 }],
  ["const", { const: { a: [1, null] } }],
  ["const of null", { const: null }],
  ["enum", { enum: ["red", "green", 3, null] }],
  ["enum narrowed by type", { type: "integer", enum: ["red", 4.5, 3] }],
  ["one of several types", { type: ["null", "string"] }],
  ["number or null", { type: ["number", "null"], minimum: 3 }],
  ["an object", person],
  ["required without a property of that name", { type: "object", required: ["a", "b"] }],
  [
    "a required name with its schema elsewhere",
    { required: ["a"], additionalProperties: { type: "integer" } },
  ],
  ["properties without a type", { properties: { a: { type: "integer" } }, required: ["a"] }],
  ["minProperties", { type: "object", minProperties: 3, additionalProperties: { type: "boolean" } }],
  ["maxProperties", { ...person, maxProperties: 2 }],
  [
    "patternProperties",
    { type: "object", patternProperties: { "^x_": { type: "integer" } }, required: ["x_a"] },
  ],
  [
    "names by pattern only",
    {
      type: "object",
      patternProperties: { "^[a-z]{3}\\d+$": {} },
      additionalProperties: false,
      minProperties: 3,
    },
  ],
  ["propertyNames", { type: "object", propertyNames: { pattern: "^k[0-9]+$" }, minProperties: 2 }],
  [
    "dependentRequired",
    {
      properties: { card: { type: "string" } },
      required: ["card"],
      dependentRequired: { card: ["address"] },
    },
  ],
  [
    "a name like __proto__",
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}'),
  ],
  ["an optional property that cannot be", { type: "object", properties: { a: false, b: { type: "null" } } }],
  [
    "an optional property that contradicts itself",
    { type: "object", properties: { a: { type: "integer", enum: ["x"] } } },
  ],
  ["array", { type: "array" }],
  ["array of items", { type: "array", items: { type: "integer" }, minItems: 4, maxItems: 4 }],
  ["empty array only", { type: "array", maxItems: 0, items: { type: "string" } }],
  [
    "unique items",
    { type: "array", items: { type: "integer", minimum: 1, maximum: 5 }, minItems: 5, uniqueItems: true },
  ],
  ["unique booleans", { type: "array", items: { type: "boolean" }, uniqueItems: true, minItems: 2 }],
  ["tuple", { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: false }],
  ["tuple with a rest", { prefixItems: [{ const: "head" }], items: { type: "boolean" }, minItems: 3 }],
  ["short tuple", { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], maxItems: 1 }],
  ["contains", { type: "array", items: { type: "integer" }, contains: { minimum: 50 }, minItems: 3 }],
  ["contains several", { type: "array", contains: { const: "x" }, minContains: 2, maxContains: 3 }],
  ["items that cannot be", { type: "array", items: false }],
  ["anyOf", { anyOf: [{ type: "string", maxLength: 3 }, { type: "integer" }] }],
  ["anyOf whose first branch cannot be", { anyOf: [false, { type: "integer" }] }],
  [
    "anyOf beside properties",
    { ...person, anyOf: [{ required: ["email"] }, { required: ["tags"] }], maxProperties: 3 },
  ],
  [
    "oneOf",
    {
      oneOf: [
        { type: "integer", multipleOf: 3 },
        { type: "integer", multipleOf: 5 },
      ],
    },
  ],
  [
    "a tagged union",
    {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "cat" }, lives: { type: "integer" } },
          required: ["kind", "lives"],
        },
        {
          type: "object",
          properties: { kind: { const: "dog" }, tricks: { type: "array" } },
          required: ["kind", "tricks"],
        },
      ],
    },
  ],
  [
    "anyOf and oneOf together",
    { anyOf: [{ minimum: 5 }, { minimum: 3 }], oneOf: [{ type: "integer" }, { type: "string" }] },
  ],
  ["allOf", { allOf: [{ type: "integer", minimum: 3 }, { maximum: 9 }, { multipleOf: 2 }] }],
  [
    "allOf of objects",
    {
      allOf: [
        { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
        { properties: { a: { minimum: 7 }, b: { type: "string" } }, required: ["b"] },
      ],
    },
  ],
  [
    "allOf of a reference and more",
    { $defs: { p: person }, allOf: [{ $ref: "#/$defs/p" }, { required: ["email"] }] },
  ],
  [
    "allOf of choices",
    {
      allOf: [
        { anyOf: [{ type: "string" }, { type: "integer" }] },
        { anyOf: [{ type: "integer" }, { type: "null" }] },
      ],
    },
  ],
  ["not", { type: "string", not: { const: "" } }],
  ["not a type", { not: { type: "string" } }],
  ["not required", { type: "object", not: { required: ["forbidden"] } }],
  [
    "if then",
    JSON.parse(
      '{"type":"object","properties":{"kind":{"const":"a"}},"required":["kind"],"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"]}}',
    ),
  ],
  ["if else", JSON.parse('{"type":"integer","if":{"minimum":1000},"then":false,"else":{"multipleOf":2}}')],
  ["a reference", { $defs: { id: { type: "string", format: "uuid" } }, $ref: "#/$defs/id" }],
  [
    "a reference with siblings",
    { $defs: { n: { type: "integer" } }, $ref: "#/$defs/n", minimum: 41, maximum: 41 },
  ],
  [
    "a reference by anchor",
    {
      $defs: { n: { $anchor: "num", type: "integer" } },
      type: "array",
      items: { $ref: "#num" },
      minItems: 1,
    },
  ],
  ["a reference with escapes", { $defs: { "a/b~c": { type: "null" } }, $ref: "#/$defs/a~1b~0c" }],
  ["definitions in the older place", { definitions: { n: { type: "integer" } }, $ref: "#/definitions/n" }],
  ["a tree", tree],
  [
    "a list that refers to the root",
    { type: "object", properties: { next: { $ref: "#" }, v: { type: "integer" } }, required: ["v"] },
  ],
  [
    "a recursive choice",
    {
      $defs: { e: { anyOf: [{ type: "integer" }, { type: "array", items: { $ref: "#/$defs/e" } }] } },
      $ref: "#/$defs/e",
    },
  ],
  ...Object.keys(FORMATS).map((format): [string, Json] => [`format ${format}`, { type: "string", format }]),
  ["an unknown format", { type: "string", format: "colour" }],
  ["pattern of digits", { type: "string", pattern: "^\\d{4}-\\d{2}$" }],
  ["pattern with choices", { type: "string", pattern: "^(cat|dog)s?$" }],
  ["pattern without anchors", { type: "string", pattern: "ab+c" }],
  ["pattern of classes", { type: "string", pattern: "^[A-Z][a-z_-]+[^0-9]$" }],
  ["pattern with escapes", { type: "string", pattern: "^\\$\\d+\\.\\d{2}\\u0041\\x42$" }],
  ["pattern with a length", { type: "string", pattern: "^[a-z]+$", minLength: 20, maxLength: 25 }],
  ["pattern of a slug", { type: "string", pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$", maxLength: 12 }],
  ["pattern of groups", { type: "string", pattern: "^(?:a(?<n>b){2,3})+$" }],
  ["pattern of a colour", { type: "string", pattern: "^#(?:[0-9a-fA-F]{3}){1,2}$" }],
  [
    "titles and examples are no constraints",
    { type: "integer", title: "n", description: "d", default: "x", examples: [1] },
  ],
  [
    "a recipe",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        title: { type: "string", minLength: 3, maxLength: 80 },
        servings: { type: "integer", minimum: 1, maximum: 12 },
        difficulty: { enum: ["easy", "medium", "hard"] },
        ingredients: {
          type: "array",
          minItems: 2,
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              grams: { type: "number", exclusiveMinimum: 0 },
              optional: { type: "boolean" },
            },
            required: ["name", "grams"],
            additionalProperties: false,
          },
        },
        steps: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 5 },
        source: { anyOf: [{ type: "string", format: "uri" }, { type: "null" }] },
      },
      required: ["title", "servings", "difficulty", "ingredients", "steps", "source"],
      additionalProperties: false,
    },
  ],
];

describe("fromSchema", () => {
  test.each(SATISFIABLE)(
    "the value satisfies the schema and is the same for the same seed: %s",
    (_name, schema) => {
      for (const seed of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
        const value = make(schema, seed);
        expect({ value, valid: isValid(schema, value) }).toEqual({ value, valid: true });
        expect(make(schema, seed)).toEqual(value);
      }
    },
  );

  test("an object has every property there is room for, in words of the prompt", () => {
    const value = make({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "array", items: { type: "string" } } },
    });
    expect(Object.keys(Object(value))).toEqual(["a", "b"]);
    expect(JSON.stringify(value)).toMatch(/bakery|sea/);
  });
});
