import fc from "fast-check";
import { expect, test } from "vitest";
import { inTurns } from "@/server/platform/time/turn";
import { campaign } from "@/testing/campaign";
import { isThreadCpuKnown, longestSliceMs } from "@/testing/thread-cpu";
import { strictJson } from "./body";
import { parseInPieces } from "./json-pieces";

/** Reads a text in pieces of this many characters; null if the text is not JSON. */
function read(text: string, piece: number): { value: unknown } | null {
  try {
    const work = parseInPieces(text, piece);
    for (;;) {
      const { done, value } = work.next();
      if (done) return { value };
    }
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

const same = (text: string, piece: number): void =>
  void expect(JSON.stringify(read(text, piece)), `${text} by ${piece}`).toBe(JSON.stringify(parsed(text)));

test("a text that is read in pieces has the value that JSON.parse gives it, or none", () => {
  const values = fc.jsonValue({
    maxDepth: 5,
    stringUnit: fc.constantFrom("a", "b", '"', "\\", ",", "[", "}", "1"),
  });
  const indents = fc.constantFrom("", " ", "\n\t");
  fc.assert(
    fc.property(values, indents, fc.nat(20), (value, indent, piece) =>
      same(JSON.stringify(value, null, indent), piece),
    ),
    campaign.runs({ small: 300, full: 5_000 }),
  );
});

test("a text that is no JSON is refused in pieces, too", () => {
  const characters = fc.constantFrom(...'[]{},:" \\1ab\u00a0');
  const values = fc.jsonValue({ maxDepth: 4, stringUnit: fc.constantFrom("a", "b", '"') });
  fc.assert(
    fc.property(
      values,
      fc.nat(),
      fc.nat(2),
      fc.string({ unit: characters, maxLength: 2 }),
      fc.nat(9),
      (...given) => {
        const [value, where, without, instead, piece] = given;
        const whole = JSON.stringify(value, null, 1);
        const at = where % (whole.length + 1);
        const text = whole.slice(0, at) + instead + whole.slice(at + without);
        same(text, piece);
      },
    ),
    campaign.runs({ small: 500, full: 20_000 }),
  );
  for (const text of [
    "",
    " ",
    "{ }",
    "[ ]",
    "{  ,}",
    "[1, ]",
    "[[1][2]]",
    "{[1]}",
    "[a:[1]]",
    "[[1]]]",
    '{"a":[1]:1}',
    '{"a":1[1]}',
    '{"a":1{"b":1}}',
    "[[1],]",
  ])
    for (const piece of [0, 1, 2, 4]) same(text, piece);
});

test.runIf(isThreadCpuKnown)(
  "a body with fifty thousand names never holds the thread for 25 ms",
  async () => {
    const names = Object.fromEntries(Array.from({ length: 48_000 }, (_, at) => [`k${at * 7919}`, at]));
    const bytes = Buffer.from(JSON.stringify({ input: { names } }));
    const slice = () => longestSliceMs(() => inTurns(strictJson(bytes)), { tries: 4, enough: 25 });
    expect(await slice()).toBeLessThan(25);
  },
);
