import { expect, test } from "vitest";
import { z } from "zod";
import "./issue-words";

type Case = [schema: z.ZodType, value: unknown, message: string];

/** Examples of every kind of issue that zod has; a new kind does not compile here. */
const CASES: Record<z.core.$ZodIssue["code"], Case[]> = {
  invalid_type: [
    [z.string(), undefined, "Field required"],
    [z.string(), 5, "Must be a string, not a number."],
    [z.array(z.string()), "a", "Must be an array, not a string."],
    [z.strictObject({}), [], "Must be an object, not an array."],
    [z.boolean(), null, "Must be true or false, not null."],
    [z.int(), 1.5, "Must be a whole number."],
    [z.record(z.string(), z.string()), 5, "Must be an object, not a number."],
  ],
  invalid_value: [
    [z.enum(["a", "b"]), "c", 'Use one of: "a", "b".'],
    [z.enum(["a", "b"]), undefined, "Field required"],
    [z.literal("v1"), "v2", 'Must be "v1".'],
  ],
  too_small: [
    [z.string().min(1), "", "This cannot be empty."],
    [z.string().min(3), "a", "At least 3 characters."],
    [z.array(z.string()).min(1), [], "At least 1 item."],
    [z.string().length(4), "a", "Exactly 4 characters."],
    [z.number().min(2), 1, "At least 2."],
    [z.number().gt(0), 0, "More than 0."],
  ],
  too_big: [
    [z.string().max(1500), "a".repeat(1501), "At most 1,500 characters."],
    [z.array(z.string()).max(1), ["a", "b"], "At most 1 item."],
    [z.number().max(2), 3, "At most 2."],
    [z.number().lt(2), 2, "Less than 2."],
  ],
  invalid_format: [
    [z.email(), "a", "Must be an email address."],
    [z.iso.date(), "a", "Must be a date as ISO 8601 writes it, such as 2026-02-28."],
    [z.base64(), "!", "Must be base64."],
    [z.string().regex(/^\d+$/), "a", "Must match the pattern /^\\d+$/."],
    [z.string().startsWith("cap_"), "a", 'Must start with "cap_".'],
    [z.string().endsWith("_"), "a", 'Must end with "_".'],
    [z.string().includes("@"), "a", 'Must contain "@".'],
    [z.nanoid(), "!", "Must be a valid nanoid."],
  ],
  not_multiple_of: [[z.number().multipleOf(8), 9, "Must be a multiple of 8."]],
  unrecognized_keys: [
    [
      z.strictObject({ a: z.string().optional(), b: z.string().optional() }),
      { c: 1 },
      "Unknown field. Remove it or check its spelling. Accepted here: a, b.",
    ],
  ],
  invalid_union: [
    [z.union([z.string(), z.array(z.string())]), 5, "Must be a string or an array."],
    [z.union([z.literal(7), z.literal(30)]), 8, "Use one of: 7, 30."],
    [z.union([z.literal("auto"), z.number()]), true, 'Must be "auto" or a number.'],
    [
      z.discriminatedUnion("type", [z.object({ type: z.literal("a") }), z.object({ type: z.literal("b") })]),
      { type: "c" },
      'Use one of: "a", "b".',
    ],
    [
      z.union([z.object({ a: z.string().min(2) }), z.object({ a: z.string().min(3) })]),
      { a: "" },
      "This is none of the accepted forms.",
    ],
    [z.xor([z.string(), z.string()]), "a", "Several of the accepted forms fit. Send one of them."],
  ],
  invalid_key: [[z.record(z.string().max(1), z.string()), { ab: "" }, "This name is not allowed here."]],
  invalid_element: [[z.map(z.object({}), z.string()), new Map([[{}, 1]]), "An entry is invalid."]],
  custom: [
    [z.string().refine(() => false), "a", "This value is not allowed here."],
    [z.string().min(12, "Choose a longer one."), "a", "Choose a longer one."],
  ],
};

test.each(Object.entries(CASES).flatMap(([code, cases]) => cases.map((each) => [code, ...each] as const)))(
  "an issue of kind %s has a message of ours",
  (_code, schema, value, message) => {
    expect(schema.safeParse(value).error?.issues.map((issue) => issue.message)).toEqual([message]);
  },
);
