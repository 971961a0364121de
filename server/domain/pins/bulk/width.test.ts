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
  test("stay as asked for while everything is taken", () => {
    const { width, note, changes } = widthOf(16);
    note("taken", 1_000);
    expect(width.current).toBe(16);
    expect(changes).toEqual([]);
  });

  test("one refusal among many changes nothing", () => {
    const { width, note } = widthOf(16);
    note("taken", 10);
    note("refused", 1);
    note("taken", 5);
    expect(width.current).toBe(16);
  });

  test("a spike halves them once, however many of one round are refused", () => {
    const { width, note } = widthOf(16);
    note("refused", 16);
    expect(width.current).toBe(8);
  });

  test("refusals that go on lower them to one and never to none", () => {
    const { width, note } = widthOf(64);
    note("refused", 1_000);
    expect(width.current).toBe(1);
  });

  test("accepted submissions raise it by one at a time, up to the requested width", () => {
    const { width, note, changes } = widthOf(8, 1);
    note("taken", 1);
    expect(width.current).toBe(2);
    note("taken", 2);
    expect(width.current).toBe(3);
    note("taken", 1_000);
    expect(width.current).toBe(8);
    expect(changes).toEqual(Array.from({ length: 7 }, () => "raise"));
  });

  test("a width of two with one refusal comes down to one, and back", () => {
    const { width, note } = widthOf(2);
    note("refused", 2);
    expect(width.current).toBe(1);
    note("taken", 4);
    expect(width.current).toBe(2);
  });
});
