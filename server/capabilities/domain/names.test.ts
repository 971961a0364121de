import { expect, test } from "vitest";
import { toDomain, toTld } from "./names";

test("a top-level domain is accepted with or without its dot and in any script", () => {
  expect(["com", ".ORG", " dev ", "рф", "co.uk"].map(toTld)).toEqual([
    "com",
    "org",
    "dev",
    "xn--p1ai",
    "co.uk",
  ]);
});

test("a text with thousands of blanks is not a name", () => {
  const blanks = " ".repeat(2_000);
  expect([toTld(`${blanks}com`), toDomain(`example.com${blanks}`)]).toEqual([null, null]);
});
