import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 43; // 43 × log2(62) = 256 bits
const FORM = /^([a-z0-9_-]+)_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;
const KEY = /^cap_[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Prefixes of tokens that are not API keys: `caps` is a device's session, `capp` an embed session, `plc` a
 * launch code.
 */
type TokenWord = "caps" | "capp" | "plc";

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
      // 248 = 4 × 62: higher bytes would make some digits likelier than others.
      if (byte < 248 && random.length < RANDOM_LENGTH) random += BASE62[byte % 62];
    }
  }
  const stem = `${start}_${random}`;
  return `${stem}_${checksum(stem)}`;
}

/** True if the text has the form and checksum of an API key. No query is made. */
export function isKeyText(text: string): boolean {
  return text.length <= 128 && KEY.test(startOf(text));
}

/** True if the text has the form and checksum of a token with this prefix. */
export function isTokenText(text: string, word: TokenWord): boolean {
  return text.length <= 128 && startOf(text) === word;
}

/** The text before the random part; empty if the form or the checksum is wrong. */
function startOf(text: string): string {
  const [, start, random, sum] = FORM.exec(text) ?? [];
  return start !== undefined && checksum(`${start}_${random}`) === sum ? start : "";
}

/** The part of a key that lists may show: its environment and the first six random characters. */
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
