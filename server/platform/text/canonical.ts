import { hash } from "node:crypto";
import type { Json } from "@/server/platform/durable/step";
import {
  answerFlaw,
  canonicalPieces,
  canonicalText,
  formFlaw,
  hasManyValues,
} from "@/server/platform/text/canonical-text";
import { inTurns, LARGE, turn } from "@/server/platform/time/turn";

export { answerFlaw, canonicalText, formFlaw, hasManyValues };

/** SHA-256 in lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}

const versioned = (sha256: string) => `v1:${sha256}`;

/** The hash of a JSON value: the scheme's version and the SHA-256 of its canonical text. */
export const hashOf = (value: Json): string => versioned(sha256Hex(canonicalText(value)));

/** The canonical text of a JSON value. Other requests get turns while the text of a value with many members is made. */
export async function canonicalInTurns(value: Json): Promise<string> {
  if (!hasManyValues(value)) return canonicalText(value);
  await turn(); // even to count the names of a large object takes time
  return inTurns(canonicalPieces(value));
}

/** The canonical text of a JSON value and its SHA-256. Other requests get a turn between the passes over a large one. */
export async function contentOf(value: Json): Promise<{ text: string; sha256: string }> {
  const text = await canonicalInTurns(value);
  if (text.length > LARGE) await turn();
  const sha256 = sha256Hex(text);
  if (text.length > LARGE) await turn();
  return { text, sha256 };
}

/** The same hash as `hashOf`. Other requests get a turn between the passes over a large value. */
export const canonicalHashInTurns = async (value: Json): Promise<string> =>
  versioned((await contentOf(value)).sha256);
