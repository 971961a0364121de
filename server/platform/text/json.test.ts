import fc from "fast-check";
import { expect, test } from "vitest";
import { isLongerThan } from "./json";

test("a value is longer than half of its JSON text, and not longer than twice its JSON text", () =>
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: fc.constantFrom("a", "b") }), (value) => {
      const { length } = JSON.stringify(value);
      expect(isLongerThan(value, 2 * length + 2)).toBe(false);
      expect(isLongerThan(value, Math.floor(length / 2) - 2)).toBe(true);
    }),
  ));

test("a value is read only as far as its limit", () => {
  let isRead = false;
  const value = [
    "x".repeat(10),
    {
      get late() {
        isRead = true;
        return 1;
      },
    },
  ];
  expect(isLongerThan(value, 5)).toBe(true);
  expect(isRead).toBe(false);
  expect(isLongerThan(value, 50)).toBe(false);
  expect(isRead).toBe(true);
});
