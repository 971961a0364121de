import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lossIn, parseForeignJson } from "./json-text";

describe("JSON of a server", () => {
  test.each([
    ["\uFEFF{}", {}],
    ['{"a":NaN,"b":[-Infinity,Infinity]}', { a: null, b: [null, null] }],
    ['{"a\\"NaN":"NaN, \\\\","b":NaN}', { 'a"NaN': "NaN, \\", b: null }],
    ["NaN", null],
  ])("%j is read", (text, value) => expect(parseForeignJson(text)).toEqual(value));

  test.each(["", "\uFEFF", "{NaN", '{"a":NaN', '{"NaN', "xNaN", "\uFEFF\uFEFF{}"])("%j is not JSON", (text) =>
    expect(() => parseForeignJson(text)).toThrow(SyntaxError),
  );

  test("JSON that JSON.stringify writes is read unchanged", () =>
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseForeignJson(text)).toEqual(JSON.parse(text));
      }),
    ));
});

describe("a JSON text", () => {
  const TWICE = "the same member twice";
  const CHANGED = "an integer beyond 2^53 whose digits would change";
  test.each([
    ['{"a":12345678901234567890}', CHANGED],
    ["[-9007199254740993]", CHANGED],
    ["9007199254740992.5", CHANGED],
    ["1234567890123456789e1", CHANGED],
    ['{"a":1,"\\u0061":2}', TWICE],
    ['[{"x":{"a":1,"b":[{}],"a":1}}]', TWICE],
  ])("parsing %s would lose information", (text, loss) => expect(lossIn(text)).toBe(loss));

  test.each([
    "9007199254740991",
    "9007199254740992",
    "12345678901234567000",
    "6.02214076e23",
    "1E+21",
    "100000000000000000000000",
    "0.1234567890123456789",
    "1e400",
    '{"12345678901234567890":"12345678901234567890"}',
    '[{"a":1},{"a":2},"a","a"]',
    '{"a":{"a":{"b":1},"b":2}}',
    '{"a":"\\"a\\":1","b":",\\\\"}',
  ])("parsing %s loses nothing", (text) => expect(lossIn(text)).toBeNull());

  test("parsing the JSON of any value loses nothing", () =>
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(lossIn(JSON.stringify(value))).toBeNull();
      }),
    ));
});
