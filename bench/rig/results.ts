import type { Spread } from "./statistics";

/** Line of the table: a ratio with its gate, which must hold, and its aim. */
export type Result = {
  goal: number;
  what: string;
  /** Median and quartiles of the per-round ratios. */
  ratio: Spread;
  /** The ratio must be at most, or at least, the gate. */
  bound: "most" | "least";
  gate: number;
  /** Null when there is only a gate. */
  aim: number | null;
  ours: string;
  peer: string;
  /** Rows or answers that were missing; with any, the number is void. */
  misses: string[];
};

/** Line without a ratio: floors, growth, null tests, limits. */
export type Fact = { what: string; value: string; holds?: boolean };

/** Ours against ours: where the median is farther from 1 than this, the machine was not quiet. */
export function nullTest(what: string, { median, low, high }: Spread, tolerance: number): Fact {
  const [least, most] = [1 - tolerance, 1 + tolerance];
  return {
    what: `${what}: ${least} to ${most}`,
    value: `${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    holds: median >= least && median <= most,
  };
}

export const fulfils = (result: Pick<Result, "bound">, value: number, limit: number) =>
  result.bound === "most" ? value <= limit : value >= limit;

export function verdictOf(result: Result): "void" | "LOST" | "held" | "goal met" {
  if (result.misses.length > 0) return "void";
  if (!fulfils(result, result.ratio.median, result.gate)) return "LOST";
  return result.aim === null || fulfils(result, result.ratio.median, result.aim) ? "goal met" : "held";
}
