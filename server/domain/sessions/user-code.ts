import { randomInt } from "node:crypto";

/** Consonants alone: none looks like another letter or a digit, and no word comes out. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

/** A code a person reads on one screen and types on another. */
export function makeUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** The code somebody typed, whatever case, blanks and dashes it has. */
export function readUserCode(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s\p{Pd}]/gu, "");
}

/** XXXX-XXXX. */
export function showUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
