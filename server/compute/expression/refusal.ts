/** Reasons why an expression has no value. The README of this folder lists the conditions of each. */
export const EXPRESSION_ERROR_CODES = [
  "invalid_expression",
  "unknown_variable",
  "unsupported_function",
  "division_by_zero",
  "numeric_overflow",
  "precision_limit_exceeded",
  "complexity_limit_exceeded",
  "invalid_variable",
  "domain_error",
  "invalid_parameter",
] as const;

export type ExpressionErrorCode = (typeof EXPRESSION_ERROR_CODES)[number];

/** The refusal of an expression. `position` counts UTF-16 units of the expression from 0. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  constructor(
    readonly code: ExpressionErrorCode,
    message: string,
    readonly position?: number,
  ) {
    super(message);
  }
}
