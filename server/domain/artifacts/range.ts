import { fail } from "@/server/platform/errors/errors";

/** Positions of the first and the last byte, both included, as in HTTP. */
export type ByteRange = { start: number; end: number };

/** The part of this range that exists. RangeNotSatisfiable if there is none. */
export function clampRange(range: ByteRange, byteLength: number): ByteRange {
  if (!isRange(range) || range.start >= byteLength) {
    fail(
      "RangeNotSatisfiable",
      "The requested range is outside this artifact. Use a range within details.byteLength.",
      { byteLength },
    );
  }
  return { start: range.start, end: Math.min(range.end, byteLength - 1) };
}

/** True if both ends are whole, not negative and in order. */
export function isRange({ start, end }: ByteRange): boolean {
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end;
}

/**
 * The part of `byteLength` bytes that a Range header names: one existing range, `"none"` if the range is
 * outside, or `"whole"` for every header that RFC 9110 lets a server ignore: another unit, a malformed header,
 * several ranges.
 */
export function parseRange(header: string, byteLength: number): ByteRange | "none" | "whole" {
  const match = /^\s*bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))\s*$/i.exec(header);
  if (!match) return "whole";
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Number(suffix);
    if (length === 0) return "none";
    // Satisfiable by RFC 9110, but no Content-Range can name zero bytes.
    if (byteLength === 0) return "whole";
    return { start: Math.max(0, byteLength - length), end: byteLength - 1 };
  }
  const start = Number(first);
  const end = last ? Number(last) : Number.POSITIVE_INFINITY;
  if (end < start) return "whole";
  if (start >= byteLength) return "none";
  return { start, end: Math.min(end, byteLength - 1) };
}
