import { Decimal } from "decimal.js";
import { type Evaluation, price, refuseEvaluation, spend } from "./context";
import { MAX_ADJUSTED_EXPONENT } from "./literal";
import {
  coefficientOf,
  digitsOf,
  Exact,
  finish,
  lowestPlace,
  type Num,
  PADDED,
  roundToPlace,
  tenTo,
  zero,
} from "./numbers";
import { integerRoot } from "./series";

/** Zeros may be signed; a sum of zero is -0 only from two negative zeros, or under `floor` from opposite signs. */
export function add(context: Evaluation, a: Num, b: Num): Num {
  const signsDiffer = a.value.isNegative() !== b.value.isNegative();
  const bothNegative = a.value.isNegative() && !signsDiffer;
  const top = Math.max(a.value.e, b.value.e);
  spend(context, price.sum(top - Math.min(a.exponent, b.exponent, top)));
  const sum = a.value.plus(b.value);
  const value = sum.isZero() ? zero(bothNegative || (signsDiffer && context.rounding === "floor")) : sum;
  return finish(context, value, Math.min(a.exponent, b.exponent));
}

export function subtract(context: Evaluation, a: Num, b: Num): Num {
  return add(context, a, { value: b.value.negated(), exponent: b.exponent });
}

/** Unary plus rounds, and turns -0 into 0 unless the rounding is `floor`. */
export function plus(context: Evaluation, a: Num): Num {
  return add(context, { value: zero(false), exponent: a.exponent }, a);
}

export function minus(context: Evaluation, a: Num): Num {
  return plus(context, { value: a.value.negated(), exponent: a.exponent });
}

export function absolute(context: Evaluation, a: Num): Num {
  spend(context, price.sum(digitsOf(a.value)));
  return finish(context, a.value.abs(), a.exponent);
}

export function multiply(context: Evaluation, a: Num, b: Num): Num {
  spend(context, price.product(digitsOf(a.value), digitsOf(b.value)));
  return finish(context, a.value.times(b.value), a.exponent + b.exponent);
}

/** An exact quotient has the difference of the exponents, or a lower one if its digits need it; any other fills the precision. */
export function divide(context: Evaluation, a: Num, b: Num): Num {
  if (b.value.isZero()) refuseEvaluation(context, "division_by_zero", "Division by zero.");
  const ideal = a.exponent - b.exponent;
  if (a.value.isZero()) return finish(context, zero(a.value.s !== b.value.s), ideal);
  const digits = context.precision + 2;
  spend(context, price.quotient(digitsOf(b.value), digits) + price.sum(digitsOf(a.value)));
  const Truncated = Decimal.clone({ defaults: true, precision: digits, rounding: Decimal.ROUND_DOWN });
  const quotient = new Exact(new Truncated(a.value).div(b.value));
  if (quotient.times(b.value).eq(a.value)) return finish(context, quotient, ideal);
  // The true quotient lies strictly between this digit and the next, so any digit between rounds the same way.
  const rest = tenTo(quotient.e - digits);
  return finish(context, quotient.plus(quotient.isNegative() ? rest.negated() : rest), PADDED);
}

/**
 * Remainder of the truncated division, with the sign of the dividend. Refuses if the integer quotient does not fit the precision.
 */
export function remainder(context: Evaluation, a: Num, b: Num): Num {
  if (b.value.isZero()) refuseEvaluation(context, "division_by_zero", "Remainder of a division by zero.");
  const ideal = Math.min(a.exponent, b.exponent);
  if (a.value.isZero()) return finish(context, a.value, ideal);
  const tooLong = (): never =>
    refuseEvaluation(
      context,
      "precision_limit_exceeded",
      `The integer quotient behind a % needs more than ${context.precision} digits; ask for a higher precision.`,
    );
  const gap = a.value.e - b.value.e;
  if (gap > context.precision) tooLong();
  spend(
    context,
    price.quotient(digitsOf(b.value), Math.max(gap, 0) + 1) + price.sum(Math.abs(gap) + digitsOf(a.value)),
  );
  const quotient = a.value.divToInt(b.value);
  if (!quotient.isZero() && quotient.e >= context.precision) tooLong();
  const rest = a.value.minus(quotient.times(b.value));
  return finish(context, rest.isZero() ? zero(a.value.isNegative()) : rest, ideal);
}

/**
 * Always rounds `half_even`, as General Decimal Arithmetic and IEEE 754 decimals do; warns if an inexact result asked for another
 * rounding.
 */
export function squareRoot(context: Evaluation, a: Num): Num {
  const ideal = Math.floor(a.exponent / 2);
  if (a.value.isZero()) return finish(context, a.value, ideal);
  if (a.value.isNegative())
    refuseEvaluation(context, "domain_error", "The square root of a negative number.");
  const lowest = lowestPlace(a.value);
  const digits = digitsOf(a.value);
  // Appends zeros until the integer root has two digits more than the precision, keeping the exponent even.
  const wanted = Math.max(0, 2 * (context.precision + 2) - digits);
  const zeros = wanted + Math.abs((lowest - wanted) % 2);
  spend(context, price.root(digits + zeros));
  const radicand = coefficientOf(a.value) * 10n ** BigInt(zeros);
  const root = integerRoot(radicand, 2);
  const place = (lowest - zeros) / 2;
  if (root * root === radicand) return finish(context, new Exact(`${root}e${place}`), ideal, "half_even");
  if (context.rounding !== "half_even")
    context.warnings.add(
      `sqrt rounds half_even, as decimal arithmetic defines it; ${context.rounding} applies to the other operations.`,
    );
  return finish(context, new Exact(`${root}1e${place - 1}`), PADDED, "half_even");
}

/**
 * `round(x)` is an integer with as many digits as needed. `round(x, n)` has n decimal places (negative n: tens, hundreds) with
 * its zeros written out, and is refused if it does not fit the precision.
 */
export function round(context: Evaluation, a: Num, places?: Num): Num {
  if (!places) {
    spend(context, price.sum(digitsOf(a.value)));
    if (a.exponent >= 0) return a;
    return requireInteger(context, { value: roundToPlace(a.value, 0, context.rounding), exponent: 0 }, a);
  }
  if (!places.value.isInteger() || places.value.abs().gt(MAX_ADJUSTED_EXPONENT))
    refuseEvaluation(
      context,
      "invalid_parameter",
      `The second argument of round is an integer from -${MAX_ADJUSTED_EXPONENT} to ${MAX_ADJUSTED_EXPONENT}.`,
    );
  const exponent = -places.value.toNumber() || 0;
  spend(context, price.sum(digitsOf(a.value) + Math.abs(a.value.e - exponent)));
  const value = roundToPlace(a.value, exponent, context.rounding);
  const result = requireInteger(context, { value, exponent }, a);
  if (!value.isZero() && value.e - exponent + 1 > context.precision)
    refuseEvaluation(
      context,
      "precision_limit_exceeded",
      `round(x, ${places.value.toFixed(0)}) has ${value.e - exponent + 1} digits here, more than the precision of ${context.precision}.`,
    );
  return result;
}

function requireInteger(context: Evaluation, rounded: Num, from: Num): Num {
  if (rounded.value.isZero()) return { ...rounded, value: zero(from.value.isNegative()) };
  if (rounded.value.e > MAX_ADJUSTED_EXPONENT)
    refuseEvaluation(context, "numeric_overflow", `A result is not below 1E+${MAX_ADJUSTED_EXPONENT + 1}.`);
  return rounded;
}

/** Returns -1, 0 or 1. Equal values are ordered by sign of zero, then by trailing zeros: -0 < 0.0 < 0, 1.0 < 1. */
function compareTotal(a: Num, b: Num): number {
  const byValue = a.value.comparedTo(b.value);
  if (byValue !== 0) return byValue;
  if (a.value.isNegative() !== b.value.isNegative()) return a.value.isNegative() ? -1 : 1;
  const byExponent = Math.sign(a.exponent - b.exponent);
  return a.value.isNegative() ? -byExponent : byExponent;
}

/** Chooses the least (`direction` -1) or greatest (1) number exactly, then rounds it once. */
export function extreme(context: Evaluation, direction: -1 | 1, numbers: Num[]): Num {
  const chosen = numbers.reduce((best, candidate) => {
    spend(context, price.sum(Math.min(digitsOf(best.value), digitsOf(candidate.value))));
    return compareTotal(candidate, best) === direction ? candidate : best;
  });
  spend(context, price.sum(digitsOf(chosen.value)));
  return finish(context, chosen.value, chosen.exponent);
}
