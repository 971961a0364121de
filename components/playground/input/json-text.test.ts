import { expect, test } from "vitest";
import { problemOf } from "./json-text";

test("text that is not JSON has a problem; empty text means no value", () => {
  expect(problemOf('{"a":', "any")).toMatch(/not valid JSON/);
  expect(problemOf('{"a": 1}', "any")).toBeNull();
  expect(problemOf("5", "any")).toBeNull();
  expect(problemOf(" ", "any")).toBeNull();
});

test("where an object is required, any other value has a problem", () => {
  expect(problemOf('{"a": 1}', "object")).toBeNull();
  expect(problemOf('{"a":', "object")).toMatch(/not valid JSON/);
  expect(problemOf("", "object")).toMatch(/not valid JSON/);
  for (const other of ["5", "null", "[]", '"text"'])
    expect(problemOf(other, "object")).toMatch(/must be a JSON object/);
});
