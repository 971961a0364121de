import { Decimal } from "decimal.js";
import { type Evaluation, type Rounding, refuseEvaluation } from "./context";
import { type Literal, MAX_ADJUSTED_EXPONENT, writeLiteral } from "./literal";

/**
 * A decimal that remembers its trailing zeros, as General Decimal Arithmetic and Python do and decimal.js alone does
 * not: `exponent` is the power of ten of its last digit, so 1.50 is the value 1.5 with the exponent -2.
 */
export type Num = { value: Decimal; exponent: number };

/** Exact +, -, × and integer division: no two operands need this many digits. Rounding happens in `finish`. */
export const Exact = Decimal.clone({
  defaults: true,
  precision: 1_000_000,
  rounding: Decimal.ROUND_DOWN,
  modulo: Decimal.ROUND_DOWN,
});

const MODES: Record<Exclude<Rounding, "05up">, Decimal.Rounding> = {
  ceiling: Decimal.ROUND_CEIL,
  down: Decimal.ROUND_DOWN,
  floor: Decimal.ROUND_FLOOR,
  half_down: Decimal.ROUND_HALF_DOWN,
  half_even: Decimal.ROUND_HALF_EVEN,
  half_up: Decimal.ROUND_HALF_UP,
  up: Decimal.ROUND_UP,
};

/** Ideal exponent of a result that has no trailing zeros, whatever its operands had. */
export const STRIPPED = Number.POSITIVE_INFINITY;
/** Ideal exponent of a result that fills the whole precision, even with zeros. */
export const PADDED = Number.NEGATIVE_INFINITY;

export function tenTo(exponent: number): Decimal {
  return new Exact(`1e${exponent}`);
}

/** Number of significant digits without trailing zeros; 1 for zero. */
export function digitsOf(value: Decimal): number {
  return value.isZero() ? 1 : value.sd();
}

/** The power of ten of the last nonzero digit. */
export function lowestPlace(value: Decimal): number {
  return value.e - value.sd() + 1;
}

export function zero(negative: boolean): Decimal {
  return new Exact(negative ? "-0" : "0");
}

/** The integer coefficient of |value| without trailing zeros. */
export function coefficientOf(value: Decimal): bigint {
  return BigInt(
    value
      .abs()
      .times(tenTo(-lowestPlace(value)))
      .toFixed(0),
  );
}

export function toNum({ negative, digits, exponent }: Literal): Num {
  return { value: new Exact(`${negative ? "-" : ""}${digits}e${exponent}`), exponent };
}

export function toText({ value, exponent }: Num): string {
  const digits = value.isZero() ? "0" : value.abs().times(tenTo(-exponent)).toFixed(0);
  return writeLiteral({ negative: value.isNegative(), digits, exponent });
}

/** Rounds to a multiple of 10^place. */
export function roundToPlace(value: Decimal, place: number, rounding: Rounding): Decimal {
  const scaled = value.times(tenTo(-place));
  if (rounding !== "05up") return scaled.toDecimalPlaces(0, MODES[rounding]).times(tenTo(place));
  // Rounds away from zero only if the last digit would be 0 or 5, so that the result can be rounded again safely.
  const towardsZero = scaled.toDecimalPlaces(0, Decimal.ROUND_DOWN);
  const away = !towardsZero.eq(scaled) && /[05]$/.test(towardsZero.toFixed(0));
  const rounded = away ? towardsZero.plus(value.isNegative() ? -1 : 1) : towardsZero;
  return rounded.times(tenTo(place));
}

/** Rounds an exact value to the precision, keeping the trailing zeros down to `ideal`. Does not check the range. */
export function roundToPrecision(
  context: Evaluation,
  value: Decimal,
  ideal: number,
  rounding: Rounding,
): Num {
  if (value.isZero()) {
    const least = 1 - MAX_ADJUSTED_EXPONENT - context.precision;
    return { value, exponent: Math.min(Math.max(ideal, least), MAX_ADJUSTED_EXPONENT) };
  }
  const lowest = lowestPlace(value);
  const exponent = Math.max(Math.min(ideal, lowest), value.e - context.precision + 1);
  if (lowest >= exponent) return { value, exponent };
  const rounded = roundToPlace(value, exponent, rounding);
  // 9.99 became 10.0, so the precision now ends one place earlier.
  return { value: rounded, exponent: rounded.e > value.e ? exponent + 1 : exponent };
}

/** Refuses a value nearer to zero than 1E-10000 before rounding, or one from 1E+10001 on after it. */
export function requireRange(context: Evaluation, exact: Decimal, rounded: Num): Num {
  if (!exact.isZero() && exact.e < -MAX_ADJUSTED_EXPONENT)
    refuseEvaluation(
      context,
      "numeric_overflow",
      `A result is nearer to zero than 1E-${MAX_ADJUSTED_EXPONENT}.`,
    );
  if (!rounded.value.isZero() && rounded.value.e > MAX_ADJUSTED_EXPONENT)
    refuseEvaluation(context, "numeric_overflow", `A result is not below 1E+${MAX_ADJUSTED_EXPONENT + 1}.`);
  return rounded;
}

/** Rounds the exact value of an operation once and checks its range. */
export function finish(
  context: Evaluation,
  value: Decimal,
  ideal: number,
  rounding: Rounding = context.rounding,
): Num {
  return requireRange(context, value, roundToPrecision(context, value, ideal, rounding));
}
