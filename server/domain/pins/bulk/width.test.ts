import { describe, expect, test } from "vitest";
import { adaptiveWidth } from "./width";

function widthOf(asked: number, now = asked) {
  const changes: string[] = [];
  const width = adaptiveWidth(asked, now, (by) => changes.push(by));
  const note = (outcome: "taken" | "refused", times: number) => {
    for (let n = 0; n < times; n++) width.note(outcome);
  };
  return { width, note, changes };
}

describe("the width of a bulk", () => {
  test("stays as requested while everything is accepted", () => {
    const { width, note, changes } = widthOf(16);
    note("taken", 1_000);
    expect(width.current).toBe(16);
    expect(changes).toEqual([]);
  });

  test("ignores one refusal among many outcomes", () => {
    const { width, note } = widthOf(16);
    note("taken", 10);
    note("refused", 1);
    note("taken", 5);
    expect(width.current).toBe(16);
  });

  test("is halved once by a spike, however many refusals of one round it has", () => {
    const { width, note } = widthOf(16);
    note("refused", 16);
    expect(width.current).toBe(8);
  });

  test("is lowered to one by lasting refusals, and never to zero", () => {
    const { width, note } = widthOf(64);
    note("refused", 1_000);
    expect(width.current).toBe(1);
  });

  test("is raised by one at a time by accepted submissions, up to the requested width", () => {
    const { width, note, changes } = widthOf(8, 1);
    note("taken", 1);
    expect(width.current).toBe(2);
    note("taken", 2);
    expect(width.current).toBe(3);
    note("taken", 1_000);
    expect(width.current).toBe(8);
    expect(changes).toEqual(Array.from({ length: 7 }, () => "raise"));
  });

  test("falls from two to one after refusals, and returns to two", () => {
    const { width, note } = widthOf(2);
    note("refused", 2);
    expect(width.current).toBe(1);
    note("taken", 4);
    expect(width.current).toBe(2);
  });
});
