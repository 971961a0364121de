import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 43; // 43 × log2(62) = 256 bits
const FORM = /^([a-z0-9_-]+)_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;
const KEY = /^cap_[a-z0-9][a-z0-9-]{0,62}$/;

/** Words that begin a text of ours which is no key: `caps` a device's session, `capp` a panel session, `plc` a launch code. */
export type TokenWord = "caps" | "capp" | "plc";

/** Makes the text of an API key, `cap_<environment>_<43 base62>_<6 base62 CRC32>`. It is shown once and never stored. */
export function makeKeyText(environment: string): string {
  return makeText(`cap_${environment}`);
}

/** Makes a bearer token of the same form, `<word>_<43 base62>_<6 base62 CRC32>`. */
export function makeTokenText(word: TokenWord): string {
  return makeText(word);
}

function makeText(start: string): string {
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(64)) {
      // 248 = 4 × 62: bytes above would make some digits likelier than others.
      if (byte < 248 && random.length < RANDOM_LENGTH) random += BASE62[byte % 62];
    }
  }
  const stem = `${start}_${random}`;
  return `${stem}_${checksum(stem)}`;
}

/** Could this text be a key of ours? Answers from the form and the checksum alone, before any database is asked. */
export function isKeyText(text: string): boolean {
  return text.length <= 128 && KEY.test(startOf(text));
}

/** The same of a token. */
export function isTokenText(text: string, word: TokenWord): boolean {
  return text.length <= 128 && startOf(text) === word;
}

/** What is before the random part of a text of ours; empty for one that is none. */
function startOf(text: string): string {
  const [, start, random, sum] = FORM.exec(text) ?? [];
  return start !== undefined && checksum(`${start}_${random}`) === sum ? start : "";
}

/** What lists may show of a key: its environment and the first six random characters. */
export function keyPrefix(text: string): string {
  return text.slice(0, text.lastIndexOf("_") - RANDOM_LENGTH + 6);
}

function checksum(stem: string): string {
  let digits = "";
  for (let rest = crc32(stem), place = 0; place < 6; place++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
