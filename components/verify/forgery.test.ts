import { expect, test } from "vitest";
import { firstForgery, linesChanged } from "./forgery";

const lines = (...all: string[]) => all.join("\n");

test("the first forgery changes the last digit of an amount, else of a number, and stays JSON", () => {
  expect(firstForgery('{"version": 1, "chargedMicros": 1699}')).toBe('{"version": 1, "chargedMicros": 1690}');
  expect(firstForgery('{"version": 1}')).toBe('{"version": 2}');
  expect(firstForgery('{"chargedMicros": 0}')).toBe('{"chargedMicros": 1}');
  expect(firstForgery('{"name": "none"}')).toBe('{"name": "none"}');
});

test("changed lines are reported by number, with their old text", () => {
  const was = lines("{", '  "a": 1,', '  "b": 2', "}");
  expect(linesChanged(was, was)).toEqual([]);
  expect(linesChanged(was, was.replace("2", "3"))).toEqual([{ number: 3, was: '  "b": 2', is: '  "b": 3' }]);
});

test("after a line that was removed or added, only the first difference is named", () => {
  const was = lines("{", '  "a": 1,', '  "b": 2', "}");
  expect(linesChanged(was, lines("{", '  "b": 2', "}"))).toMatchObject([{ number: 2, is: '  "b": 2' }]);
  expect(linesChanged(was, `${was}\n`)).toEqual([{ number: 5, was: "", is: "" }]);
});
