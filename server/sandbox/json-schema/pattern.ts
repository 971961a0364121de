import type { Random } from "../random";

/*
 * The simple part of regular expressions, for callers' schemas. All positions are followed at once, so no pattern is slow;
 * look-around, back-references, word boundaries and Unicode properties are refused.
 */

type Class = { chars: string[]; has(char: string): boolean };
type Node =
  | { kind: "class"; class: Class }
  | { kind: "start" }
  | { kind: "end" }
  | { kind: "sequence"; parts: Node[] }
  | { kind: "choice"; options: Node[] }
  | { kind: "repeat"; part: Node; least: number; most: number };

/** Thrown for a pattern that is broken or beyond this module. */
export class UnsupportedPattern extends Error {
  override readonly name = "UnsupportedPattern";
}

const MAX_REPEATS = 10_000;
const MAX_TEXT = 100_000;

/**
 * Makes a string that matches the pattern, with open-ended repetitions used about `repeats` times; null if the random string
 * misses an anchor. The same random stream makes the same string.
 */
export function fromPattern(pattern: string, random: Random, repeats: number): string | null {
  const tree = parse(pattern);
  const written: string[] = [];
  write(tree, random, repeats, written);
  return matches(tree, written) ? written.join("") : null;
}

/** True if the pattern matches somewhere in the text, as `RegExp` with the flag u would. */
export function matchesPattern(pattern: string, text: string): boolean {
  return matches(parse(pattern), [...text]);
}

function matches(tree: Node, text: string[]): boolean {
  const everywhere = new Set(text.keys()).add(text.length);
  return follow(tree, text, everywhere).size > 0;
}

/** Positions at which a node can end, from any of its possible starts. */
function follow(node: Node, text: string[], from: Set<number>): Set<number> {
  switch (node.kind) {
    case "class":
      return new Set(
        [...from].filter((at) => at < text.length && node.class.has(text[at] ?? "")).map((at) => at + 1),
      );
    case "start":
      return new Set(from.has(0) ? [0] : []);
    case "end":
      return new Set(from.has(text.length) ? [text.length] : []);
    case "sequence":
      return node.parts.reduce((at, part) => (at.size > 0 ? follow(part, text, at) : at), from);
    case "choice":
      return new Set(node.options.flatMap((option) => [...follow(option, text, from)]));
    case "repeat": {
      const ends = new Set(node.least === 0 ? from : []);
      let at = from;
      for (let count = 1; count <= node.most && at.size > 0; count += 1) {
        const next = follow(node.part, text, at);
        const isSettled = next.size === at.size && [...next].every((position) => at.has(position));
        at = next;
        if (count < node.least && !isSettled) continue;
        const before = ends.size;
        for (const position of at) ends.add(position);
        if (isSettled || (count > node.least && ends.size === before)) break;
      }
      return ends;
    }
  }
}

function write(node: Node, random: Random, repeats: number, written: string[]): void {
  if (written.length > MAX_TEXT) throw new UnsupportedPattern();
  switch (node.kind) {
    case "class":
      written.push(node.class.chars[Math.floor(random() * node.class.chars.length)] ?? "");
      return;
    case "sequence":
      for (const part of node.parts) write(part, random, repeats, written);
      return;
    case "choice": {
      const option = node.options[Math.floor(random() * node.options.length)];
      if (option) write(option, random, repeats, written);
      return;
    }
    case "repeat": {
      const count = Math.min(node.least + repeats, node.most);
      for (let turn = 0; turn < count; turn += 1) write(node.part, random, repeats, written);
      return;
    }
  }
}

// ---- reading a pattern

const range = (from: string, to: string) => {
  const [first, last] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  if (last < first || last - first > 5_000) throw new UnsupportedPattern();
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
};
const only = (chars: string[]): Class => {
  const set = new Set(chars);
  return { chars, has: (char) => set.has(char) };
};
const PRINTABLE = range(" ", "~");
const not = (inner: Class): Class => ({
  chars: PRINTABLE.filter((char) => !inner.has(char)),
  has: (char) => !inner.has(char),
});

const DIGIT = only(range("0", "9"));
const WORD = only([...range("a", "z"), ...range("A", "Z"), ...DIGIT.chars, "_"]);
const SPACE: Class = { chars: [" "], has: (char) => /\s/u.test(char) };
const ANY: Class = { chars: PRINTABLE, has: (char) => !/[\n\r\u2028\u2029]/u.test(char) };
const CLASSES: Record<string, Class> = {
  d: DIGIT,
  w: WORD,
  s: SPACE,
  D: not(DIGIT),
  W: not(WORD),
  S: not(SPACE),
};
const CONTROLS: Record<string, string> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

/** A pattern's characters, and the number of them that are read. */
type Reader = { chars: string[]; at: number };

function parse(pattern: string): Node {
  const r: Reader = { chars: [...pattern], at: 0 };
  const whole = choice(r, 0);
  if (r.at < r.chars.length) throw new UnsupportedPattern();
  return whole;
}

function choice(r: Reader, depth: number): Node {
  if (depth > 100) throw new UnsupportedPattern();
  const options = [sequence(r, depth)];
  while (r.chars[r.at] === "|") {
    r.at += 1;
    options.push(sequence(r, depth));
  }
  return { kind: "choice", options };
}

function sequence(r: Reader, depth: number): Node {
  const parts: Node[] = [];
  while (r.at < r.chars.length && r.chars[r.at] !== "|" && r.chars[r.at] !== ")")
    parts.push(quantified(r, atom(r, depth)));
  return { kind: "sequence", parts };
}

function atom(r: Reader, depth: number): Node {
  const char = r.chars[r.at] ?? "";
  r.at += 1;
  if (char === "^") return { kind: "start" };
  if (char === "$") return { kind: "end" };
  if (char === "(") return group(r, depth);
  if (char === "[") return { kind: "class", class: bracket(r) };
  if (char === ".") return { kind: "class", class: ANY };
  if (char === "\\") return { kind: "class", class: escaped(r) };
  if ("*+?{}]".includes(char)) throw new UnsupportedPattern();
  return { kind: "class", class: only([char]) };
}

function group(r: Reader, depth: number): Node {
  if (r.chars[r.at] === "?") {
    const isNamed = r.chars[r.at + 1] === "<" && r.chars[r.at + 2] !== "=" && r.chars[r.at + 2] !== "!";
    if (r.chars[r.at + 1] === ":") r.at += 2;
    else if (isNamed && r.chars.includes(">", r.at)) r.at = r.chars.indexOf(">", r.at) + 1;
    else throw new UnsupportedPattern();
  }
  const inner = choice(r, depth + 1);
  if (r.chars[r.at] !== ")") throw new UnsupportedPattern();
  r.at += 1;
  return inner;
}

function escaped(r: Reader): Class {
  const char = r.chars[r.at] ?? "";
  r.at += 1;
  const known = CLASSES[char];
  if (known) return known;
  const control = CONTROLS[char];
  if (control) return only([control]);
  if (char === "u" || char === "x") {
    const braced = char === "u" && r.chars[r.at] === "{";
    const end = braced ? r.chars.indexOf("}", r.at) : r.at + (char === "u" ? 4 : 2);
    const digits = r.chars.slice(braced ? r.at + 1 : r.at, end).join("");
    if (!/^[0-9a-fA-F]{1,6}$/.test(digits) || Number.parseInt(digits, 16) > 0x10ffff)
      throw new UnsupportedPattern();
    r.at = braced ? end + 1 : end;
    return only([String.fromCodePoint(Number.parseInt(digits, 16))]);
  }
  // Back-references, word boundaries, Unicode properties and the other escaped letters are refused.
  if (/[A-Za-z0-9]/.test(char) || char === "") throw new UnsupportedPattern();
  return only([char]);
}

function member(r: Reader): Class {
  const char = r.chars[r.at] ?? "";
  r.at += 1;
  return char === "\\" ? escaped(r) : only([char]);
}

function bracket(r: Reader): Class {
  const isNegated = r.chars[r.at] === "^";
  if (isNegated) r.at += 1;
  const members: Class[] = [];
  while (r.chars[r.at] !== "]") {
    if (r.at >= r.chars.length) throw new UnsupportedPattern();
    const first = member(r);
    if (r.chars[r.at] === "-" && r.chars[r.at + 1] !== "]" && first.chars.length === 1) {
      r.at += 1;
      members.push(only(range(first.chars[0] ?? "", member(r).chars[0] ?? "")));
    } else {
      members.push(first);
    }
  }
  r.at += 1;
  const union: Class = {
    chars: members.flatMap((inner) => inner.chars),
    has: (char) => members.some((inner) => inner.has(char)),
  };
  const whole = isNegated ? not(union) : union;
  if (whole.chars.length === 0) throw new UnsupportedPattern();
  return whole;
}

function quantified(r: Reader, part: Node): Node {
  const bounds = quantifier(r);
  if (!bounds) return part;
  // A lazy quantifier matches the same texts.
  if (r.chars[r.at] === "?") r.at += 1;
  const [least, most] = bounds;
  if (least > MAX_REPEATS || most < least) throw new UnsupportedPattern();
  return { kind: "repeat", part, least, most };
}

function quantifier(r: Reader): [number, number] | null {
  const char = r.chars[r.at] ?? "";
  if (char === "{") {
    const found = /^\{(\d+)(,(\d*))?\}/.exec(r.chars.slice(r.at, r.at + 24).join(""));
    if (!found) throw new UnsupportedPattern();
    r.at += found[0].length;
    const least = Number(found[1]);
    return [least, found[2] === undefined ? least : found[3] ? Number(found[3]) : Number.POSITIVE_INFINITY];
  }
  if (!"*+?".includes(char) || char === "") return null;
  r.at += 1;
  return [char === "+" ? 1 : 0, char === "?" ? 1 : Number.POSITIVE_INFINITY];
}
