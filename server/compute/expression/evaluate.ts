import {
  absolute,
  add,
  divide,
  extreme,
  minus,
  multiply,
  plus,
  remainder,
  round,
  squareRoot,
  subtract,
} from "./arithmetic";
import { type Evaluation, ROUNDINGS, type Rounding } from "./context";
import { readLiteral } from "./literal";
import { type Num, toNum, toText } from "./numbers";
import { type BinaryOperator, type Node, parse } from "./parse";
import { power } from "./power";
import { print } from "./print";
import { ExpressionError } from "./refusal";

/** Library and grammar that produced a result; the same text means the same arithmetic. */
export const ENGINE = "decimal.js 10.6.0 / capstan-expression 1";

export const MAX_EXPRESSION_LENGTH = 2048;
export const MAX_VARIABLE_LENGTH = 512;
export const MAX_PRECISION = 1000;
export const DEFAULT_PRECISION = 28;
export const DEFAULT_ROUNDING: Rounding = "half_even";
/** An expression of 2048 characters cannot name more. */
const MAX_VARIABLES = 1024;

export type ExpressionInput = {
  expression: string;
  variables?: Record<string, string>;
  precision?: number;
  rounding?: string;
};

export type ExpressionOutput = {
  result: string;
  normalizedExpression: string;
  precision: number;
  rounding: Rounding;
  engine: string;
  warnings: string[];
};

function isRounding(name: string): name is Rounding {
  return ROUNDINGS.some((rounding) => rounding === name);
}

/** Checks sizes, parameters and names before any arithmetic. Cheap for any input; throws ExpressionError. */
export function checkInput(input: ExpressionInput): Required<ExpressionInput> & { rounding: Rounding } {
  const { expression, variables = {}, precision = DEFAULT_PRECISION, rounding = DEFAULT_ROUNDING } = input;
  if (!Number.isInteger(precision) || precision < 1)
    throw new ExpressionError("invalid_parameter", `precision is an integer from 1 to ${MAX_PRECISION}.`);
  if (precision > MAX_PRECISION)
    throw new ExpressionError("precision_limit_exceeded", `precision is at most ${MAX_PRECISION}.`);
  if (!isRounding(rounding))
    throw new ExpressionError("invalid_parameter", `rounding is one of ${ROUNDINGS.join(", ")}.`);
  if (expression.length > MAX_EXPRESSION_LENGTH)
    throw new ExpressionError(
      "complexity_limit_exceeded",
      `The expression is longer than ${MAX_EXPRESSION_LENGTH} characters.`,
    );
  const entries = Object.entries(variables);
  if (entries.length > MAX_VARIABLES)
    throw new ExpressionError("complexity_limit_exceeded", `More than ${MAX_VARIABLES} variables.`);
  for (const [name, value] of entries) {
    if (name.length > MAX_EXPRESSION_LENGTH || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new ExpressionError(
        "invalid_variable",
        `${JSON.stringify(name.slice(0, 64))} is not a variable name: letters, digits and _, not starting with a digit.`,
      );
    if (value.length > MAX_VARIABLE_LENGTH)
      throw new ExpressionError(
        "invalid_variable",
        `The variable ${name.slice(0, 64)} is longer than ${MAX_VARIABLE_LENGTH} characters.`,
      );
  }
  return { expression, variables, precision, rounding };
}

function readVariables(variables: Record<string, string>): Map<string, Num> {
  const values = new Map<string, Num>();
  for (const [name, text] of Object.entries(variables)) {
    const literal = readLiteral(text);
    if (literal === "malformed")
      throw new ExpressionError(
        "invalid_variable",
        `The variable ${name.slice(0, 64)} is not a decimal number: ${JSON.stringify(text.slice(0, 64))}.`,
      );
    if (literal === "out_of_range")
      throw new ExpressionError(
        "numeric_overflow",
        `The variable ${name.slice(0, 64)} is outside 1E-10000 to 1E+10001.`,
      );
    values.set(name, toNum(literal));
  }
  return values;
}

const OPERATIONS: Record<BinaryOperator, (context: Evaluation, a: Num, b: Num) => Num> = {
  "+": add,
  "-": subtract,
  "*": multiply,
  "/": divide,
  "%": remainder,
  "^": power,
};

/**
 * Evaluates an expression on this thread; `evaluateExpression` does so on a worker. The output depends on the input alone. Throws
 * ExpressionError only.
 */
export function evaluate(input: ExpressionInput): ExpressionOutput {
  const { expression, variables, precision, rounding } = checkInput(input);
  const values = readVariables(variables);
  const tree = parse(expression);
  const context: Evaluation = { precision, rounding, position: 0, work: 0, warnings: new Set() };
  const used = new Set<string>();

  function valueAt(node: Node): Num {
    switch (node.kind) {
      case "number":
        return toNum(node.literal);
      case "variable": {
        used.add(node.name);
        const value = values.get(node.name);
        if (!value)
          throw new ExpressionError(
            "unknown_variable",
            `The variable ${node.name.slice(0, 64)} at position ${node.position} has no value.`,
            node.position,
          );
        return value;
      }
      case "unary": {
        const operand = valueAt(node.operand);
        context.position = node.position;
        return node.operator === "-" ? minus(context, operand) : plus(context, operand);
      }
      case "binary": {
        const left = valueAt(node.left);
        const right = valueAt(node.right);
        context.position = node.position;
        return OPERATIONS[node.operator](context, left, right);
      }
      case "call": {
        const numbers = node.parameters.map(valueAt);
        context.position = node.position;
        return call(context, node.name, numbers);
      }
    }
  }

  const result = toText(valueAt(tree));
  for (const name of values.keys())
    if (!used.has(name)) context.warnings.add(`The variable ${name.slice(0, 64)} is not used.`);
  return {
    result,
    normalizedExpression: print(tree),
    precision,
    rounding,
    engine: ENGINE,
    warnings: [...context.warnings],
  };
}

function call(context: Evaluation, name: (Node & { kind: "call" })["name"], numbers: Num[]): Num {
  // The parser has checked the arity: every function has at least one argument.
  const [first, second] = numbers as [Num, Num?];
  switch (name) {
    case "sqrt":
      return squareRoot(context, first);
    case "abs":
      return absolute(context, first);
    case "round":
      return round(context, first, second);
    case "min":
      return extreme(context, -1, numbers);
    case "max":
      return extreme(context, 1, numbers);
  }
}
