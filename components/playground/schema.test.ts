import { expect, test } from "vitest";
import { z } from "zod";
import { ImageInput } from "@/server/contract/images";
import {
  blankOf,
  boundsOf,
  fieldLabel,
  fieldOf,
  type InputSchema,
  settle,
  variantOf,
  withValue,
} from "./schema";

const root: InputSchema = { $defs: { Size: { type: "integer", minimum: 1, maximum: 4 } } };

test("a reference and a null that means absent are resolved", () => {
  expect(settle({ $ref: "#/$defs/Size", default: 2 }, root)).toEqual({
    type: "integer",
    minimum: 1,
    maximum: 4,
    default: 2,
  });
  expect(fieldOf("count", { anyOf: [{ $ref: "#/$defs/Size" }, { type: "null" }] }, root)).toMatchObject({
    kind: "number",
    integer: true,
  });
});

test.each<[string, InputSchema, string]>([
  ["prompt", { type: "string" }, "text"],
  ["sourceArtifactId", { type: "string" }, "artifact"],
  ["dataBase64", { type: "string" }, "file"],
  ["rounding", { enum: ["up", "down"] }, "choice"],
  ["mode", { anyOf: [{ const: "a" }, { const: "b" }] }, "choice"],
  ["content", { anyOf: [{ type: "string" }, { type: "array", items: {} }] }, "variants"],
  ["messages", { type: "array", items: { type: "object" } }, "list"],
  ["variables", { type: "object", additionalProperties: { type: "string" } }, "json"],
  ["anything", {}, "json"],
])("%s of %j becomes the field kind %s", (name, schema, kind) => {
  expect(fieldOf(name, schema, root).kind).toBe(kind);
});

test("a field's bounds are described in words", () => {
  expect(boundsOf({ type: "integer", minimum: 1, maximum: 4, default: 1 })).toBe("1 to 4; default 1");
  expect(boundsOf({ type: "string", maxLength: 4100 })).toBe("at most 4,100 characters");
  expect(boundsOf({ type: "integer", maximum: Number.MAX_SAFE_INTEGER })).toBeNull();
});

test("names become labels", () => {
  expect(fieldLabel("maxOutputTokens")).toBe("Max output tokens");
  expect(fieldLabel("artifactId")).toBe("Artifact id");
});

test("a blank value has what is required and nothing else", () => {
  expect(
    blankOf(
      {
        type: "object",
        required: ["role"],
        properties: { role: { enum: ["user"] }, note: { type: "string" } },
      },
      root,
    ),
  ).toEqual({ role: "user" });
});

test("a value's variant is found by its shape", () => {
  const parts: InputSchema[] = [
    { type: "object", required: ["type"], properties: { type: { const: "text" } } },
    { type: "object", required: ["type"], properties: { type: { const: "image" } } },
  ];
  expect(variantOf({ type: "image" }, parts)).toBe(1);
});

test("the adapters of an image request are drawn as a list of entries with alias, id and weight", () => {
  const schema = z.toJSONSchema(ImageInput, { io: "input" }) as InputSchema; // as in the published schema
  const field = fieldOf("adapters", schema.properties?.adapters ?? {}, schema);
  if (field.kind !== "list") throw new Error(`became ${field.kind}`);
  const entry = fieldOf("adapter", field.items, schema);
  if (entry.kind !== "object") throw new Error(`became ${entry.kind}`);
  expect(blankOf(entry.schema, schema)).toEqual({});
  const drawn = Object.entries(entry.schema.properties ?? {}).map(([name, each]) => {
    const { kind, schema: own } = fieldOf(name, each, schema);
    return [name, kind, own.description, boundsOf(own)];
  });
  expect(drawn).toEqual([
    ["alias", "text", expect.stringContaining("promoted"), "at most 64 characters"],
    ["adapterId", "text", "An adapter id, instead of an alias.", "at most 128 characters"],
    ["weight", "number", expect.stringContaining("recommended"), "0 to 2"],
  ]);
});

test("a change copies the objects on its path and removes undefined values", () => {
  const before = { a: [{ b: 1 }], c: 2 };
  expect(withValue(before, ["a", 0, "b"], 3)).toEqual({ a: [{ b: 3 }], c: 2 });
  expect(withValue(before, ["c"], undefined)).toEqual({ a: [{ b: 1 }] });
  expect(before).toEqual({ a: [{ b: 1 }], c: 2 });
});
