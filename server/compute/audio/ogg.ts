/* Ogg files, read page by page for their length and completeness. */

export type Stream = { codec: "opus" | "vorbis"; samples: number; rate: number };

const HEADER_BYTES = 27;
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

/** Reads an Ogg file of Opus or Vorbis and adds up chained streams. Null if it is damaged or holds anything else. */
export function readOgg(bytes: Uint8Array): Stream | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const streams = new Map<number, Stream & { skipped: number }>();
  let at = 0;
  while (at < bytes.byteLength) {
    const size = pageSize(view, at);
    if (size === null || !hasItsChecksum(bytes.subarray(at, at + size))) return null;
    const isFirst = ((bytes[at + 5] ?? 0) & 2) !== 0;
    const granule = view.getBigUint64(at + 6, true);
    const serial = view.getUint32(at + 14, true);
    if (isFirst) {
      const head = readHead(view, at + HEADER_BYTES + (bytes[at + 26] ?? 0));
      if (!head) return null;
      streams.set(serial, head);
    } else if (granule !== NO_GRANULE) {
      const stream = streams.get(serial);
      if (!stream) return null;
      stream.samples = Math.max(0, Number(granule) - stream.skipped);
    }
    at += size;
  }
  const [first, ...others] = streams.values();
  if (!first || others.some(({ rate, codec }) => rate !== first.rate || codec !== first.codec)) return null;
  const samples = others.reduce((sum, each) => sum + each.samples, first.samples);
  return samples > 0 ? { codec: first.codec, rate: first.rate, samples } : null;
}

/** Size of the page in bytes; null if no whole page begins here. */
function pageSize(view: DataView, at: number): number | null {
  if (at + HEADER_BYTES > view.byteLength) return null;
  if (view.getUint32(at) !== 0x4f676753 || view.getUint8(at + 4) !== 0) return null; // "OggS", version 0
  const segments = view.getUint8(at + 26);
  let size = HEADER_BYTES + segments;
  if (at + size > view.byteLength) return null;
  for (let segment = 0; segment < segments; segment++) size += view.getUint8(at + HEADER_BYTES + segment);
  return at + size <= view.byteLength ? size : null;
}

/** Reads a stream's first packet: its codec, rate and samples to skip. Null if it is too short, or neither Opus nor Vorbis. */
function readHead(view: DataView, at: number): (Stream & { skipped: number }) | null {
  if (at + 16 > view.byteLength) return null;
  const word = String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, 8));
  if (word === "OpusHead")
    return { codec: "opus", rate: 48_000, samples: 0, skipped: view.getUint16(at + 10, true) };
  const rate = view.getUint32(at + 12, true);
  if (word.startsWith("\u0001vorbis") && rate > 0) return { codec: "vorbis", rate, samples: 0, skipped: 0 };
  return null;
}

/** Table of Ogg's CRC-32, which is not reflected as zip's is. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000_0000 ? (sum << 1) ^ 0x04c1_1db7 : sum << 1;
  return sum >>> 0;
});

function hasItsChecksum(page: Uint8Array): boolean {
  let sum = 0;
  for (let at = 0; at < page.length; at++) {
    const byte = at >= 22 && at < 26 ? 0 : (page[at] ?? 0); // the checksum field itself counts as zeros
    sum = ((sum << 8) ^ (TABLE[((sum >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0;
  }
  return sum === new DataView(page.buffer, page.byteOffset, page.byteLength).getUint32(22, true);
}
