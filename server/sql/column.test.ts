import { expect, test } from "vitest";
import { int4, joinColumns, maybe, text, toBeside } from "./column";

test("joined parts have all columns, and a later part replaces those of an earlier one", () => {
  const earlier = { id: "job_1", status: "queued", fence: 0 };
  const row = joinColumns(earlier, { status: "running" }, { fence: 1 });
  expect(row).toEqual({ id: "job_1", status: "running", fence: 1 });
  expect(earlier.status).toBe("queued");
});

test("a row beside another one has prefixed names, and only its own columns", () => {
  const beside = toBeside("hold_", { id: text, micros: maybe(int4) });
  const wide = { id: "hold_1", micros: 5, state: "open" };
  expect(beside(wide)).toEqual({ hold_id: "hold_1", hold_micros: 5 });
  expect(beside({ id: "hold_2", micros: null })).toEqual({ hold_id: "hold_2", hold_micros: null });
  expect(beside(null)).toEqual({ hold_id: null, hold_micros: null });
});
