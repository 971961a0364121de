import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, contentOf, formFlaw, hashOf, sha256Hex } from "@/server/platform/text/canonical";
import { canonicalPieces } from "@/server/platform/text/canonical-text";
import { campaign } from "@/testing/campaign";
import { isThreadCpuKnown, longestSliceMs } from "@/testing/thread-cpu";

// RFC 8785, section 3.2.2 and 3.2.3, and appendix B.
test("the example of the RFC has its canonical text", () => {
  const value = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);
  expect(canonicalText(value)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test("keys are sorted by UTF-16 code units, as the RFC's example has them", () => {
  const keys = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
  const value = Object.fromEntries(keys.map((key, place) => [key, place]));
  const order = Object.keys(JSON.parse(canonicalText(value))).filter((key) => key !== "1");
  expect(order).toEqual(["\r", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"]);
  // JavaScript orders integer-like keys by value; RFC 8785 orders them as text.
  expect(canonicalText({ b: 1, "10": 1, "9": 1, a: 1 })).toBe('{"10":1,"9":1,"a":1,"b":1}');
});

test.each([
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
])("the double %s is %s", (bits, text) => {
  expect(canonicalText(Buffer.from(bits, "hex").readDoubleBE())).toBe(text);
});

test("a value that JSON cannot express is refused", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "\ud800", "a\udc00b"]) {
    expect(() => canonicalText(value)).toThrow(TypeError);
  }
});

test("any JSON value has the same text as the reference implementation gives it", () => {
  const json = fc.jsonValue({ stringUnit: "grapheme" }).map((value) => value as Json); // what fast-check makes is JSON
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalText(value);
      expect(text).toBe(canonicalize(value));
      expect(canonicalText(JSON.parse(text))).toBe(text);
      expect(inOne(canonicalPieces(value)), "made in pieces").toBe(text);
    }),
    campaign.runs({ small: 500, full: 5_000 }),
  );
});

/** Runs a generator to its end without giving other work a turn. */
function inOne<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));

test.runIf(isThreadCpuKnown).each<[string, Json]>([
  ["keys", Object.fromEntries(Array.from({ length: 45_000 }, (_, at) => [`k${at * 7919}`, at]))],
  ["lists", Array.from({ length: 200_000 }, () => [[]])],
  ["levels", Array.from({ length: 5_000 }, () => nested(42))],
])("the text and hash of many %s never hold the thread for 25 ms", async (_, value) => {
  expect(await longestSliceMs(() => contentOf(value), { tries: 4, enough: 25 })).toBeLessThan(25);
  expect((await contentOf(value)).text === canonicalText(value)).toBe(true);
});

test("equal values have one hash, and the order of keys and white space do not matter", () => {
  expect(hashOf(JSON.parse('{"a":1,"b":[1,2]}'))).toBe(hashOf(JSON.parse(' { "b" : [1, 2.0], "a": 1e0 } ')));
  expect(hashOf({ a: 1 })).not.toBe(hashOf({ a: "1" }));
  // Composed and decomposed letters stay different texts.
  expect(hashOf("\u00e9")).not.toBe(hashOf("e\u0301"));
  expect(hashOf({})).toBe(`v1:${sha256Hex("{}")}`);
});

test.each([
  ["a\ud800b", "half of a character"],
  [{ "\ud800": 1 }, "half of a character"],
  [{ a: [{ b: "\udc00" }] }, "half of a character"],
  [{ a: Number.POSITIVE_INFINITY }, "a number beyond all that can be said"],
  [nested(5_000), "more than 500 values inside each other"],
  [nested(501), "more than 500 values inside each other"],
])("a flaw of form is reported, at any depth", (value, flaw) => expect(formFlaw(value)).toBe(flaw));

test("a value without a flaw of form has a canonical form, and a value with a flaw has none", () => {
  expect(formFlaw(nested(500))).toBeNull();
  const anyText = fc
    .string({ unit: "binary" })
    .chain((text) => fc.constantFrom(text, `${text}\ud800`, `\udc00${text}`));
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(anyText, fc.double(), fc.boolean(), fc.constant(null)),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(anyText, tie("value"), { maxKeys: 4 }),
    ),
  })).value;
  const hasForm = (each: unknown) => {
    try {
      canonicalText(each as Json);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(value, (each) => (formFlaw(each) === null) === hasForm(each)),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});
