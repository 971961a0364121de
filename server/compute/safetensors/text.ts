import { refuseFile, type SafetensorsRule, type TensorPosition } from "./rules";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Bytes of a long string that are decoded at once. */
const CHUNK_BYTES = 64 * 1024;

/** True for signs, the decimal point and the letter of exponents. */
const isOfNumber = (byte: number) =>
  byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x45 || byte === 0x65;

export type JsonReader = ReturnType<typeof jsonReader>;

/**
 * Reads the JSON of a header in place, from bytes that are known to be valid UTF-8. Builds only what the header's grammar asks
 * for, so that nesting and repetition cost nothing. Places are bytes of the file.
 */
export function jsonReader(bytes: Buffer, firstByte: number) {
  const cursor = cursorOver(bytes, firstByte);
  const { peek, take, need, needValue } = cursor;
  return {
    peek,
    take,
    need,
    needValue,
    ...stringsOf(cursor),
    /** A non-negative integer in plain digits. */
    natural: () => natural(cursor),
    /** Current position as a byte of the file. */
    place: () => firstByte + cursor.at,
  };
}

type Cursor = ReturnType<typeof cursorOver>;

/** The bytes, and the number of them that are read. */
function cursorOver(bytes: Buffer, firstByte: number) {
  const cursor = { bytes, at: 0, here, peek, take, need, needValue, malformed };

  function here(): TensorPosition {
    return { byte: firstByte + cursor.at };
  }

  /** Skips white space and returns the next byte without taking it; -1 at the end. */
  function peek(): number {
    let i = cursor.at;
    let byte = bytes[i];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++i];
    cursor.at = i;
    return byte ?? -1;
  }

  /** Takes the next byte if it is `char`. */
  function take(char: string): boolean {
    if (peek() !== char.charCodeAt(0)) return false;
    cursor.at++;
    return true;
  }

  function need(char: string): void {
    if (!take(char)) malformed(`'${char}' is missing.`);
  }

  /** Requires a value of this kind next. Another kind of value breaks `rule`; anything else is malformed JSON. */
  function needValue(kind: "string" | "object" | "array", rule: SafetensorsRule): void {
    const first = peek();
    if (first === (kind === "string" ? QUOTE : kind === "object" ? 0x7b : 0x5b)) return;
    if (first === -1 || !'"{[-0123456789tfn'.includes(String.fromCharCode(first))) malformed();
    refuseFile(rule, here());
  }

  function malformed(detail?: string): never {
    refuseFile("header_json", here(), cursor.at >= bytes.length ? "The JSON is cut off." : detail);
  }

  return cursor;
}

/** Functions that read strings at the cursor. */
function stringsOf(cursor: Cursor) {
  /**
   * Measures a string from the cursor up to its closing quote or past `limit` bytes, whichever is first; never ends in the middle
   * of an escape or of a character.
   */
  function span(limit: number): { isEnd: boolean; isPlain: boolean; isAscii: boolean; end: number } {
    const stop = cursor.at + limit;
    let isPlain = true;
    let isAscii = true;
    for (let i = cursor.at; i < cursor.bytes.length; ) {
      const byte = cursor.bytes[i] ?? 0;
      if (i >= stop && (byte & 0xc0) !== 0x80) return { isEnd: byte === QUOTE, isPlain, isAscii, end: i };
      if (byte === QUOTE) return { isEnd: true, isPlain, isAscii, end: i };
      if (byte === BACKSLASH) {
        isPlain = false;
        i += cursor.bytes[i + 1] === 0x75 ? 6 : 2;
        continue;
      }
      if (byte < 0x20) {
        cursor.at = i;
        cursor.malformed("A string contains a control character.");
      }
      if (byte >= 0x80) isAscii = false;
      i++;
    }
    cursor.at = cursor.bytes.length;
    return cursor.malformed();
  }

  function decode(end: number, isPlain: boolean, isAscii: boolean): string {
    if (isPlain)
      return isAscii
        ? cursor.bytes.toString("latin1", cursor.at, end)
        : cursor.bytes.toString("utf8", cursor.at, end);
    try {
      return JSON.parse(`"${cursor.bytes.toString("utf8", cursor.at, end)}"`);
    } catch {
      return cursor.malformed("A string contains an invalid escape.");
    }
  }

  function wellFormed(text: string): string {
    if (/\p{Surrogate}/u.test(text)) refuseFile("lone_surrogate", cursor.here());
    return text;
  }

  /** Reads a string of up to six times `mostBytes`, because every byte may be escaped; null if it is longer. */
  function shortString(mostBytes: number): string | null {
    cursor.need('"');
    const { isEnd, isPlain, isAscii, end } = span(mostBytes * 6);
    if (!isEnd) return null;
    const text = decode(end, isPlain, isAscii);
    if (!isPlain) wellFormed(text);
    cursor.at = end + 1;
    return text;
  }

  /** Reads a string of any length, with a pause after each chunk. */
  function* longString(): Generator<undefined, string> {
    cursor.need('"');
    const parts: string[] = [];
    let half = ""; // of a surrogate pair whose other half is in the next chunk
    for (;;) {
      const { isEnd, isPlain, isAscii, end } = span(CHUNK_BYTES);
      let text = half + decode(end, isPlain, isAscii);
      half = !isEnd && /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
      if (half) text = text.slice(0, -1);
      parts.push(wellFormed(text));
      cursor.at = end;
      if (isEnd) {
        cursor.at++;
        return parts.join("");
      }
      yield;
    }
  }

  return { shortString, longString };
}

function natural(cursor: Cursor): number {
  const first = cursor.peek();
  let end = cursor.at;
  let number = 0;
  for (let byte = cursor.bytes[end] ?? 0; byte >= 0x30 && byte <= 0x39; byte = cursor.bytes[++end] ?? 0) {
    number = number * 10 + byte - 0x30;
    if (number > Number.MAX_SAFE_INTEGER) refuseFile("number_too_large", cursor.here());
  }
  if (isOfNumber(cursor.bytes[end] ?? 0) || (first === 0x30 && end - cursor.at > 1))
    refuseFile("number_form", cursor.here());
  if (end === cursor.at) {
    if (first === -1 || !'"{[tfn'.includes(String.fromCharCode(first))) cursor.malformed();
    refuseFile("entry_type", cursor.here(), "A number is missing.");
  }
  cursor.at = end;
  return number;
}
