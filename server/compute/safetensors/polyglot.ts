/** Readers of PDF accept its marker this far into a file; tar marks its first block within this range. */
export const HEAD_BYTES = 1024;
/** Largest size of a ZIP file's end record: 22 bytes and a comment of up to 65,535. */
export const TAIL_BYTES = 22 + 0xffff;

/**
 * Finds another format as which this file would be read, by its first and last bytes; null if there is none. Formats with a
 * marker of four or more letters at the very start need no check: as a header length they are too large.
 */
export function findOtherFormat(head: Buffer, tail: Buffer): string | null {
  if (head.subarray(0, 3).equals(Buffer.from([0x1f, 0x8b, 8]))) return "gzip file";
  if (head.includes("%PDF-")) return "PDF file";
  if (head.subarray(257, 262).equals(Buffer.from("ustar"))) return "tar archive";
  for (let at = tail.lastIndexOf("PK\x05\x06", -22, "latin1"); at >= 0; ) {
    if (at + 22 + tail.readUInt16LE(at + 20) === tail.length) return "ZIP archive";
    if (at === 0) break;
    at = tail.lastIndexOf("PK\x05\x06", at - 1, "latin1");
  }
  return null;
}
