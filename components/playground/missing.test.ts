import { expect, test } from "vitest";
import { isFileMissing, missingIn } from "./missing";
import type { InputSchema } from "./schema";

const schema: InputSchema = {
  type: "object",
  required: ["prompt", "note", "source", "artifactIds", "part"],
  properties: {
    prompt: { type: "string", minLength: 1 },
    note: { type: "string" },
    style: { type: "string", minLength: 1 },
    source: { type: "object", required: ["artifactId"], properties: { artifactId: { type: "string" } } },
    artifactIds: { type: "array", minItems: 2, items: { type: "string" } },
    part: {
      anyOf: [
        {
          type: "object",
          required: ["kind", "text"],
          properties: { kind: { const: "text" }, text: { type: "string", minLength: 1 } },
        },
        {
          type: "object",
          required: ["kind", "data"],
          properties: { kind: { const: "file" }, data: { type: "string" } },
        },
      ],
    },
  },
};
const whole = {
  prompt: "A kite",
  note: "",
  source: { artifactId: "art_1" },
  artifactIds: ["art_1", "art_2"],
  part: { kind: "text", text: "Hello" },
};
const lacks = (change: object) =>
  missingIn({ ...whole, ...change }, schema).map(({ loc, msg }) => [loc.join("."), msg]);

test("a complete input lacks nothing, with empty allowed texts and absent optional fields", () => {
  expect(lacks({})).toEqual([]);
});

test("an empty required value is reported at its path, in objects, lists and variants", () => {
  expect(lacks({ prompt: "" })).toEqual([["prompt", "This cannot be empty."]]);
  expect(lacks({ prompt: undefined, style: "" })).toEqual([
    ["prompt", "This cannot be empty."],
    ["style", "This cannot be empty."],
  ]);
  expect(lacks({ artifactIds: ["art_1"] })).toEqual([["artifactIds", "At least 2."]]);
  expect(lacks({ part: { kind: "text", text: "" } })).toEqual([["part.text", "This cannot be empty."]]);
  expect(missingIn({}, schema)).toHaveLength(5);
});

test("a missing file is distinguished from a missing text", () => {
  const source = { artifactId: "" };
  expect(lacks({ source })).toEqual([["source.artifactId", "Choose an artifact of this project."]]);
  expect(isFileMissing(missingIn({ ...whole, source }, schema))).toBe(true);
  expect(isFileMissing(missingIn({ ...whole, artifactIds: ["art_1", ""] }, schema))).toBe(true);
  expect(isFileMissing(missingIn({ ...whole, part: { kind: "file", data: "" } }, schema))).toBe(true);
  expect(isFileMissing(missingIn({ ...whole, prompt: "" }, schema))).toBe(false);
});
