/*
 * Finds pieces of secrets in whatever a house keeps or says: as they are, in hex, in base64 wherever it began, in base64url,
 * escaped for addresses and for JSON.
 */

import { formsOf } from "@/server/platform/crypto/secret-forms";

/** Any piece this long of any of these forms is a find. */
const PIECE = 12;

export type Secret = { name: string; value: string };
/** Something that was kept or said, by where. */
export type Text = { where: string; text: string };
export type Find = { where: string; secret: string; form: string; around: string };

/** Every piece of every form of these secrets that is no piece of `common`, which is everybody's. */
export function needlesOf(
  secrets: readonly Secret[],
  common = "",
): Map<string, { secret: string; form: string }> {
  const needles = new Map<string, { secret: string; form: string }>();
  for (const { name, value } of secrets) {
    if (value.length < PIECE) throw new Error(`${name} is too short to be found`);
    for (const [form, text] of formsOf(value))
      for (let at = 0; at + PIECE <= text.length; at++) {
        const piece = text.slice(at, at + PIECE);
        if (!common.includes(piece) && !needles.has(piece)) needles.set(piece, { secret: name, form });
      }
  }
  return needles;
}

const AROUND = 60;

/** Each secret once in each text it is found in. */
export function sweep(texts: Iterable<Text>, needles: ReturnType<typeof needlesOf>): Find[] {
  const finds: Find[] = [];
  for (const { where, text } of texts) {
    const seen = new Set<string>();
    for (let at = 0; at + PIECE <= text.length; at++) {
      const found = needles.get(text.substring(at, at + PIECE));
      if (!found || seen.has(found.secret)) continue;
      seen.add(found.secret);
      finds.push({ where, ...found, around: text.slice(Math.max(0, at - AROUND), at + AROUND) });
    }
  }
  return finds;
}
