import fc from "fast-check";
import { expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { finderIn } from "./place";

const found = (page: string, quote: string) => {
  const place = finderIn([page])(quote);
  return place && page.slice(place.start, place.end);
};

test.each<[string, string, string, string]>([
  ["as it is", "The total is 118.40 EUR.", "total is 118.40", "total is 118.40"],
  ["over a line break", "signed by\n  Ada Lovelace", "signed by Ada Lovelace", "signed by\n  Ada Lovelace"],
  ["with a break of its own", "signed by Ada Lovelace", " signed\nby Ada ", "signed by Ada"],
  ["with a space that does not break", "5\u00a0000 EUR", "5 000 EUR", "5\u00a0000 EUR"],
  ["with ligatures", "The o\ufb03ce is \ufb01ne", "office is fine", "o\ufb03ce is \ufb01ne"],
  ["with soft hyphens", "the agree\u00adment", "agreement", "agree\u00adment"],
  ["with a soft hyphen at the end of a line", "the agree\u00ad\nment", "agreement", "agree\u00ad\nment"],
  ["with a word broken at the end of a line", "the agree-\nment ends", "agreement ends", "agree-\nment ends"],
  ["with a hyphen that stays", "a long-\nterm lease", "long- term lease", "long-\nterm lease"],
  ["with marks of print", "the “Seller’s” – or", '"Seller\'s" - or', "“Seller’s” – or"],
  ["with accents in two pieces", "Cafe\u0301 du Nord", "Caf\u00e9 du", "Cafe\u0301 du"],
  ["behind a character outside the plane", "𝕏 \n\n 💥 boom", "💥 boom", "💥 boom"],
  ["where the number is alone", "118.40 and 18.40 EUR", "18.40 EUR", "18.40 EUR"],
])("a quote is found %s", (_case, page, quote, expected) => expect(found(page, quote)).toBe(expected));

test.each<[string, string, string]>([
  ["other words", "The total is 118.40", "The sum is 118.40"],
  ["another case", "ACME", "Acme"],
  ["another order", "one two three", "three two"],
  ["a number cut at its front", "118.40 EUR", "18.40 EUR"],
  ["a number cut at its end", "118.40 EUR", "118.4"],
  ["a number cut at its point", "118.40 EUR", "118"],
  ["a group of a number", "1,234.50", "234.50"],
  ["a letter without its accent", "Cafe\u0301", "Cafe"],
  ["a superscript as a digit", "10² m", "102 m"],
  ["words of which some are left out", "must not pay", "must pay"],
  ["nothing", "text", ""],
  ["white space", "a b", "  \n"],
  ["marks no one sees", "a b", "\u00ad\u200b"],
])("%s is not found", (_case, page, quote) => expect(finderIn([page])(quote)).toBeNull());

test("a quote is found on the first page that contains it, and no match spans two pages", () => {
  const find = finderIn(["one\ntwo", "three two", "two four"]);
  expect(find("two")).toEqual({ page: 1, start: 4, end: 7 });
  expect(find("three  two")).toEqual({ page: 2, start: 0, end: 9 });
  expect(find("four")).toEqual({ page: 3, start: 4, end: 8 });
  expect(find("two three")).toBeNull();
});

test("up to five consecutive words of a page are found at a place with the same words", () => {
  const word = fc.constantFrom(
    "a",
    "of",
    "ﬁne",
    "Café",
    "co\u00adop",
    "long-",
    "x'y",
    "💥",
    "(no)",
    "12",
    "1,5",
  );
  const space = fc.constantFrom(" ", "\n", "\u00a0", " \n ", "\t");
  const page = fc.array(fc.tuple(word, space), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(page, fc.nat(), fc.nat(), (parts, from, length) => {
      const text = parts.flat().join("");
      const first = from % parts.length;
      const chosen = parts.slice(first, first + 1 + (length % 5)).map(([one]) => one);
      const place = finderIn([text])(chosen.join(" "));
      if (!place) throw new Error(`${JSON.stringify(chosen)} not in ${JSON.stringify(text)}`);
      const plain = (value: string) =>
        value
          .normalize("NFKD")
          .replace(/\u00ad/g, "")
          .replace(/-?\s+/g, " ");
      expect(plain(text.slice(place.start, place.end)).replace(/-$/, "")).toBe(
        plain(chosen.join(" ")).replace(/-$/, ""),
      );
    }),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});
