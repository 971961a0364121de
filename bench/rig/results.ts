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

export const fulfils = (result: Pick<Result, "bound">, value: number, limit: number) =>
  result.bound === "most" ? value <= limit : value >= limit;

export function verdictOf(result: Result): "void" | "LOST" | "held" | "goal met" {
  if (result.misses.length > 0) return "void";
  if (!fulfils(result, result.ratio.median, result.gate)) return "LOST";
  return result.aim === null || fulfils(result, result.ratio.median, result.aim) ? "goal met" : "held";
}
