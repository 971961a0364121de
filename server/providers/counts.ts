import { z } from "zod";
import type { Micros } from "@/server/platform/money";

/*
 * What vendors count and bill, for every port: the one place that says what a count and a cost are. A figure that is
 * neither is not known, and spoils neither the answer nor its other figures.
 */

/**
 * The most of anything that one answer can have used: more than a thousand times the longest context there is, and so
 * little that no resulting price, with a fee and added up over several calls, leaves the numbers that are exact.
 */
export const MOST_COUNT = 1_000_000_000;
/** The most that a vendor can have billed for one answer: a hundred million dollars. */
export const MOST_COST_MICROS = 100_000_000_000_000;

/** A whole number from nothing to `MOST_COUNT`. */
export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MOST_COUNT;

/** A figure as a vendor tells it. Null: it does not. NaN: what it tells is no count, nor is any sum with it. */
export const Count = z
  .unknown()
  .transform((value): number | null =>
    isCount(value) ? value : (value ?? null) === null ? null : Number.NaN,
  )
  .optional();

/** An id, which some servers write as a number. */
export const Id = z.union([z.string(), z.number().transform(String)]);

/** The figures of a vendor's usage; what is no object tells none. */
export const CountsOf = <S extends z.ZodRawShape>(shape: S) => z.object(shape).nullish().catch(null);

/** Those figures that are known; the others are absent, never zero. */
export function figures<T extends Record<string, number | null | undefined>>(
  given: T,
): { [K in keyof T]?: number } {
  const known = Object.entries(given).filter(([, value]) => isCount(value));
  return Object.fromEntries(known) as { [K in keyof T]?: number }; // what is left are numbers
}

/** Two reports of one answer's usage: a figure never goes down, what is no count changes none, and what
 * one of them lacks the other has. */
export function mergeUsage<T extends Partial<Record<string, number>>>(
  first: T | null,
  second: T | null,
): T | null {
  if (!first || !second) return first ?? second;
  const merged: Partial<Record<string, number>> = { ...first };
  for (const [figure, amount] of Object.entries(second))
    if (amount !== undefined && !(merged[figure]! >= amount))
      merged[figure] = isCount(amount) ? amount : (merged[figure] ?? amount);
  return merged as T; // the figures of both
}

type Tokens = {
  input?: number | null;
  output?: number | null;
  reasoning?: number | null;
  total?: number | null;
};

/**
 * The output of an answer with its reasoning. Servers that count reasoning apart report more of it than output, and what the
 * total has beyond the parts is output, too.
 */
export function outputOf({ input, output, reasoning, total }: Tokens): number | undefined {
  const isReported = (output ?? null) !== null;
  if (!isReported) return isCount(total) && isCount(input) && total >= input ? total - input : undefined;
  if (!isCount(output)) return undefined;
  const whole = isCount(reasoning) && reasoning > output ? output + reasoning : output;
  const beyond = isCount(total) && isCount(input) ? total - input : 0;
  return Math.max(whole, beyond);
}

/** The sum of what was given; undefined where nothing was. */
export function sumOf(...parts: (number | null | undefined)[]): number | undefined {
  const given = parts.filter((part) => typeof part === "number");
  return given.length === 0 ? undefined : given.reduce((sum, part) => sum + part, 0);
}

/** Dollars as a vendor's bill has them, a float, in whole micros; null where they are no amount that one answer can cost. */
export function toCostMicros(dollars: unknown): Micros | null {
  if (typeof dollars !== "number" || !(dollars >= 0)) return null;
  const micros = Math.round(dollars * 1_000_000);
  return micros <= MOST_COST_MICROS ? micros : null;
}
