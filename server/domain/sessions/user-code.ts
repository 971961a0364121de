import { randomInt } from "node:crypto";

/**
 * The 20 consonants that RFC 8628, section 6.1, suggests: without vowels the codes form no words, and without
 * digits no letter can be taken for a digit.
 */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

/** Makes a code that a person reads on one screen and types on another. */
export function makeUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** Normalizes a typed code, whatever its case, blanks and dashes. */
export function readUserCode(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s\p{Pd}]/gu, "");
}

/** Formats a code as XXXX-XXXX. */
export function showUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
