import { expect, test } from "vitest";
import { wallOf } from "./wall";

const refusal = { scope: "project:p", period: "day", estimatedCost: 0.68, available: 0.3, ceiling: 5 };
const spend = (settledMicros: number, heldMicros: number) => ({
  settledMicros,
  heldMicros,
  availableMicros: 5_000_000 - settledMicros - heldMicros,
});
const budget = (more: object) => ({ scope: "project:p", period: "day", ...more }) as never;

test("the limit that refused a run has the spent, reserved and requested amounts of the run's kind of money", () => {
  const stored = budget({ spend: spend(0, 0), testSpend: spend(4_000_000, 700_000) });
  expect(wallOf(refusal, [budget({ period: "month" }), stored])).toEqual({
    askedMicros: 680_000,
    ceilingMicros: 5_000_000,
    spend: spend(4_000_000, 700_000),
    budget: stored,
  });
});

test("without a stored budget all used funds of a refusal's limit count as spent", () => {
  expect(wallOf(refusal, [])).toMatchObject({ spend: spend(4_700_000, 0), budget: undefined });
});

test("a limit on the number of jobs, and a refusal without amounts, have no amounts to show", () => {
  expect(wallOf({ ...refusal, estimatedCost: 0, available: 0, ceiling: 0, maxJobs: 3 }, [])).toBeNull();
  expect(wallOf({ scope: "project:p" }, [])).toBeNull();
});
