import { expect, test } from "vitest";
import { headerText, textsOf } from "./header";

/** The header as a host hands it over, one character a byte. */
const sent = (text: string, encoding: BufferEncoding = "utf8") =>
  Buffer.from(text, encoding).toString("latin1");

test.each([
  ["ASCII", sent("order-1"), "order-1"],
  ["UTF-8", sent("clé-1"), "clé-1"],
  ["UTF-8 of several planes", sent("鍵-🔑"), "鍵-🔑"],
  ["Latin-1, where the bytes are no UTF-8", sent("clé-1", "latin1"), "clé-1"],
  ["a byte alone that UTF-8 begins with", "\xc3", "Ã"],
  ["blanks around it", "  k\t", "k"],
  ["UTF-8 whose last byte is a blank in Latin-1", sent("voilà"), "voilà"],
  ["a quoted value", '"k"', "k"],
  ["a quoted value in UTF-8", sent('"clé, 1"'), "clé, 1"],
  ["escapes in a quoted value", String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ["nothing in quotes", '""', ""],
  ["a quote that begins only", '"k', '"k'],
  ["a lone quote", '"', '"'],
  ["two quoted values", '"a", "b"', '"a", "b"'],
  ["a quoted value with a parameter", '"k";x=1', '"k";x=1'],
  ["single quotes", "'k'", "'k'"],
])("a header is read as %s", (_what, raw, text) => {
  expect(headerText(raw)).toBe(text);
});

test("lines with one value are that value, however each is written", () => {
  expect(textsOf(["k", " k", '"k"'])).toEqual(["k"]);
  expect(textsOf([sent("é"), sent("é", "latin1")])).toEqual(["é"]);
  expect(textsOf(["a", "b", "a"])).toEqual(["a", "b"]);
  expect(textsOf([])).toEqual([]);
});
