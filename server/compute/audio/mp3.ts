/* MP3 files, read frame by frame for their length and completeness. */

export type Mp3 = { samples: number; rate: number };

/** kbit/s by index, of layer III: MPEG 1, then MPEG 2 and 2.5. */
const BITRATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const RATES = [44_100, 48_000, 32_000] as const;

type Frame = { bytes: number; samples: number; rate: number; isMono: boolean; isMpeg1: boolean };

/**
 * Reads an MP3 file: samples per channel, and the rate in Hz. Null if the file is no MP3 or is damaged; only a truncated last
 * frame is tolerated. Encoder delay and padding are not counted.
 */
export function readMp3(bytes: Uint8Array): Mp3 | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = behindTag(view);
  const first = readFrame(view, at);
  if (!first) return null;
  const info = readInfo(view, at, first);
  if (info) at += first.bytes;
  let [samples, frames] = [0, 0];
  for (let frame = readFrame(view, at); frame; frame = readFrame(view, at)) {
    if (frame.rate !== first.rate) return null;
    samples += frame.samples;
    frames += 1;
    at += frame.bytes;
  }
  // A single match may be chance.
  if (frames < 2 || !isEnd(view, at)) return null;
  const heard = samples - (info ? info.delay + info.padding : 0);
  return heard > 0 ? { samples: heard, rate: first.rate } : null;
}

/** The frame at `at`; null if none begins there or it is truncated. */
export function readFrame(view: DataView, at: number): Frame | null {
  if (at + 4 > view.byteLength) return null;
  const header = view.getUint32(at);
  const version = (header >>> 19) & 3; // 0: MPEG 2.5, 2: MPEG 2, 3: MPEG 1
  const isLayer3 = ((header >>> 17) & 3) === 1;
  const isMpeg1 = version === 3;
  const bitrate = BITRATES[isMpeg1 ? 0 : 1][(header >>> 12) & 15];
  const base = RATES[(header >>> 10) & 3];
  if (header >>> 21 !== 0x7ff || version === 1 || !isLayer3 || !bitrate || !base) return null;
  const rate = isMpeg1 ? base : version === 2 ? base / 2 : base / 4;
  const samples = isMpeg1 ? 1152 : 576;
  const bytes = Math.floor(((samples / 8) * bitrate * 1000) / rate) + ((header >>> 9) & 1);
  const isMono = ((header >>> 6) & 3) === 3;
  return at + bytes <= view.byteLength ? { bytes, samples, rate, isMono, isMpeg1 } : null;
}

/** Offset of the `Xing` or `Info` header within a frame. */
export const infoOffset = ({ isMpeg1, isMono }: Frame): number =>
  4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);

/** Reads the info frame: a silent first frame that gives the encoder's delay and padding in samples. Null for any other frame. */
function readInfo(view: DataView, at: number, frame: Frame): { delay: number; padding: number } | null {
  let next = at + infoOffset(frame);
  if (next + 8 > at + frame.bytes) return null;
  const word = view.getUint32(next);
  if (word !== 0x5869_6e67 && word !== 0x496e_666f) return null; // "Xing", "Info"
  const flags = view.getUint32(next + 4);
  next += 8 + (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0);
  if (next + 24 > at + frame.bytes || view.getUint32(next) === 0) return { delay: 0, padding: 0 };
  const both = view.getUint32(next + 20) & 0xff_ffff;
  return { delay: both >>> 12, padding: both & 0xfff };
}

const LARGEST_FRAME = 1_441;

/** Offset after the ID3v2 tag that some files begin with. */
function behindTag(view: DataView): number {
  if (view.byteLength < 10 || view.getUint32(0) >>> 8 !== 0x49_4433) return 0; // "ID3"
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (view.getUint8(at) & 0x7f), 0);
  return 10 + size + (view.getUint8(5) & 0x10 ? 10 : 0);
}

/** True if nothing is left, or only a tag or a truncated frame. */
function isEnd(view: DataView, at: number): boolean {
  const left = view.byteLength - at;
  if (left === 0) return true;
  if (left < 4) return view.getUint8(at) === 0xff;
  const word = view.getUint32(at);
  if (word >>> 21 === 0x7ff) return left < LARGEST_FRAME;
  return word >>> 8 === 0x54_4147 || word === 0x4150_4554; // "TAG", "APET"
}
