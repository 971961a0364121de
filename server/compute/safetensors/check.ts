import { createHash } from "node:crypto";
import { inTurns } from "@/server/platform/time/turn";
import { type Header, headerLength, PREFIX_BYTES, parseHeader } from "./header";
import { findOtherFormat, HEAD_BYTES, TAIL_BYTES } from "./polyglot";
import { refuseFile, SAFETENSORS_LIMITS } from "./rules";

export type CheckOptions = {
  /** Limit of the whole file; SAFETENSORS_LIMITS.fileBytes by default. */
  mostBytes?: number;
  /** Announced size, by a Content-Length for instance. */
  expectedBytes?: number;
};

export type CheckedFile = { header: Header; sha256: string; byteLength: number };

/**
 * Reads a file once, checks it, and hands each piece on to the sink as it arrives: memory holds one piece and the header. The
 * same file breaks the same rule however it is split. The sink's result is valid only if this resolves; the sink sees a refusal
 * as an error of its source. Throws SafetensorsRefusal.
 */
export async function checkSafetensors(
  pieces: AsyncIterable<Uint8Array>,
  options: CheckOptions & { sink?: (pieces: AsyncIterable<Uint8Array>) => Promise<unknown> } = {},
): Promise<CheckedFile> {
  const hash = createHash("sha256");
  let byteLength = 0;
  let header: Header | undefined;
  let isWhole = false;
  async function* measured() {
    for await (const piece of checkPieces(pieces, options, (checked) => {
      header = checked;
    })) {
      hash.update(piece);
      byteLength += piece.byteLength;
      yield piece;
    }
    isWhole = true;
  }
  await (options.sink ?? drain)(measured());
  if (!header || !isWhole) throw new Error("The sink of a safetensors file did not read to its end.");
  return { header, sha256: hash.digest("hex"), byteLength };
}

async function drain(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces) {
    // The checks run while the pieces pass.
  }
}

/**
 * Yields the pieces unchanged and checks them as they pass, for a caller that hashes them itself. `onHeader` gets the valid
 * header before the tensors are read and may refuse the file by throwing; the file is valid when the pieces end. Throws
 * SafetensorsRefusal.
 */
export async function* checkPieces(
  pieces: AsyncIterable<Uint8Array>,
  { mostBytes = SAFETENSORS_LIMITS.fileBytes, expectedBytes }: CheckOptions,
  onHeader: (header: Header) => unknown,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (expectedBytes !== undefined && expectedBytes > mostBytes) tooLarge(mostBytes);
  const prefix = region(0, PREFIX_BYTES);
  const head = region(0, HEAD_BYTES);
  let text: Region | undefined;
  let header: Header | undefined;
  let tail: Region | undefined;
  let total = Number.POSITIVE_INFINITY;
  let received = 0;

  for await (const piece of pieces) {
    const start = received;
    received += piece.byteLength;
    if (!text && prefix.add(piece, start)) {
      text = headerRegion(prefix.bytes, mostBytes);
    }
    if (text && !header && text.add(piece, start)) {
      header = await inTurns(parseHeader(text.bytes));
      total = checkTotal(header, mostBytes, expectedBytes);
      await onHeader(header);
      // Covers the data alone, because the end of a ZIP file has bytes that no header may have.
      tail = region(Math.max(total - TAIL_BYTES, total - header.dataBytes), total);
    } else if (text && !header && text.filled > 0 && text.bytes[0] !== 0x7b) {
      refuseFile("header_first_byte", { byte: PREFIX_BYTES });
    }
    if (received > total) refuseFile("trailing_bytes", { byte: total });
    head.add(piece, start);
    tail?.add(piece, start);
    yield piece;
  }

  if (!text) refuseFile("file_too_short", { byte: received });
  if (!header || !tail) refuseFile("header_truncated", { byte: received });
  if (received < total) refuseFile("data_truncated", { byte: received });
  const other = findOtherFormat(head.bytes.subarray(0, head.filled), tail.bytes);
  if (other) refuseFile("polyglot", {}, `It is also a ${other}.`);
}

/**
 * Checks the header alone of a file of `byteLength` bytes. `bytes` are the file's first bytes, at least up to the end of the
 * header. Rules that need the rest of the file are not checked. Throws SafetensorsRefusal.
 */
export async function checkHeader(
  bytes: Uint8Array,
  byteLength: number,
  { mostBytes = SAFETENSORS_LIMITS.fileBytes }: { mostBytes?: number } = {},
): Promise<Header> {
  if (byteLength > mostBytes) tooLarge(mostBytes);
  const length = headerLength(bytes.subarray(0, Math.min(bytes.byteLength, byteLength)));
  if (bytes.byteLength > PREFIX_BYTES && bytes[PREFIX_BYTES] !== 0x7b) {
    refuseFile("header_first_byte", { byte: PREFIX_BYTES });
  }
  const end = PREFIX_BYTES + length;
  if (end > byteLength || end > bytes.byteLength) refuseFile("header_truncated", { byte: bytes.byteLength });
  const header = await inTurns(
    parseHeader(Buffer.from(bytes.buffer, bytes.byteOffset + PREFIX_BYTES, length)),
  );
  checkTotal(header, mostBytes, byteLength);
  return header;
}

/** File size by its header; must equal the announced size. */
function checkTotal(header: Header, mostBytes: number, expectedBytes: number | undefined): number {
  const total = PREFIX_BYTES + header.headerBytes + header.dataBytes;
  if (total > mostBytes) tooLarge(mostBytes);
  if (expectedBytes !== undefined && total > expectedBytes)
    refuseFile("data_truncated", { byte: expectedBytes });
  if (expectedBytes !== undefined && total < expectedBytes) refuseFile("trailing_bytes", { byte: total });
  return total;
}

function headerRegion(prefix: Buffer, mostBytes: number): Region {
  const end = PREFIX_BYTES + headerLength(prefix);
  if (end > mostBytes) tooLarge(mostBytes);
  return region(PREFIX_BYTES, end);
}

function tooLarge(mostBytes: number): never {
  refuseFile("file_too_large", {}, `At most ${mostBytes} bytes are allowed.`);
}

type Region = ReturnType<typeof region>;

/** Collects the bytes of the file from `from` up to `to` out of the pieces that pass. */
function region(from: number, to: number) {
  const bytes = Buffer.allocUnsafeSlow(to - from);
  let filled = 0;
  return {
    bytes,
    get filled() {
      return filled;
    },
    /** Takes its part of a piece that begins at byte `start` of the file; true once the region is complete. */
    add(piece: Uint8Array, start: number): boolean {
      const part = piece.subarray(Math.max(0, from + filled - start), Math.max(0, to - start));
      bytes.set(part, filled);
      filled += part.byteLength;
      return filled === bytes.byteLength;
    },
  };
}
