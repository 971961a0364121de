import { writeLiteral } from "./literal";
import type { Node } from "./parse";

const SUM = 1;
const PRODUCT = 2;
const SIGNED = 3;
const POWER = 4;
const ATOM = 5;

function strength(node: Node): number {
  if (node.kind === "unary") return SIGNED;
  if (node.kind !== "binary") return ATOM;
  if (node.operator === "^") return POWER;
  return node.operator === "+" || node.operator === "-" ? SUM : PRODUCT;
}

/** Prints a tree in its normal form: no needless parentheses, one space around binary operators. Parses back to the same tree. */
export function print(node: Node, needed: number = SUM): string {
  const text = bare(node);
  return strength(node) < needed ? `(${text})` : text;
}

function bare(node: Node): string {
  switch (node.kind) {
    case "number":
      return writeLiteral(node.literal);
    case "variable":
      return node.name;
    case "unary":
      return node.operator + print(node.operand, SIGNED);
    case "call":
      return `${node.name}(${node.parameters.map((parameter) => print(parameter)).join(", ")})`;
    case "binary": {
      const own = strength(node);
      const left = print(node.left, own === POWER ? ATOM : own);
      const right = print(node.right, own === POWER ? SIGNED : own + 1);
      return `${left} ${node.operator} ${right}`;
    }
  }
}
