import { type Literal, readLiteral } from "./literal";
import { ExpressionError } from "./refusal";

const MAX_DEPTH = 100;

export const ARITY = {
  sqrt: [1, 1],
  abs: [1, 1],
  min: [1, Number.POSITIVE_INFINITY],
  max: [1, Number.POSITIVE_INFINITY],
  round: [1, 2],
} as const;
export type FunctionName = keyof typeof ARITY;

export type BinaryOperator = "+" | "-" | "*" | "/" | "%" | "^";

/** `position` is the offset of the number, name or operator in the text. */
export type Node =
  | { kind: "number"; literal: Literal; position: number }
  | { kind: "variable"; name: string; position: number }
  | { kind: "unary"; operator: "+" | "-"; operand: Node; position: number }
  | { kind: "binary"; operator: BinaryOperator; left: Node; right: Node; position: number }
  | { kind: "call"; name: FunctionName; parameters: Node[]; position: number };

type Token = { kind: "number" | "name" | "symbol" | "end"; text: string; position: number };

const NUMBER = /(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SPACE = /[ \t\r\n]+/y;
const SYMBOLS = "+-*/%^(),";

function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    return pattern.exec(text)?.[0];
  };
  while (position < text.length) {
    const space = take(SPACE);
    if (space !== undefined) {
      position += space.length;
      continue;
    }
    const number = take(NUMBER);
    const name = number === undefined ? take(NAME) : undefined;
    const symbol = SYMBOLS.includes(text.charAt(position)) ? text.charAt(position) : undefined;
    const found = number ?? name ?? symbol;
    if (found === undefined) {
      const character = String.fromCodePoint(text.codePointAt(position) ?? 0);
      throw new ExpressionError(
        "invalid_expression",
        `Unexpected character ${JSON.stringify(character)} at position ${position}.`,
        position,
      );
    }
    tokens.push({
      kind: number !== undefined ? "number" : name !== undefined ? "name" : "symbol",
      text: found,
      position,
    });
    position += found.length;
    if (number !== undefined && /[A-Za-z0-9_.]/.test(text.charAt(position)))
      throw new ExpressionError(
        "invalid_expression",
        `The number that ends at position ${position} runs into ${JSON.stringify(text.charAt(position))}; products need a *.`,
        position,
      );
  }
  tokens.push({ kind: "end", text: "", position });
  return tokens;
}

function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(ARITY, name);
}

/**
 * Reads an expression into a tree:
 *
 *     sum     = product (("+" | "-") product)*
 *     product = signed (("*" | "/" | "%") signed)*
 *     signed  = ("+" | "-") signed | power
 *     power   = atom ("^" signed)?
 *     atom    = number | name | name "(" sum ("," sum)* ")" | "(" sum ")"
 *
 * so `^` is right-associative and binds tighter than a sign before it: -2^2 is -(2^2), and 2^-1 needs no parentheses.
 * Parentheses, calls, signs and chained `^` nest at most MAX_DEPTH deep; deeper is `complexity_limit_exceeded`.
 */
export function parse(text: string): Node {
  const tokens = readTokens(text);
  const reader: Reader = { tokens, index: 0, depth: 0 };
  const tree = sum(reader);
  if (next(reader).kind !== "end") unexpected(reader, "an operator or the end");
  return tree;
}

/** The tokens of an expression, how many of them are read, and the nesting depth. */
type Reader = { tokens: Token[]; index: number; depth: number };

// The last token is always "end" and is never consumed.
const next = ({ tokens, index }: Reader): Token => tokens[index]!;
const isSymbol = (reader: Reader, symbols: string): boolean =>
  next(reader).kind === "symbol" && symbols.includes(next(reader).text);

function unexpected(reader: Reader, wanted: string): never {
  const { kind, text: found, position } = next(reader);
  throw new ExpressionError(
    "invalid_expression",
    kind === "end"
      ? `The expression ends where ${wanted} is expected.`
      : `Expected ${wanted} at position ${position}, found ${JSON.stringify(found)}.`,
    position,
  );
}

function nested<T>(reader: Reader, read: (reader: Reader) => T): T {
  if (++reader.depth > MAX_DEPTH)
    throw new ExpressionError(
      "complexity_limit_exceeded",
      `The expression nests more than ${MAX_DEPTH} levels deep.`,
      next(reader).position,
    );
  const value = read(reader);
  reader.depth--;
  return value;
}

function leftAssociative(reader: Reader, operators: string, operand: (reader: Reader) => Node): Node {
  let left = operand(reader);
  while (isSymbol(reader, operators)) {
    const { text: operator, position } = next(reader);
    reader.index++;
    left = { kind: "binary", operator: operator as BinaryOperator, left, right: operand(reader), position };
  }
  return left;
}

const sum = (reader: Reader): Node => leftAssociative(reader, "+-", product);
const product = (reader: Reader): Node => leftAssociative(reader, "*/%", signed);

function signed(reader: Reader): Node {
  if (!isSymbol(reader, "+-")) return power(reader);
  const { text: operator, position } = next(reader);
  reader.index++;
  return { kind: "unary", operator: operator as "+" | "-", operand: nested(reader, signed), position };
}

function power(reader: Reader): Node {
  const base = atom(reader);
  if (!isSymbol(reader, "^")) return base;
  const { position } = next(reader);
  reader.index++;
  return { kind: "binary", operator: "^", left: base, right: nested(reader, signed), position };
}

function close(reader: Reader): void {
  if (!isSymbol(reader, ")")) unexpected(reader, '")" or an operator');
  reader.index++;
}

function atom(reader: Reader): Node {
  const token = next(reader);
  if (token.kind === "number") {
    reader.index++;
    const literal = readLiteral(token.text);
    if (typeof literal === "string")
      throw new ExpressionError(
        "numeric_overflow",
        `The number at position ${token.position} is outside 1E-10000 to 1E+10001.`,
        token.position,
      );
    return { kind: "number", literal, position: token.position };
  }
  if (token.kind === "name") {
    reader.index++;
    if (!isSymbol(reader, "(")) return { kind: "variable", name: token.text, position: token.position };
    return call(reader, token);
  }
  if (!isSymbol(reader, "(")) unexpected(reader, "a number, a name or an opening parenthesis");
  reader.index++;
  const inner = nested(reader, sum);
  close(reader);
  return inner;
}

function call(reader: Reader, { text: name, position }: Token): Node {
  if (!isFunctionName(name))
    throw new ExpressionError(
      "unsupported_function",
      `There is no function ${name.slice(0, 64)} (position ${position}); the functions are ${Object.keys(ARITY).join(", ")}.`,
      position,
    );
  reader.index++;
  const parameters: Node[] = [];
  if (!isSymbol(reader, ")")) {
    parameters.push(nested(reader, sum));
    while (isSymbol(reader, ",")) {
      reader.index++;
      parameters.push(nested(reader, sum));
    }
  }
  close(reader);
  const [least, most] = ARITY[name];
  if (parameters.length < least || parameters.length > most)
    throw new ExpressionError(
      "invalid_expression",
      `${name} takes ${most === least ? "one argument" : most === 2 ? "one or two arguments" : "at least one argument"}, not ${parameters.length}.`,
      position,
    );
  return { kind: "call", name, parameters, position };
}
