import { expect, test } from "vitest";
import { z } from "zod";
import { toIssues } from "@/server/errors-wire";
import { inWords } from "./field-issue";

const Body = z.object({
  empty: z.string().min(1),
  short: z.string().min(3),
  long: z.string().max(1500),
  few: z.number().min(2),
  many: z.array(z.string()).max(1),
  own: z.string().min(12, "Choose a longer one."),
  kind: z.enum(["a", "b"]),
  whole: z.int(),
});

test("an exceeded bound and a fractional number get plain messages, and a schema's own message is kept", () => {
  const sent = {
    empty: "",
    short: "a",
    long: "a".repeat(1501),
    few: 1,
    many: ["a", "b"],
    own: "a",
    kind: "c",
    whole: 1.5,
  };
  const issues = toIssues(Body.safeParse(sent).error?.issues ?? [], "body");
  expect(issues.map((issue) => inWords(issue)).map(({ loc, msg }) => [loc.at(-1), msg])).toEqual([
    ["empty", "This cannot be empty."],
    ["short", "At least 3 characters."],
    ["long", "At most 1,500 characters."],
    ["few", "At least 2."],
    ["many", "At most 1."],
    ["own", "Choose a longer one."],
    ["kind", expect.stringContaining("expected one of")],
    ["whole", "Enter a whole number."],
  ]);
});
