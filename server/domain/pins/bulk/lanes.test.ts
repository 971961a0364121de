import { describe, expect, test } from "vitest";
import { adaptiveLanes } from "./lanes";

function lanesOf(asked: number, now = asked) {
  const changes: string[] = [];
  const lanes = adaptiveLanes(asked, now, (by) => changes.push(by));
  const note = (outcome: "taken" | "refused", times: number) => {
    for (let n = 0; n < times; n++) lanes.note(outcome);
  };
  return { lanes, note, changes };
}

describe("the lanes of a bulk", () => {
  test("stay as asked for while everything is taken", () => {
    const { lanes, note, changes } = lanesOf(16);
    note("taken", 1_000);
    expect(lanes.current).toBe(16);
    expect(changes).toEqual([]);
  });

  test("one refusal among many changes nothing", () => {
    const { lanes, note } = lanesOf(16);
    note("taken", 10);
    note("refused", 1);
    note("taken", 5);
    expect(lanes.current).toBe(16);
  });

  test("a spike halves them once, however many of one round are refused", () => {
    const { lanes, note } = lanesOf(16);
    note("refused", 16);
    expect(lanes.current).toBe(8);
  });

  test("refusals that go on lower them to one and never to none", () => {
    const { lanes, note } = lanesOf(64);
    note("refused", 1_000);
    expect(lanes.current).toBe(1);
  });

  test("what is taken raises them by one at a time, up to what was asked for", () => {
    const { lanes, note, changes } = lanesOf(8, 1);
    note("taken", 1);
    expect(lanes.current).toBe(2);
    note("taken", 2);
    expect(lanes.current).toBe(3);
    note("taken", 1_000);
    expect(lanes.current).toBe(8);
    expect(changes).toEqual(Array.from({ length: 7 }, () => "raise"));
  });

  test("two lanes and one that is refused come down to one, and back", () => {
    const { lanes, note } = lanesOf(2);
    note("refused", 2);
    expect(lanes.current).toBe(1);
    note("taken", 4);
    expect(lanes.current).toBe(2);
  });
});
