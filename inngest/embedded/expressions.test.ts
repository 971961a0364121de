import { describe, expect, test } from "vitest";
import { compile, toPlainMatch } from "./expressions";

const event = {
  name: "app/thing",
  data: { id: "a1", amount: 10, tags: ["x", "y"], nested: { "odd key": true }, zero: 0, nothing: null },
};
const scope = { event, async: { data: { id: "a1", amount: 11 } } };

describe("what functions may write is evaluated as CEL does", () => {
  test.each<[string, unknown]>([
    ["event.data.id", "a1"],
    ["event.name == 'app/thing'", true],
    ['event.data.id == "a1" && event.data.amount >= 10', true],
    ["event.data.amount > 10 || event.data.amount < 10", false],
    ["!(event.data.amount == 10)", false],
    ["event.data.id == async.data.id", true],
    ["event.data.amount != async.data.amount", true],
    ["event.data.missing == null", true],
    ["event.data.missing.deeper == null", true],
    ["event.data.nothing == event.data.missing", true],
    ["has(event.data.id) && !has(event.data.missing)", true],
    ["size(event.data.tags) == 2", true],
    ['"x" in event.data.tags', true],
    ["event.data.id in ['b', 'a1']", true],
    ["event.data.tags[1]", "y"],
    ['event.data.nested["odd key"]', true],
    ['event.data.id + "-" + event.data.amount', "a1-10"],
    ["event.data.amount + 1", 11],
    ["event.data.zero == -0", true],
    ["event.data.amount < 'text'", false],
    ["'it\\'s' == \"it's\"", true],
    ["true && (false || true)", true],
    ['"constant"', "constant"],
  ])("%s", (source, value) => {
    expect(compile(source)(scope)).toEqual(value);
  });
});

describe("anything else is refused when it is compiled, with the expression in the message", () => {
  test.each([
    "event.data.name.startsWith('a')",
    "event.data.items.exists(i, i > 1)",
    "event.data.a ? 1 : 2",
    "event.data.a * 2",
    "timestamp(event.ts) > timestamp('2024-01-01')",
    "other.data.id == 1",
    "event.data.id ==",
    "event.data.id == 'a' 'b'",
    "(event.data.id",
    "event.data.list[event.data.n]",
    "",
    "event.data.id == 'open",
  ])("%s", (source) => {
    expect(() => compile(source)).toThrow(`"${source}"`);
  });
});

test("a prototype's fields are not fields of an event", () => {
  expect(compile("event.data.constructor == null && event.data.toString == null")(scope)).toBe(true);
});

test("a plain comparison of the two events is recognized, in either order, and nothing more", () => {
  expect(toPlainMatch("event.data.id == async.data.user.id")).toEqual({
    event: ["data", "id"],
    async: ["data", "user", "id"],
  });
  expect(toPlainMatch("async.data.id == event.data.id")).toEqual({
    event: ["data", "id"],
    async: ["data", "id"],
  });
  for (const other of [
    "event.data.id == event.data.id",
    "event.data.id == 'x'",
    "event.a == async.a && event.b == async.b",
  ]) {
    expect(toPlainMatch(other)).toBeUndefined();
  }
});
