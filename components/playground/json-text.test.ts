import { expect, test } from "vitest";
import { problemOf } from "./json-text";

test("text that is no JSON cannot be read; none at all is no value", () => {
  expect(problemOf('{"a":', "any")).toMatch(/not JSON yet/);
  expect(problemOf('{"a": 1}', "any")).toBeNull();
  expect(problemOf("5", "any")).toBeNull();
  expect(problemOf(" ", "any")).toBeNull();
});

test("where an object has to be, nothing else can be read", () => {
  expect(problemOf('{"a": 1}', "object")).toBeNull();
  expect(problemOf('{"a":', "object")).toMatch(/not JSON yet/);
  expect(problemOf("", "object")).toMatch(/not JSON yet/);
  for (const other of ["5", "null", "[]", '"text"'])
    expect(problemOf(other, "object")).toMatch(/no JSON object/);
});
