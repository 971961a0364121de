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
  requireRange,
  roundToPrecision,
  STRIPPED,
  tenTo,
  zero,
} from "./numbers";
import { integerRoot, powerBounds } from "./series";

export const MAX_POWER = 10_000;

/**
 * x^y, rounded once from its true value in every mode. A non-negative integer y keeps the trailing zeros of repeated
 * multiplication in an exact result and a negative one keeps none; any other y fills the precision even if the result is exact.
 */
export function power(context: Evaluation, x: Num, y: Num): Num {
  spend(context, 1);
  if (y.value.abs().gt(MAX_POWER))
    refuseEvaluation(
      context,
      "complexity_limit_exceeded",
      `An exponent is beyond ±${MAX_POWER}; powers go no further.`,
    );
  const whole = y.value.isInteger();
  if (y.value.isZero()) {
    if (x.value.isZero()) refuseEvaluation(context, "domain_error", "0 to the power 0 is undefined.");
    return { value: new Exact(1), exponent: 0 };
  }
  const negative = x.value.isNegative() && whole && !y.value.mod(2).isZero();
  if (x.value.isZero()) {
    if (y.value.isNegative()) refuseEvaluation(context, "division_by_zero", "0 to a negative power.");
    return { value: zero(negative), exponent: 0 };
  }
  if (x.value.isNegative() && !whole)
    refuseEvaluation(context, "domain_error", "A negative number to a power that is not an integer.");

  const base = x.value.abs();
  const n = y.value.toNumber();
  requirePossibleRange(context, base, n);
  if (whole) return integerPower(context, { base, n, negative }, n > 0 ? x.exponent * n : STRIPPED);
  if (base.eq(1)) return finish(context, base, PADDED);
  const exact = exactFraction(context, base, y.value);
  if (exact) return integerPower(context, { ...exact, negative: false }, PADDED);
  return transcendentalPower(context, base, y.value);
}

/** Refuses a power that cannot be in range, so that nothing below meets numbers of absurd size. */
function requirePossibleRange(context: Evaluation, base: Decimal, n: number): void {
  const bounds = [base.e * n, (base.e + 1) * n];
  const beyond = MAX_ADJUSTED_EXPONENT + 2;
  if (Math.min(...bounds) > beyond || Math.max(...bounds) < -beyond)
    refuseEvaluation(
      context,
      "numeric_overflow",
      `A power is ${Math.min(...bounds) > beyond ? "too large" : "too near to zero"}: beyond 10^±${MAX_ADJUSTED_EXPONENT}.`,
    );
}

/** Bounds of a value's magnitude, and its sign. */
type Between = { low: Decimal; high: Decimal; negative: boolean };

/**
 * Rounds a value that lies between two bounds if both round to the same number; equal bounds are the exact value. Null if the
 * bounds are too far apart to tell.
 */
function settle(context: Evaluation, { low, high, negative }: Between, ideal: number): Num | null {
  const signed = (value: Decimal): Decimal => (negative ? value.negated() : value);
  if (low.eq(high)) return finish(context, signed(low), ideal);
  if (low.e !== high.e) return null;
  const fromLow = roundToPrecision(context, signed(low), PADDED, context.rounding);
  const fromHigh = roundToPrecision(context, signed(high), PADDED, context.rounding);
  if (!fromLow.value.eq(fromHigh.value)) return null;
  return requireRange(context, low, fromLow);
}

/** Computes base^n by squaring, rounded down and rounded up at every step, with more digits until both agree. */
function integerPower(
  context: Evaluation,
  { base, n, negative }: { base: Decimal; n: number; negative: boolean },
  ideal: number,
): Num {
  if (n < 0) {
    const inverse = terminatingInverse(context, base);
    if (inverse) return integerPower(context, { base: inverse, n: -n, negative }, ideal);
  }
  const times = Math.abs(n);
  const digitsOfPower = digitsOf(base) * times + 1;
  for (let digits = context.precision + 12; ; digits *= 2) {
    // The exact power has at most this many digits, so with them nothing is rounded.
    const enough = Math.min(digits, digitsOfPower);
    const Down = Decimal.clone({ defaults: true, precision: enough, rounding: Decimal.ROUND_DOWN });
    const Up = Decimal.clone({ defaults: true, precision: enough, rounding: Decimal.ROUND_UP });
    const low = raise(context, new Down(base).toSignificantDigits(enough), times);
    const high = raise(context, new Up(base).toSignificantDigits(enough), times);
    const settled =
      n > 0
        ? settle(context, { low: new Exact(low), high: new Exact(high), negative }, ideal)
        : settleInverse(context, { low, high, negative }, digits);
    if (settled) return settled;
  }
}

/** Settles the inverse of a value between two bounds. The value has no terminating inverse, so the inverse's bounds never meet. */
function settleInverse(context: Evaluation, { low, high, negative }: Between, digits: number): Num | null {
  spend(context, 2 * price.quotient(digitsOf(low), digits));
  const Down = Decimal.clone({ defaults: true, precision: digits, rounding: Decimal.ROUND_DOWN });
  const Up = Decimal.clone({ defaults: true, precision: digits, rounding: Decimal.ROUND_UP });
  const least = new Exact(new Down(1).div(high));
  const most = new Exact(new Up(1).div(low));
  return settle(context, { low: least, high: most, negative }, PADDED);
}

/** Multiplies with the precision and rounding of the constructor of `base`. */
function raise(context: Evaluation, base: Decimal, times: number): Decimal {
  let result = base;
  for (const bit of times.toString(2).slice(1)) {
    spend(context, price.product(digitsOf(result), digitsOf(result)));
    result = result.times(result);
    if (bit === "1") {
      spend(context, price.product(digitsOf(result), digitsOf(base)));
      result = result.times(base);
    }
  }
  return result;
}

/** 1/base if it terminates, which requires a coefficient that is a power of two or of five; otherwise null. */
function terminatingInverse(context: Evaluation, base: Decimal): Decimal | null {
  const coefficient = coefficientOf(base);
  const fives = Math.round(digitsOf(base) / Math.log10(5));
  const isPowerOfTwo = (coefficient & (coefficient - 1n)) === 0n;
  const isPowerOfFive = [fives - 1, fives, fives + 1].some((n) => n >= 0 && 5n ** BigInt(n) === coefficient);
  if (!isPowerOfTwo && !isPowerOfFive) return null;
  // 1/2^a is 5^a/10^a: the inverse has at most 3 digits for each digit here, as in 1/8 = 0.125.
  spend(context, price.quotient(digitsOf(base), 3 * digitsOf(base)));
  return new Exact(1).div(base);
}

/**
 * base^exponent as an integer power of an exact root, such as 4^1.5 = 2^3: that can be exact, which no number of digits would
 * show. With exponent n/q in lowest terms, c × 10^e has a q-th root exactly when q divides e and c is a q-th power. Null if it
 * has none.
 */
function exactFraction(
  context: Evaluation,
  base: Decimal,
  exponent: Decimal,
): { base: Decimal; n: number } | null {
  const places = -lowestPlace(exponent);
  // q is at least 2^places, and c and e are too short for the roots beyond.
  if (places > 13) return null;
  let numerator = coefficientOf(exponent);
  let q = 10 ** places;
  for (const prime of [2, 5])
    while (q % prime === 0 && numerator % BigInt(prime) === 0n) {
      q /= prime;
      numerator /= BigInt(prime);
    }
  const e = lowestPlace(base);
  const c = coefficientOf(base);
  if (e % q !== 0) return null;
  if (c !== 1n && q > digitsOf(base) * 4) return null;
  spend(context, price.root(4 * digitsOf(base)));
  const root = c === 1n ? 1n : integerRoot(c, q);
  if (c !== 1n && root ** BigInt(q) !== c) return null;
  const n = Number(numerator);
  return { base: new Exact(`${root}e${e / q}`), n: exponent.isNegative() ? -n : n };
}

/**
 * Computes exp(y ln x) with more digits until the bounds round to the same number. They do in the end, because the true value
 * never terminates.
 */
function transcendentalPower(context: Evaluation, base: Decimal, y: Decimal): Num {
  const e = lowestPlace(base);
  const c = coefficientOf(base);
  const f = lowestPlace(y);
  const d = y.isNegative() ? -coefficientOf(y) : coefficientOf(y);
  const span = Math.abs(e) + digitsOf(base) + Math.abs(f) + digitsOf(y);
  for (let digits = context.precision + 10; ; digits *= 2) {
    spend(context, price.series(digits, span));
    const bounds = powerBounds({ c, e }, { c: d, e: f }, digits);
    if (bounds.kind === "near_one") {
      const grows = base.gt(1) === y.isPositive();
      const rest = tenTo(-digits);
      return finish(context, new Exact(1).plus(grows ? rest : rest.negated()), PADDED);
    }
    const low = new Exact(`${bounds.low}e${bounds.exponent}`);
    const high = new Exact(`${bounds.high}e${bounds.exponent}`);
    const settled = settle(context, { low, high, negative: false }, PADDED);
    if (settled) return settled;
  }
}
