/** Readers of PDF accept its mark this far into a file; tar marks its first block within it. */
export const HEAD_BYTES = 1024;
/** The directory's end of a ZIP file: 22 bytes and a comment of up to 65,535. */
export const TAIL_BYTES = 22 + 0xffff;

/**
 * The other format this file would be read as, by the first and the last bytes it has. Formats that are known by four
 * or more letters at the very start need no look: as the length of a header they are too much.
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
