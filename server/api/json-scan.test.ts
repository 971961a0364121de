import fc from "fast-check";
import { expect, test } from "vitest";
import { ValidationFault } from "@/server/platform/errors/errors";
import { campaign } from "@/testing/campaign";
import { strictJson } from "./body";
import { MAX_JSON_DEPTH, MAX_NODES } from "./json-scan";

function parseBytes(bytes: Uint8Array): unknown {
  const work = strictJson(bytes);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
const parse = (text: string) => parseBytes(Buffer.from(text));

function refusalOf(input: string | Uint8Array): string {
  try {
    parseBytes(typeof input === "string" ? Buffer.from(input) : input);
  } catch (error) {
    if (error instanceof ValidationFault) return error.issues[0]?.type ?? "";
    throw error;
  }
  return "accepted";
}

test.each([
  ["a key twice", '{"a":1,"a":2}', "duplicate_key"],
  ["a key twice, once escaped", String.raw`{"a":1,"\u0061":2}`, "duplicate_key"],
  ["a key twice, deep", '[{"x":{"k":[],"l":{},"k":0}}]', "duplicate_key"],
  ["the prototype's key", '{"__proto__":{}}', "forbidden_key"],
  ["the prototype's key, escaped", String.raw`{"__proto\u005f_":{}}`, "forbidden_key"],
  ["NUL in a value", String.raw`{"a":"x\u0000"}`, "nul_character"],
  ["NUL in a key", String.raw`{"\u0000":1}`, "nul_character"],
  ["a high surrogate alone", String.raw`["\ud83d"]`, "lone_surrogate"],
  ["a low surrogate alone", String.raw`["\ude00"]`, "lone_surrogate"],
  ["surrogates the wrong way round", String.raw`["\ude00\ud83d"]`, "lone_surrogate"],
  ["a high surrogate before other text", String.raw`["\ud83d x\ude00"]`, "lone_surrogate"],
  ["a high surrogate before another escape", String.raw`["\ud83d\n\ude00"]`, "lone_surrogate"],
  ["an infinite number", "[1e400]", "number_not_finite"],
  ["an infinite negative number", "[-1e400]", "number_not_finite"],
  ["an unsafe integer", "[9007199254740992]", "number_unsafe"],
  ["an unsafe negative integer", "[-9007199254740993]", "number_unsafe"],
  ["an unsafe integer with an exponent", "[1e16]", "number_unsafe"],
  ["too deep", `${"[".repeat(MAX_JSON_DEPTH + 1)}${"]".repeat(MAX_JSON_DEPTH + 1)}`, "too_deep"],
  ["too deep and never closed", "[".repeat(2_000_000), "too_deep"],
  ["too many values", `[${"0,".repeat(MAX_NODES)}0]`, "too_many_values"],
  ["no JSON", "{a:1}", "json_invalid"],
  ["an end too early", '{"a":"', "json_invalid"],
  ["a byte order mark", "\ufeff{}", "json_invalid"],
  ["a raw control character", '["\u0001"]', "json_invalid"],
  ["a bad escape", String.raw`["\x41"]`, "json_invalid"],
  ["two values", "{} {}", "json_invalid"],
])("hostile JSON is refused: %s", (_name, text, type) => {
  expect(refusalOf(text)).toBe(type);
});

test.each([
  ["1e16", []],
  ['{"a": 12345678901234567890}', ["a"]],
  [
    String.raw`{"x":{"k":[1,{"y":"]}, \"[{","z":2}],"l":{}}, "deep":[[], [true, "a,b", 1e400]]}`,
    ["deep", 1, 2],
  ],
  [String.raw`{"a\"\u0062{":{"c":-9007199254740993}}`, ['a"b{', "c"]],
  ['[0,{"a":[], "b" : 9007199254740993}]', [1, "b"]],
])("the error about a number names its path: %s", (text, place) => {
  try {
    parse(text);
    expect.unreachable();
  } catch (error) {
    expect((error as ValidationFault).issues[0]?.loc).toEqual(["body", ...place]); // thrown by parse alone
  }
});

test("bytes that are not UTF-8 are refused, even if other decoders accept them", () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xe2, 0x82, 0x22],
  ]) {
    expect(refusalOf(new Uint8Array(bytes))).toBe("unicode_invalid");
  }
});

test.each([
  ["the largest safe integers", "[9007199254740991,-9007199254740991,-0]"],
  ["fractions with many digits", "[0.1000000000000000055511151231257827,1.5e-300]"],
  ["a whole pair of surrogates, escaped", String.raw`["\ud83d\ude00"]`],
  ["escaped quotes and backslashes", String.raw`{"a\"b":"\\","c\\":"\\\"","d":"{\"a\":1,\"a\":2}"}`],
  ["the same key in two objects", '[{"a":1},{"a":{"a":1}}]'],
  ["a key that is a value elsewhere", '{"a":"b","b":"a"}'],
  ["constructor", '{"constructor":1,"toString":2}'],
  ["as deep as allowed", `${"[".repeat(MAX_JSON_DEPTH)}${"]".repeat(MAX_JSON_DEPTH)}`],
  ["as many values as allowed", `[${"0,".repeat(MAX_NODES - 2)}0]`],
])("unusual but unambiguous JSON is accepted: %s", (_name, text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test("the error about invalid JSON does not quote the body, which may contain secrets", () => {
  expect(() => parse('{"secret": hunter2}')).toThrow("body: The body is not valid JSON.");
});

test("unambiguous JSON is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const type = refusalOf(text);
      // fast-check also makes what we refuse on purpose; everything else must come through unchanged.
      if (type === "accepted") expect(parse(text)).toEqual(JSON.parse(text));
      else expect(["number_unsafe", "nul_character", "forbidden_key"]).toContain(type);
    }),
    campaign.runs({ small: 1_000, full: 10_000 }),
  );
});

test("any bytes are either refused or read, and nothing else is thrown", () => {
  const fragments = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ":",
    ",",
    "a",
    "\\u0061",
    "\\ud800",
    "1",
    "-",
    "e",
    ".",
    " ",
    "__proto__",
  );
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 40 }), (parts) => {
      const text = parts.join("");
      if (refusalOf(text) === "accepted") expect(parse(text)).toEqual(JSON.parse(text));
    }),
    campaign.runs({ small: 3_000, full: 30_000 }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void refusalOf(bytes)),
    campaign.runs({ small: 500, full: 5_000 }),
  );
});
