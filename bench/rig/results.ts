import type { Spread } from "./statistics";

/** A line of the table: a ratio with what it must hold and what it aims at. */
export type Result = {
  goal: number;
  what: string;
  /** Median and quartiles of the per-round ratios. */
  ratio: Spread;
  /** `at most` or `at least` this. */
  bound: "most" | "least";
  gate: number;
  /** Null: there is only a gate. */
  aim: number | null;
  ours: string;
  peer: string;
  /** Rows or answers that were missing: the number is void then. */
  misses: string[];
};

/** A line without a goal: floors, growth, null tests. */
export type Fact = { what: string; value: string; holds?: boolean };

export const fulfils = (result: Pick<Result, "bound">, value: number, limit: number) =>
  result.bound === "most" ? value <= limit : value >= limit;

export function verdictOf(result: Result): "void" | "LOST" | "held" | "goal met" {
  if (result.misses.length > 0) return "void";
  if (!fulfils(result, result.ratio.median, result.gate)) return "LOST";
  return result.aim === null || fulfils(result, result.ratio.median, result.aim) ? "goal met" : "held";
}
