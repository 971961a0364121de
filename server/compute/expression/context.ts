import { ExpressionError, type ExpressionErrorCode } from "./refusal";

export const ROUNDINGS = [
  "05up",
  "ceiling",
  "down",
  "floor",
  "half_down",
  "half_even",
  "half_up",
  "up",
] as const;
export type Rounding = (typeof ROUNDINGS)[number];

/** Work units that one evaluation may spend: some 60 ms, at about 3 µs each. */
export const WORK_LIMIT = 20_000;

/** Cost of an operation in work units, by the digits it touches. Measured once and then fixed, because refusals depend on it. */
export const price = {
  /** Addition, comparison, rounding. */
  sum: (digits: number): number => 1 + digits / 100,
  /** Multiplication of m by n digits. */
  product: (m: number, n: number): number => 1 + (m + n) / 100 + (m * n) / 10_000,
  /** Division by m digits for n digits of quotient. */
  quotient: (m: number, n: number): number => 5 + (m + n) / 50 + (m * n) / 5_000,
  /** Integer root of a number with this many digits. */
  root: (digits: number): number => 5 + digits / 100 + (digits / 100) ** 2 / 8,
  /** A power by exp and ln to `digits` digits; `span` is the length of the operands with the zeros of their exponents. */
  series: (digits: number, span: number): number =>
    6 + 3 * (digits / 100) ** 2 + span / 100 + (span / 100) ** 2 / 400,
};

/** One evaluation: its parameters, its position, and the work and warnings so far. */
export type Evaluation = {
  /** Significant digits that an inexact result keeps. */
  readonly precision: number;
  readonly rounding: Rounding;
  /** Offset of the operation being evaluated, for refusals. */
  position: number;
  work: number;
  readonly warnings: Set<string>;
};

/** Refuses the operation being evaluated. The message is a sentence; the operation's position is added. */
export function refuseEvaluation(context: Evaluation, code: ExpressionErrorCode, message: string): never {
  const sentence = message.replace(/\.$/, "");
  throw new ExpressionError(code, `${sentence} (position ${context.position}).`, context.position);
}

/** Pays for work before it is done, so that a refusal depends on the input alone, never on the machine. */
export function spend(context: Evaluation, units: number): void {
  context.work += Math.ceil(units);
  if (context.work > WORK_LIMIT)
    refuseEvaluation(
      context,
      "complexity_limit_exceeded",
      `The expression needs more than ${WORK_LIMIT} units of work; use fewer operations, fewer digits or a lower precision.`,
    );
}
