import { randomInt } from "node:crypto";

/** Only consonants are used: none looks like another letter or a digit, and they form no words. */
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
