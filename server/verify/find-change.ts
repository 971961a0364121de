import { createHash } from "node:crypto";

/** Longer texts would take minutes. */
const MOST_BYTES = 12_000;
const ASCII = Array.from({ length: 95 }, (_, place) => 32 + place);
const BEYOND = Array.from({ length: 128 }, (_, place) => 128 + place);

/**
 * Finds the text that had this SHA-256 before one of its bytes was changed, by trying every byte at every position; a match is
 * certain. Null if more than one byte was changed, or the text is long. For commands: it takes seconds.
 */
export function beforeOneChange(text: string, sha256: Buffer): string | null {
  const bytes = Buffer.from(text);
  if (bytes.byteLength > MOST_BYTES) return null;
  const begun = createHash("sha256");
  for (let at = 0; at < bytes.byteLength; at++) {
    const found = bytes[at]!;
    for (const tried of found < 128 ? ASCII : BEYOND) {
      bytes[at] = tried;
      if (begun.copy().update(bytes.subarray(at)).digest().equals(sha256)) return bytes.toString();
    }
    bytes[at] = found;
    begun.update(bytes.subarray(at, at + 1));
  }
  return null;
}
