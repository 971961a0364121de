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

/** The figures of a vendor's usage; what is no object tells none. */
export const CountsOf = <S extends z.ZodRawShape>(shape: S) => z.object(shape).nullish().catch(null);

/** Those figures that are known; the others are absent, never zero. */
export function figures<T extends Record<string, number | null | undefined>>(
  given: T,
): { [K in keyof T]?: number } {
  const known = Object.entries(given).filter(([, value]) => isCount(value));
  return Object.fromEntries(known) as { [K in keyof T]?: number }; // what is left are numbers
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
