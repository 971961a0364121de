import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { randomFrom } from "../random";
import { fromPattern, matchesPattern, UnsupportedPattern } from "./pattern";

const PATTERNS = [
  "",
  "a",
  "^abc$",
  "^a*$",
  "a+b?c",
  "^(a|b)*c$",
  "^(?:ab|a)(?:c|bcd)d*$",
  "^[a-c]{2,4}$",
  "^[^a-c]+$",
  "^\\d{3}-\\d{2,}$",
  "^\\w+\\s\\W$",
  "^.{3}$",
  "^(a{2}){2}$",
  "^(a*)*b$",
  "^(a|a)*$",
  "a{0}b",
  "^(|a)b$",
  "\\.$",
  "^[\\]\\-x]+$",
  "^[a-]+$",
  "^\\u{61}\\x62$",
  "(^a)|(b$)",
];

describe("patterns", () => {
  test.each(PATTERNS)("%s matches what RegExp matches", (pattern) => {
    const expression = new RegExp(pattern, "u");
    const text = fc.oneof(
      fc.string({
        unit: fc.constantFrom("a", "b", "c", "d", "1", "-", " ", ".", "x", "]", "é", "\n"),
        maxLength: 8,
      }),
      fc.constant("abcd"),
    );
    fc.assert(
      fc.property(text, (candidate) => matchesPattern(pattern, candidate) === expression.test(candidate)),
      campaign.runs({ small: 400, full: 4_000 }),
    );
  });

  test.each(PATTERNS)("%s makes strings that RegExp matches", (pattern) => {
    for (let repeats = 0; repeats < 5; repeats += 1) {
      const text = fromPattern(pattern, randomFrom(`${repeats}`), repeats);
      expect(text).not.toBeNull();
      expect(text).toMatch(new RegExp(pattern, "u"));
    }
  });

  test.each([
    "(",
    ")",
    "[a",
    "a{",
    "*a",
    "a{2,1}",
    "\\b",
    "\\1",
    "(?=a)",
    "(?<!a)",
    "\\p{L}",
    "\\u{110000}",
    "[b-a]",
  ])("%s is refused", (pattern) => expect(() => matchesPattern(pattern, "a")).toThrow(UnsupportedPattern));
});
