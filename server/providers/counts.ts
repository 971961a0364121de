import { z } from "zod";
import type { Micros } from "@/server/platform/money";

/*
 * Counts and costs that vendors report, validated here for every port. An invalid figure is dropped; the answer and its
 * other figures stay.
 */

/**
 * Upper bound of any count of one answer: far above the longest context window, yet small enough that a price with its
 * fee, summed over several calls, stays an exact integer.
 */
export const MOST_COUNT = 1_000_000_000;
/** Upper bound of a vendor's bill for one answer: a hundred million dollars. */
export const MOST_COST_MICROS = 100_000_000_000_000;

/** Is this an integer from 0 to `MOST_COUNT`? */
export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MOST_COUNT;

/**
 * A figure as a vendor reports it: null or undefined if it reports none, NaN if the value is not a count, so that sums
 * with it are NaN too.
 */
export const Count = z
  .unknown()
  .transform((value): number | null =>
    isCount(value) ? value : (value ?? null) === null ? null : Number.NaN,
  )
  .optional();

/** An id; some servers send it as a number. */
export const Id = z.union([z.string(), z.number().transform(String)]);

/** The figures of a vendor's usage; null if the usage is not an object. */
export const CountsOf = <S extends z.ZodRawShape>(shape: S) => z.object(shape).nullish().catch(null);

/** The valid figures; the others are absent, never zero. */
export function figures<T extends Record<string, number | null | undefined>>(
  given: T,
): { [K in keyof T]?: number } {
  const known = Object.entries(given).filter(([, value]) => isCount(value));
  return Object.fromEntries(known) as { [K in keyof T]?: number }; // the filter leaves only numbers
}

/**
 * Merges two usage reports of one answer: each figure takes the higher value, an invalid one changes nothing, and a
 * figure in only one report is kept.
 */
export function mergeUsage<T extends Partial<Record<string, number>>>(
  first: T | null,
  second: T | null,
): T | null {
  if (!first || !second) return first ?? second;
  const merged: Partial<Record<string, number>> = { ...first };
  for (const [figure, amount] of Object.entries(second))
    if (amount !== undefined && !(merged[figure]! >= amount))
      merged[figure] = isCount(amount) ? amount : (merged[figure] ?? amount);
  return merged as T; // the figures of both reports
}

type Tokens = {
  input?: number | null;
  output?: number | null;
  reasoning?: number | null;
  total?: number | null;
};

/**
 * Output tokens including reasoning. A server that reports more reasoning than output counts it separately; any excess
 * of the total over the parts is output too. Undefined if unknown.
 */
export function outputTokens({ input, output, reasoning, total }: Tokens): number | undefined {
  const isReported = (output ?? null) !== null;
  if (!isReported) return isCount(total) && isCount(input) && total >= input ? total - input : undefined;
  if (!isCount(output)) return undefined;
  const whole = isCount(reasoning) && reasoning > output ? output + reasoning : output;
  const beyond = isCount(total) && isCount(input) ? total - input : 0;
  return Math.max(whole, beyond);
}

/** The sum of the given parts; undefined if none is given. */
export function sumOf(...parts: (number | null | undefined)[]): number | undefined {
  const given = parts.filter((part) => typeof part === "number");
  return given.length === 0 ? undefined : given.reduce((sum, part) => sum + part, 0);
}

/** Converts a vendor's cost in dollars to whole micros; null if it is no number, or no possible cost of one answer. */
export function toCostMicros(dollars: unknown): Micros | null {
  if (typeof dollars !== "number" || !(dollars >= 0)) return null;
  const micros = Math.round(dollars * 1_000_000);
  return micros <= MOST_COST_MICROS ? micros : null;
}
