import { createHash } from "node:crypto";

/** Longer texts would take minutes. */
const MOST_BYTES = 12_000;
const ASCII = Array.from({ length: 95 }, (_, place) => 32 + place);
const BEYOND = Array.from({ length: 128 }, (_, place) => 128 + place);

/**
 * Finds the text that had this SHA-256 before one of its bytes was changed. Tries the printable ASCII characters in place of
 * each ASCII byte, and all bytes above 127 in place of each byte above 127. Null if none matches or the text is too long. Takes
 * seconds, so only commands call it.
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
