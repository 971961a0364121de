/*
 * JSON.parse takes 25 ms for an object with fifty thousand names. This parser reads such a text in pieces, each with
 * JSON.parse, and yields between them: it splits containers that are longer than a piece at their commas.
 */

const PIECE = 32 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const isOpening = (char: number) => char === 0x5b || char === 0x7b;
const isClosing = (char: number) => char === 0x5d || char === 0x7d;
const isBlank = (text: string) => /^[ \t\n\r]*$/.test(text);

/**
 * Returns what JSON.parse returns, for a text in which no object has a name twice. Throws SyntaxError if JSON.parse
 * does.
 */
export function* parseInPieces(text: string, piece = PIECE): Generator<undefined, unknown> {
  const ends = endsOf(text, piece);
  yield;
  const start = text.search(/[^ \t\n\r]/);
  const end = ends.get(start);
  if (end === undefined) return JSON.parse(text);
  if (!isBlank(text.slice(end + 1))) throw new SyntaxError("something follows the value");
  return yield* takenApart(text, start, ends, piece);
}

/** The positions at which containers longer than a piece end, by the positions at which they begin. */
function endsOf(text: string, piece: number): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at);
    else if (isOpening(char)) open.push(at);
    else if (isClosing(char)) {
      const start = open.pop();
      if (start === undefined) throw new SyntaxError("nothing is open here");
      if (at - start > piece) ends.set(start, at);
    }
  }
  return ends;
}

/** The position of the quote that ends a string; the text's length or more if there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function* takenApart(
  text: string,
  start: number,
  ends: Map<number, number>,
  piece: number,
): Generator<undefined, unknown> {
  const end = ends.get(start)!; // only containers that are listed there are taken apart
  const made = text[start] === "[" ? listOf() : objectOf();
  if (text[end] !== made.close) throw new SyntaxError("it is closed by another bracket");
  // The unread members begin at `from`, the last of them at `member`. `from` is null after a member that was taken apart itself.
  let from: number | null = start + 1;
  let member = from;
  let depth = 0;
  for (let at = start + 1; at < end; at++) {
    const char = text.charCodeAt(at);
    const inner = depth === 0 && isOpening(char) ? ends.get(at) : undefined;
    if (char === QUOTE) at = endOfString(text, at);
    else if (inner !== undefined) {
      if (from === null) throw new SyntaxError("two values follow each other");
      if (member > from) made.add(text.slice(from, member - 1));
      made.set(text.slice(member, at), yield* takenApart(text, at, ends, piece));
      at = inner;
      from = null;
      member = at + 1;
    } else if (isOpening(char)) depth++;
    else if (isClosing(char)) depth--;
    else if (char === COMMA && depth === 0) {
      if (from === null) {
        if (!isBlank(text.slice(member, at))) throw new SyntaxError("a value is followed by another");
        from = at + 1;
      } else if (at - from > piece) {
        made.add(text.slice(from, at));
        from = at + 1;
        yield;
      }
      member = at + 1;
    }
  }
  const rest = text.slice(from ?? member, end);
  const isEmpty = isBlank(rest) && (from === null || from === start + 1);
  if (!isEmpty && from === null) throw new SyntaxError("a value is followed by another");
  if (!isEmpty) made.add(rest);
  return made.value;
}

/** Reads members of a list or an object, at least one. */
const membersOf = (open: string, close: string, members: string) => {
  if (isBlank(members)) throw new SyntaxError("a member is missing");
  return JSON.parse(`${open}${members}${close}`);
};

function listOf() {
  const value: unknown[] = [];
  return {
    ...{ close: "]", value },
    add: (members: string) => void value.push(...membersOf("[", "]", members)),
    set(before: string, inner: unknown) {
      if (!isBlank(before)) throw new SyntaxError("an item of a list has a name");
      value.push(inner);
    },
  };
}

function objectOf() {
  const value: Record<string, unknown> = {};
  return {
    ...{ close: "}", value },
    add: (members: string) => void Object.assign(value, membersOf("{", "}", members)),
    set(before: string, inner: unknown) {
      // An empty list replaces the value: unlike a digit, it cannot merge with the text before it.
      const [name, ...others] = Object.keys(JSON.parse(`{${before}[]}`));
      if (name === undefined || others.length > 0) throw new SyntaxError("a value has no name");
      value[name] = inner;
    },
  };
}
