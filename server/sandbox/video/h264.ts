/*
 * An encoder of H.264 constrained baseline (names and tables of ITU-T H.264), the minimum for a moving view of a still picture:
 * macroblocks are stored unchanged (I_PCM) or copied by a whole motion vector. Lossless and deterministic.
 */

/** A picture in YCbCr 4:2:0, limited range. */
export type Planes = { width: number; height: number; luma: Uint8Array; cb: Uint8Array; cr: Uint8Array };
/** The coded part of a picture: from an even column on, `columns` macroblocks wide, and the whole height. */
type View = { of: Planes; left: number; columns: number };

export const MACROBLOCK = 16;
const LEVEL = 31; // 1280 x 720 at 30 pictures a second
const FRAME_NUM_BITS = 8;

/** A square in a plane whose rows have `stride` samples. */
type Square = { stride: number; x: number; y: number; size: number };

/** Writes bits, the highest of each byte first. */
function bitWriter() {
  const bytes: number[] = [];
  let [current, filled] = [0, 0];
  const bits = {
    put(value: number, count: number) {
      for (let bit = count - 1; bit >= 0; bit -= 1) {
        current = (current << 1) | ((value >>> bit) & 1);
        filled += 1;
        if (filled < 8) continue;
        bytes.push(current);
        [current, filled] = [0, 0];
      }
      return bits;
    },
    /** Unsigned Exp-Golomb. */
    ue(value: number) {
      const length = 32 - Math.clz32(value + 1);
      return bits.put(0, length - 1).put(value + 1, length);
    },
    /** Signed Exp-Golomb. */
    se: (value: number) => bits.ue(value > 0 ? 2 * value - 1 : -2 * value),
    align() {
      while (filled !== 0) bits.put(0, 1);
      return bits;
    },
    /** Writes a square of samples; the writer must be aligned. */
    square(plane: Uint8Array, { stride, x, y, size }: Square) {
      for (let row = y; row < y + size; row += 1)
        for (let at = row * stride + x; at < row * stride + x + size; at += 1) bytes.push(plane[at]!);
      return bits;
    },
    /** Returns all bits as a unit: with a stop bit, and escaped so that no three bytes look like the start of another unit. */
    unit(header: number) {
      bits.put(1, 1).align();
      const unit: number[] = [header];
      let zeros = 0;
      for (const byte of bytes) {
        if (zeros === 2 && byte <= 3) {
          unit.push(3);
          zeros = 0;
        }
        unit.push(byte);
        zeros = byte === 0 ? zeros + 1 : 0;
      }
      return Uint8Array.from(unit);
    },
  };
  return bits;
}
type Bits = ReturnType<typeof bitWriter>;

/** Parameter sets, which a decoder needs before the first picture. */
export function parameterSets(width: number, height: number, framesPerSecond: number) {
  const sequence = bitWriter()
    .put(66, 8) // baseline
    .put(0xc0, 8) // and constrained baseline
    .put(LEVEL, 8)
    .ue(0)
    .ue(FRAME_NUM_BITS - 4)
    .ue(2) // pictures are shown in the order they are coded
    .ue(1) // one reference picture
    .put(0, 1)
    .ue(width / MACROBLOCK - 1)
    .ue(height / MACROBLOCK - 1)
    .put(1, 1) // frames only
    .put(1, 1)
    .put(0, 1) // nothing cropped
    .put(1, 1) // display information follows
    .put(0, 2)
    .put(1, 1)
    .put(5, 3)
    .put(0, 1) // limited range
    .put(1, 1)
    .put(1, 8)
    .put(1, 8)
    .put(1, 8) // BT.709
    .put(0, 1)
    .put(1, 1)
    .put(1, 32)
    .put(2 * framesPerSecond, 32)
    .put(1, 1)
    .put(0, 2)
    .put(0, 1)
    .put(1, 1) // nothing is reordered, so nothing has to wait
    .put(1, 1)
    .ue(0)
    .ue(0)
    .ue(10)
    .ue(10)
    .ue(0)
    .ue(1);
  const picture = bitWriter()
    .ue(0)
    .ue(0)
    .put(0, 2) // CAVLC
    .ue(0)
    .ue(0)
    .ue(0)
    .put(0, 3)
    .se(0)
    .se(0)
    .se(0)
    .put(1, 1) // slices say whether they are deblocked
    .put(0, 2);
  return { sequence: sequence.unit(0x67), picture: picture.unit(0x68) };
}

const I_PCM = 25;
const I_PCM_IN_P = 5 + I_PCM;

/** Codes a picture that needs no other. */
export function codeWhole(view: View): Uint8Array {
  const bits = bitWriter().ue(0).ue(7).ue(0).put(0, FRAME_NUM_BITS).ue(0);
  bits.put(0, 2).se(0).ue(1);
  for (let row = 0; row < view.of.height / MACROBLOCK; row += 1)
    for (let column = 0; column < view.columns; column += 1) {
      bits.ue(I_PCM);
      putSamples(bits, view, column, row);
    }
  return bits.unit(0x65);
}

type Vector = readonly [x: number, y: number];
const STILL: Vector = [0, 0];

/**
 * Codes a picture as the one before, moved by whole even pixels, except for the macroblocks that `isNew` names. `vector` points
 * from a place to where its content was in the picture before.
 */
export function codeMoved(
  view: View,
  number: number,
  vector: Vector,
  isNew: (column: number, row: number) => boolean,
): Uint8Array {
  const { columns } = view;
  const rows = view.of.height / MACROBLOCK;
  const bits = bitWriter()
    .ue(0)
    .ue(5)
    .ue(0)
    .put(number % 2 ** FRAME_NUM_BITS, FRAME_NUM_BITS);
  bits.put(0, 2).put(0, 1).se(0).ue(1);
  const wanted: Vector = [vector[0] * 4, vector[1] * 4]; // vectors are counted in quarters of a pixel
  /** Macroblocks coded so far: their vector, or null if samples were written. `at` returns undefined outside the picture. */
  const coded: (Vector | null)[] = [];
  const at = (column: number, row: number) =>
    column < 0 || row < 0 || column >= columns ? undefined : coded[row * columns + column];
  let skipped = 0;
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) {
      if (isNew(column, row)) {
        bits.ue(skipped).ue(I_PCM_IN_P);
        putSamples(bits, view, column, row);
        skipped = 0;
        coded.push(null);
        continue;
      }
      const left = at(column - 1, row);
      const above = at(column, row - 1);
      const aboveRight = at(column + 1, row - 1);
      const corner = aboveRight === undefined ? at(column - 1, row - 1) : aboveRight;
      const guess = predicted(left, above, corner);
      const isStill = (vector: Vector | null | undefined) => vector === undefined || isSame(vector, STILL);
      const unsaid = isStill(left) || isStill(above) ? STILL : guess;
      if (isSame(unsaid, wanted)) skipped += 1;
      else {
        bits.ue(skipped).ue(0);
        bits
          .se(wanted[0] - guess[0])
          .se(wanted[1] - guess[1])
          .ue(0);
        skipped = 0;
      }
      coded.push(wanted);
    }
  if (skipped > 0) bits.ue(skipped);
  return bits.unit(0x41);
}

function putSamples(bits: Bits, { of, left }: View, column: number, row: number): void {
  const { width, luma, cb, cr } = of;
  const [x, y] = [left + column * MACROBLOCK, row * MACROBLOCK];
  bits.align().square(luma, { stride: width, x, y, size: MACROBLOCK });
  const half = { stride: width / 2, x: x / 2, y: y / 2, size: MACROBLOCK / 2 };
  for (const plane of [cb, cr]) bits.square(plane, half);
}

const isSame = (one: Vector | null, other: Vector) =>
  one !== null && one[0] === other[0] && one[1] === other[1];

type Neighbour = Vector | null | undefined;

/** Predicts a vector from the neighbors as a decoder does (8.4.1.3): the only one there is, or the median of three. */
function predicted(left: Neighbour, above: Neighbour, corner: Neighbour): Vector {
  if (above === undefined && corner === undefined && left !== undefined) return left ?? STILL;
  const moved = [left, above, corner].filter((each) => each !== undefined && each !== null);
  if (moved.length === 1 && moved[0]) return moved[0];
  const [a, b, c] = [left ?? STILL, above ?? STILL, corner ?? STILL];
  return [median(a[0], b[0], c[0]), median(a[1], b[1], c[1])];
}

const median = (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
