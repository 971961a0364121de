/* Writes an MP4 file with one H.264 track and no sound. The file holds no dates, so the same pictures give the same bytes. */

export type Track = {
  width: number;
  height: number;
  framesPerSecond: number;
  sequence: Uint8Array;
  picture: Uint8Array;
  /** Coded pictures in order; each is whole in itself, or coded from the one before. */
  samples: { unit: Uint8Array; isWhole: boolean }[];
};

const MOVIE_TICKS = 1_000;

/** Puts the index before the pictures, so that players can begin while the file still loads. */
export function muxMp4(track: Track): Buffer {
  const samples = track.samples.map(({ unit }) => Buffer.concat([u32(unit.length), unit]));
  const type = box("ftyp", text("isom"), u32(512), text("isomiso2avc1mp41"));
  const length = movie(track, samples, 0).length;
  const media = box("mdat", ...samples);
  return Buffer.concat([type, movie(track, samples, type.length + length + 8), media]);
}

function movie(track: Track, samples: Buffer[], offset: number): Buffer {
  const { width, height, framesPerSecond } = track;
  const duration = Math.round((samples.length / framesPerSecond) * MOVIE_TICKS);
  const whole = track.samples.flatMap(({ isWhole }, index) => (isWhole ? [u32(index + 1)] : []));
  const table = box(
    "stbl",
    full("stsd", 0, u32(1), sampleEntry(track)),
    full("stts", 0, u32(1), u32(samples.length), u32(1)),
    full("stss", 0, u32(whole.length), ...whole),
    full("stsc", 0, u32(1), u32(1), u32(samples.length), u32(1)),
    full("stsz", 0, u32(0), u32(samples.length), ...samples.map(({ length }) => u32(length))),
    full("stco", 0, u32(1), u32(offset)),
  );
  const reference = box("dinf", full("dref", 0, u32(1), full("url ", 1)));
  return box(
    "moov",
    full(
      "mvhd",
      0,
      u32(0, 0, MOVIE_TICKS, duration, 0x10000),
      u16(0x100, 0),
      u32(0, 0),
      MATRIX,
      zeros(24),
      u32(2),
    ),
    box(
      "trak",
      full(
        "tkhd",
        3,
        u32(0, 0, 1, 0, duration, 0, 0),
        u16(0, 0, 0, 0),
        MATRIX,
        u32(width * 65_536, height * 65_536),
      ),
      box(
        "mdia",
        full("mdhd", 0, u32(0, 0, framesPerSecond, samples.length), u16(0x55c4, 0)),
        full("hdlr", 0, u32(0), text("vide"), zeros(12), text("video\0")),
        box("minf", full("vmhd", 1, zeros(8)), reference, table),
      ),
    ),
  );
}

const MATRIX = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map((value) => u32(value)));

function sampleEntry({ width, height, sequence, picture }: Track): Buffer {
  const configuration = box(
    "avcC",
    Buffer.from([1, sequence[1] ?? 0, sequence[2] ?? 0, sequence[3] ?? 0, 0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.from([1]),
    u16(picture.length),
    picture,
  );
  return box(
    "avc1",
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    zeros(32),
    u16(0x18, 0xffff),
    configuration,
  );
}

function box(name: string, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.length + 8), text(name), content]);
}

/** A box of version 0 with flags. */
const full = (name: string, flags: number, ...parts: Uint8Array[]) => box(name, u32(flags), ...parts);

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

const zeros = (count: number) => Buffer.alloc(count);
const text = (value: string) => Buffer.from(value, "latin1");
