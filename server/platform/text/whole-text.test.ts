import fc from "fast-check";
import { expect, test } from "vitest";
import { wholePieces, wholeText, wholeValue } from "./whole-text";

const anyUnits = fc.array(
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  {
    maxLength: 12,
  },
);
const oddText = fc.oneof(
  fc.string(),
  anyUnits.map((units) => units.join("")),
  fc.constant("a\u0000\ud83d"),
);

test("halves of characters and U+0000 become U+FFFD, and nothing else changes", () => {
  expect(wholeText("a\u0000b\ud800c\ud83d\ude00\udc00")).toBe("a\ufffdb\ufffdc\ud83d\ude00\ufffd");
  const odd = { "\ud800": [1, null, true, "\u0000", { b: "c" }] };
  expect(wholeValue(odd)).toEqual({ "\ufffd": [1, null, true, "\ufffd", { b: "c" }] });
  const plain = { a: [{ b: "\ud83d\ude00" }], __proto__: null };
  expect(wholeValue(plain)).toBe(plain);
});

test("text that is repaired in pieces equals the whole text repaired at once", () =>
  fc.assert(
    fc.property(fc.array(oddText), (pieces) => {
      let told = "";
      const passing = wholePieces((piece) => {
        told += piece;
      });
      for (const piece of pieces) passing.push(piece);
      passing.end();
      expect(told).toBe(wholeText(pieces.join("")));
    }),
  ));
