import type { Random } from "./random";

/*
 * Makes strings for the simple part of regular expressions: literals, classes, groups, alternatives and
 * quantifiers. Look-around, back-references and Unicode properties are refused.
 */

type Node =
  | { kind: "chars"; chars: string[] }
  | { kind: "sequence"; parts: Node[] }
  | { kind: "choice"; options: Node[] }
  | { kind: "repeat"; part: Node; least: number; most: number };

class Refused extends Error {}

const range = (from: string, to: string) => {
  const [first, last] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  if (last < first || last - first > 5_000) throw new Refused();
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
};
const DIGITS = range("0", "9");
const WORDS = [...range("a", "z"), ...range("A", "Z"), ...DIGITS, "_"];
const PRINTABLE = range(" ", "~");
const without = (chars: string[]) => PRINTABLE.filter((char) => !chars.includes(char));
const CLASSES: Record<string, string[]> = {
  d: DIGITS,
  w: WORDS,
  s: [" "],
  D: without(DIGITS),
  W: without(WORDS),
  S: without([" "]),
};
const CONTROLS: Record<string, string> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

/**
 * A string that matches the pattern, with open-ended repetitions used about `repeats` times; null when the pattern
 * is beyond this module. The same stream of random numbers makes the same string.
 */
export function fromPattern(pattern: string, random: Random, repeats: number): string | null {
  try {
    const text = write(parse(pattern), random, repeats);
    return new RegExp(pattern, "u").test(text) ? text : null;
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxError) return null;
    throw error;
  }
}

function parse(pattern: string): Node {
  const chars = [...pattern];
  let at = 0;

  function choice(): Node {
    const options = [sequence()];
    while (chars[at] === "|") {
      at += 1;
      options.push(sequence());
    }
    return options.length === 1 && options[0] ? options[0] : { kind: "choice", options };
  }

  function sequence(): Node {
    const parts: Node[] = [];
    while (at < chars.length && chars[at] !== "|" && chars[at] !== ")") {
      const char = chars[at];
      // Anchors add nothing to the text; the finished string is tested against the whole pattern.
      if (char === "^" || char === "$") at += 1;
      else parts.push(quantified(atom()));
    }
    return { kind: "sequence", parts };
  }

  function atom(): Node {
    const char = chars[at] ?? "";
    at += 1;
    if (char === "(") {
      if (chars[at] === "?") {
        if (chars[at + 1] === ":") at += 2;
        else if (chars[at + 1] === "<" && chars[at + 2] !== "=" && chars[at + 2] !== "!")
          at = chars.indexOf(">", at) + 1;
        else throw new Refused();
      }
      const inner = choice();
      if (chars[at] !== ")") throw new Refused();
      at += 1;
      return inner;
    }
    if (char === "[") return { kind: "chars", chars: bracket() };
    if (char === ".") return { kind: "chars", chars: PRINTABLE };
    if (char === "\\") return { kind: "chars", chars: escaped() };
    return { kind: "chars", chars: [char] };
  }

  function escaped(): string[] {
    const char = chars[at] ?? "";
    at += 1;
    const known = CLASSES[char];
    if (known) return known;
    const control = CONTROLS[char];
    if (control) return [control];
    if (char === "u" || char === "x") {
      const braced = char === "u" && chars[at] === "{";
      const end = braced ? chars.indexOf("}", at) : at + (char === "u" ? 4 : 2);
      const code = Number.parseInt(chars.slice(braced ? at + 1 : at, end).join(""), 16);
      if (!Number.isInteger(code)) throw new Refused();
      at = braced ? end + 1 : end;
      return [String.fromCodePoint(code)];
    }
    // Back-references, word boundaries, Unicode properties and the rest of the letters.
    if (/[A-Za-z0-9]/.test(char) || char === "") throw new Refused();
    return [char];
  }

  function member(): string[] {
    const char = chars[at] ?? "";
    at += 1;
    return char === "\\" ? escaped() : [char];
  }

  function bracket(): string[] {
    const negated = chars[at] === "^";
    if (negated) at += 1;
    const found: string[] = [];
    while (chars[at] !== "]") {
      if (at >= chars.length) throw new Refused();
      const first = member();
      if (chars[at] === "-" && chars[at + 1] !== "]" && first.length === 1) {
        at += 1;
        const last = member();
        found.push(...range(first[0] ?? "", last[0] ?? ""));
      } else {
        found.push(...first);
      }
    }
    at += 1;
    const usable = negated ? without(found) : found;
    if (usable.length === 0) throw new Refused();
    return usable;
  }

  function quantified(part: Node): Node {
    const char = chars[at];
    let bounds: [number, number] | null = null;
    if (char === "*") bounds = [0, Number.POSITIVE_INFINITY];
    else if (char === "+") bounds = [1, Number.POSITIVE_INFINITY];
    else if (char === "?") bounds = [0, 1];
    if (bounds) at += 1;
    else if (char === "{") {
      const match = /^\{(\d+)(,(\d*))?\}/.exec(chars.slice(at, at + 24).join(""));
      if (!match) throw new Refused();
      at += [...match[0]].length;
      const least = Number(match[1]);
      bounds = [
        least,
        match[2] === undefined ? least : match[3] ? Number(match[3]) : Number.POSITIVE_INFINITY,
      ];
    }
    if (!bounds) return part;
    // Lazy or not makes no difference to what matches.
    if (chars[at] === "?") at += 1;
    if (bounds[0] > 10_000) throw new Refused();
    return { kind: "repeat", part, least: bounds[0], most: bounds[1] };
  }

  const whole = choice();
  if (at < chars.length) throw new Refused();
  return whole;
}

function write(node: Node, random: Random, repeats: number): string {
  switch (node.kind) {
    case "chars":
      return node.chars[Math.floor(random() * node.chars.length)] ?? "";
    case "sequence":
      return node.parts.map((part) => write(part, random, repeats)).join("");
    case "choice": {
      const option = node.options[Math.floor(random() * node.options.length)];
      return option ? write(option, random, repeats) : "";
    }
    case "repeat": {
      const count = Math.min(node.least + repeats, node.most);
      return Array.from({ length: count }, () => write(node.part, random, repeats)).join("");
    }
  }
}
