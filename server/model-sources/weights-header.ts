import {
  checkHeader,
  headerLength,
  type LoraFacts,
  loraFacts,
  PREFIX_BYTES,
  SafetensorsRefusal,
} from "@/server/compute/safetensors";
import { type Fetched, FetchFault } from "@/server/platform/http";
import { SourceFault } from "./define";

/** Headers of LoRA weights have tens of kilobytes, and the largest a few hundred. */
const MOST_HEADER_BYTES = 500_000;

export type WeightsFacts = {
  byteLength: number;
  /** Null if the header is too long to be read remotely. */
  facts: LoraFacts | null;
};

/**
 * Reads the header of a remote file without a byte of a tensor: first the eight bytes with the header's length, then the header.
 * Throws SourceFault `unusable` if the file is not a LoRA in safetensors or its header cannot be read.
 */
export async function readWeightsHeader(
  part: (first: number, last: number) => Promise<Fetched>,
  expectedBytes: number | null,
): Promise<WeightsFacts> {
  try {
    const prefix = await part(0, PREFIX_BYTES - 1);
    const byteLength = prefix.totalBytes ?? expectedBytes;
    if (byteLength === null) throw new SourceFault("unusable", "The server does not report the file's size.");
    if (expectedBytes !== null && expectedBytes !== byteLength)
      throw new SourceFault("unusable", "The file's size differs from the file list.");
    const length = headerLength(copyOf(prefix.bytes));
    if (PREFIX_BYTES + length > byteLength)
      throw new SourceFault(
        "unusable",
        "This is not a LoRA in safetensors format: its header is longer than the file.",
      );
    if (length > MOST_HEADER_BYTES) return { byteLength, facts: null };
    const rest = await part(PREFIX_BYTES, PREFIX_BYTES + length - 1);
    const header = await checkHeader(copyOf(prefix.bytes, rest.bytes), byteLength);
    return { byteLength, facts: await loraFacts(header) };
  } catch (cause) {
    if (cause instanceof SafetensorsRefusal)
      throw new SourceFault("unusable", `This is not a LoRA in safetensors format: ${cause.message}`);
    if (cause instanceof FetchFault)
      throw new SourceFault("unusable", `The file's header cannot be read. ${cause.message}`);
    throw cause;
  }
}

/** Copies the pieces into memory of their own, because readers of numbers may not expect an offset into another buffer. */
const copyOf = (...pieces: Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return bytes;
};
