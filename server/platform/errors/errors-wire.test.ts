import { expect, test } from "vitest";
import { z } from "zod";
import { toValidationIssues } from "./errors-wire";

const Part = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("image"), mediaType: z.enum(["image/png", "image/jpeg"]) }),
]);
const Request = z.strictObject({
  version: z.literal("v1").default("v1"),
  mode: z.enum(["a", "b"]).default("a"),
  part: Part.optional(),
  content: z.union([z.string().min(1), z.array(Part).min(1)]).default("x"),
  days: z.union([z.literal(7), z.literal(30)]).default(7),
});

/** Lists the issues of a request as `place type`. */
const wrong = (schema: z.ZodType, value: unknown) =>
  toValidationIssues(schema.safeParse(value, { reportInput: true }).error?.issues ?? [], "body").map(
    ({ loc, type }) => `${loc.slice(1).join(".")} ${type}`,
  );

test.each([
  ["a literal", z.object({ version: z.literal("v1") }), "version missing"],
  ["a choice", z.object({ mode: z.enum(["a", "b"]) }), "mode missing"],
  ["a union", z.object({ content: z.union([z.string(), z.number()]) }), "content missing"],
  ["what tells the options of a union apart", Part, "type missing"],
])("%s that is absent is reported as missing", (_what, schema, expected) => {
  expect(wrong(schema, {})).toEqual([expected]);
});

test.each([
  [{ part: {} }, ["part.type missing"]],
  [{ part: { type: null } }, ["part.type union_error"]],
  [{ part: { type: "sound" } }, ["part.type union_error"]],
  [{ part: "text" }, ["part object_type"]],
  [{ part: { type: "text" } }, ["part.text missing"]],
  [
    { content: [{ type: "image", data: "AAAA" }] },
    ["content.0.mediaType missing", "content.0.data extra_forbidden"],
  ],
  [{ content: [{ text: "x" }] }, ["content.0.type missing"]],
  [{ content: [] }, ["content array_too_short"]],
  [{ content: "" }, ["content string_too_short"]],
  [{ content: 5 }, ["content union_error"]],
  [{ days: 8 }, ["days union_error"]],
])("a union reports the issues of the option that was meant: %j", (value, expected) => {
  expect(wrong(Request, value)).toEqual(expected);
});
