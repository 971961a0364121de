import fc from "fast-check";
import { expect, test } from "vitest";
import { charactersOf } from "./characters";

test("characters are counted as an iteration over the text counts them", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.array(fc.integer({ min: 0xd7ff, max: 0xe000 })),
      (text, halves) => {
        for (const each of [text, text + String.fromCharCode(...halves)])
          expect(charactersOf(each)).toBe([...each].length);
      },
    ),
  );
});
