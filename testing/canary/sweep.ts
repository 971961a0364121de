/*
 * Finds pieces of secrets in everything that an installation stores or outputs: in plain text, in hex, in base64 at any
 * offset, in base64url, escaped for URLs and for JSON.
 */

import { formsOf } from "@/server/platform/crypto/secret-forms";

/** The length of a piece that counts as a find, in any of these forms. */
const PIECE = 12;

export type Secret = { name: string; value: string };
/** A stored or printed text, with its place. */
export type Text = { where: string; text: string };
export type Find = { where: string; secret: string; form: string; around: string };

/** Every piece of every form of these secrets, except pieces that also occur in the public text `common`. */
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

/** Finds secrets in texts, each at most once per text. */
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
