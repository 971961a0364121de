import fc from "fast-check";
import { expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { evaluate } from "./evaluate";
import { readLiteral, writeLiteral } from "./literal";
import { type Node, parse } from "./parse";
import { print } from "./print";
import { EXPRESSION_ERROR_CODES, ExpressionError } from "./refusal";

/** A tree without its positions, which printing changes. */
function shape(node: Node): unknown {
  return JSON.parse(JSON.stringify(node, (key, value) => (key === "position" ? undefined : value)));
}

const number = fc.oneof(
  fc.nat().map(String),
  fc
    .tuple(fc.nat({ max: 9999 }), fc.stringMatching(/^[0-9]{0,6}$/))
    .map(([whole, rest]) => `${whole}.${rest}`),
  fc.tuple(fc.nat({ max: 999 }), fc.integer({ min: -40, max: 40 })).map(([digits, e]) => `${digits}e${e}`),
);
const name = fc.constantFrom("a", "b", "_x1");
const { tree: expression } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    number,
    name,
    fc
      .tuple(tie("tree"), fc.constantFrom("+", "-", "*", "/", "%", "^"), tie("tree"))
      .map(([a, op, b]) => `${a}${op}${b}`),
    tie("tree").map((inner) => `( ${inner})`),
    fc.tuple(fc.constantFrom("+", "-"), tie("tree")).map(([sign, operand]) => sign + operand),
    fc.tuple(fc.constantFrom("sqrt", "abs"), tie("tree")).map(([f, x]) => `${f}(${x})`),
    fc
      .tuple(fc.constantFrom("min", "max"), fc.array(tie("tree"), { minLength: 1, maxLength: 3 }))
      .map(([f, xs]) => `${f}(${xs.join(",")})`),
    fc.tuple(tie("tree"), fc.integer({ min: 0, max: 5 })).map(([x, n]) => `round(${x} ,${n})`),
  ),
}));

function outcome(text: string, precision: number, variables: Record<string, string>): string {
  try {
    return evaluate({ expression: text, precision, variables }).result;
  } catch (error) {
    if (error instanceof ExpressionError && EXPRESSION_ERROR_CODES.includes(error.code)) return error.code;
    throw error;
  }
}

test("the normalized expression parses back to the same tree and is its own normal form", () => {
  fc.assert(
    fc.property(expression, (text) => {
      const tree = parse(text);
      const printed = print(tree);
      expect(shape(parse(printed))).toEqual(shape(tree));
      expect(print(parse(printed))).toBe(printed);
    }),
    campaign.runs({ small: 300, full: 10_000 }),
  );
});

test("the normalized expression has the same value", () => {
  const variables = { a: "-2.50", b: "3", _x1: "0.1" };
  fc.assert(
    fc.property(expression, fc.integer({ min: 1, max: 60 }), (text, precision) => {
      const printed = print(parse(text));
      fc.pre(text.length <= 2048 && printed.length <= 2048);
      expect(outcome(printed, precision, variables)).toBe(outcome(text, precision, variables));
    }),
    campaign.runs({ small: 100, full: 3_000 }),
  );
});

test("any text gives a decimal that reads back unchanged, or one of the ten codes", () => {
  const soup = fc
    .array(
      fc.constantFrom(
        ..."0123456789.eE+-*/%^(),",
        "a",
        "sqrt(",
        "min(",
        "max(",
        "round(",
        "abs(",
        " ",
        "1e9999",
        "9",
        ")",
      ),
      {
        maxLength: 500,
      },
    )
    .map((parts) => parts.join("").slice(0, 2048));
  fc.assert(
    fc.property(
      fc.oneof(soup, fc.string({ unit: "binary", maxLength: 1024 }), expression),
      fc.constantFrom(1, 2, 28, 100, 1000),
      (text, precision) => {
        const result = outcome(text, precision, { a: "1.5" });
        if (EXPRESSION_ERROR_CODES.some((code) => code === result)) return;
        const literal = readLiteral(result);
        if (literal === "malformed") throw new Error(`${text} gives ${result}`);
        // A zero may have an exponent beyond the readable range.
        if (literal !== "out_of_range") expect(writeLiteral(literal)).toBe(result);
      },
    ),
    campaign.runs({ small: 300, full: 10_000 }),
  );
});

test("a sum, a difference and a product that fit the precision are exact", () => {
  const scaled = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat({ max: 20 }));
  fc.assert(
    fc.property(scaled, scaled, ([a, m], [b, n]) => {
      const variables = { a: `${a}e-${m}`, b: `${b}e-${n}` };
      const common = Math.max(m, n);
      const wide = (value: bigint, places: number): bigint => value * 10n ** BigInt(common - places);
      const equals = (text: string, value: bigint, places: number): void => {
        const literal = readLiteral(outcome(text, 100, variables));
        if (typeof literal === "string") throw new Error(literal);
        expect(BigInt(literal.digits) * (literal.negative ? -1n : 1n)).toBe(value);
        expect(literal.exponent + places).toBe(0);
      };
      equals("a + b", wide(a, m) + wide(b, n), common);
      equals("a - b", wide(a, m) - wide(b, n), common);
      equals("a * b", a * b, m + n);
    }),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});
