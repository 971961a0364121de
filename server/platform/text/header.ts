import { isUtf8 } from "node:buffer";

const PLAIN = /^[\t\x20-\x7e]*$/;
/** A quoted string, by RFC 9110, section 5.6.4. */
const QUOTED = /^[\t ]*"((?:[^"\\]|\\.)*)"[\t ]*$/s;

/**
 * Decodes a header's value, which hosts hand over as Latin-1 with one character a byte: as UTF-8 if its bytes are valid UTF-8,
 * else as Latin-1. A value wholly in double quotes is the text inside.
 */
export function headerText(raw: string): string {
  const text = decoded(raw);
  const inside = QUOTED.exec(text)?.[1];
  return (inside === undefined ? text : inside.replace(/\\(.)/gs, "$1")).trim();
}

function decoded(raw: string): string {
  if (PLAIN.test(raw)) return raw;
  const bytes = Buffer.from(raw, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : raw;
}

/** Texts of a header that may be sent on several lines; several texts only if they differ. */
export const textsOf = (lines: readonly string[]): string[] => [...new Set(lines.map(headerText))];
