import { hash } from "node:crypto";
import { answerFlaw, canonicalText, formFlaw } from "@/server/canonical-text";
import type { Json } from "@/server/step";

export { answerFlaw, canonicalText, formFlaw };

/** SHA-256 in lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}

/** The hash of a JSON value: the scheme's version and the SHA-256 of its canonical text. */
export function hashOf(value: Json): string {
  return `v1:${sha256Hex(canonicalText(value))}`;
}
