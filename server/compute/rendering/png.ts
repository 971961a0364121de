import { zlibSync } from "fflate";

/** sRGB bytes, row by row: three a pixel, or four with opacity. */
export type Bitmap = { width: number; height: number; channels: 3 | 4; data: Uint8Array };

/** Name of our PNG writer. zlib itself gives other bytes on other processors. */
export const ENCODER = "capstan-png with fflate 0.8.3";
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const LEVEL = 5;

/** Writes a PNG file; the same picture gives the same bytes on every machine. */
export function writePng({ width, height, channels, data }: Bitmap): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, channels === 4 ? 6 : 2, 0, 0, 0], 8);
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", header),
    chunk("sRGB", Uint8Array.of(0)),
    chunk("IDAT", zlibSync(filtered({ width, height, channels, data }), { level: LEVEL })),
    chunk("IEND", new Uint8Array()),
  ];
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

/** Writes each row as differences from the pixel before, the row above or the Paeth prediction, whichever are smallest. */
function filtered(bitmap: Bitmap): Uint8Array {
  const { width, height, channels } = bitmap;
  const rowBytes = width * channels;
  const rows = new Uint8Array((rowBytes + 1) * height);
  const tries = [1, 2, 4].map((filter) => ({ filter, row: new Uint8Array(rowBytes) }));
  for (let y = 0; y < height; y++) {
    let best = { filter: 0, row: tries[0]!.row, cost: Number.POSITIVE_INFINITY };
    for (const { filter, row } of tries) {
      const cost = filterRow(bitmap, y, filter, row);
      if (cost < best.cost) best = { filter, row, cost };
    }
    rows[y * (rowBytes + 1)] = best.filter;
    rows.set(best.row, y * (rowBytes + 1) + 1);
  }
  return rows;
}

/** Writes row `y` as its differences and returns the sum of their sizes. */
function filterRow({ width, channels, data }: Bitmap, y: number, filter: number, row: Uint8Array): number {
  const rowBytes = width * channels;
  const start = y * rowBytes;
  const isFirst = y === 0;
  let cost = 0;
  for (let x = 0; x < rowBytes; x++) {
    const at = start + x;
    const before = x >= channels ? data[at - channels]! : 0;
    const above = isFirst ? 0 : data[at - rowBytes]!;
    let guess = filter === 1 ? before : above;
    if (filter === 4)
      guess = paeth(before, above, isFirst || x < channels ? 0 : data[at - rowBytes - channels]!);
    const value = (data[at]! - guess) & 255;
    row[x] = value;
    cost += value < 128 ? value : 256 - value;
  }
  return cost;
}

function paeth(before: number, above: number, both: number): number {
  const sum = before + above - both;
  const [a, b, c] = [Math.abs(sum - before), Math.abs(sum - above), Math.abs(sum - both)];
  if (a <= b && a <= c) return before;
  return b <= c ? above : both;
}

function chunk(name: string, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  for (let at = 0; at < 4; at++) bytes[4 + at] = name.charCodeAt(at);
  bytes.set(content, 8);
  view.setUint32(8 + content.length, checksum(bytes.subarray(4, 8 + content.length)));
  return bytes;
}

const CHECKS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function checksum(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) value = CHECKS[(value ^ bytes[at]!) & 255]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
