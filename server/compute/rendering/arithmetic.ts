/*
 * Arithmetic with the same result on every machine: IEEE 754 fixes the rounding of +, -, ×, ÷ and sqrt, but nothing fixes that of
 * Math.sin, Math.pow and their like.
 */

const TURN = 6.283185307179586;

export function sine(angle: number): number {
  const x = angle - TURN * Math.round(angle / TURN);
  let [term, sum] = [x, x];
  for (let n = 1; n <= 14; n++) {
    term = (-term * x * x) / (2 * n * (2 * n + 1));
    sum += term;
  }
  return sum;
}

export const cosine = (angle: number): number => sine(angle + TURN / 4);

/** The fifth root of a number from 0 to 1. */
function fifthRoot(value: number): number {
  if (value <= 0) return 0;
  let root = 1;
  for (let n = 0; n < 200; n++) {
    const fourth = root * root * root * root;
    root += (value / fourth - root) / 5;
  }
  return root;
}

/** Converts one sRGB channel, 0 to 1, to linear light. */
export function toLight(channel: number): number {
  if (channel <= 0.04045) return channel / 12.92;
  const x = (channel + 0.055) / 1.055;
  return x * x * fifthRoot(x * x);
}

/** Linear light of every sRGB byte. */
export const LIGHT_OF_BYTE = Float64Array.from({ length: 256 }, (_, byte) => toLight(byte / 255));

const STEPS = 65_535;
const BYTE_OF_LIGHT = (() => {
  const table = new Uint8Array(STEPS + 1);
  let byte = 0;
  for (let step = 0; step <= STEPS; step++) {
    while (byte < 255 && step / STEPS >= toLight((byte + 0.5) / 255)) byte++;
    table[step] = byte;
  }
  return table;
})();

/** Converts linear light to a rounded sRGB byte; light above 1 is white. */
export function toByte(light: number): number {
  if (!(light > 0)) return 0;
  return light >= 1 ? 255 : BYTE_OF_LIGHT[(light * STEPS + 0.5) | 0]!;
}

/** A 4 x 4 matrix in the column-major order of glTF. */
export type Matrix = readonly number[];
export const IDENTITY: Matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

export function multiplyMatrices(a: Matrix, b: Matrix): Matrix {
  const product: number[] = [];
  for (let column = 0; column < 4; column++)
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + row]! * b[column * 4 + k]!;
      product.push(sum);
    }
  return product;
}

/** Combines translation, rotation (a quaternion, normalized here) and scale in one matrix. */
export function composeMatrix(
  [tx = 0, ty = 0, tz = 0]: ArrayLike<number> & Iterable<number>,
  rotation: ArrayLike<number> & Iterable<number>,
  [sx = 1, sy = 1, sz = 1]: ArrayLike<number> & Iterable<number>,
): Matrix {
  let [x = 0, y = 0, z = 0, w = 1] = rotation;
  const length = Math.sqrt(x * x + y * y + z * z + w * w);
  [x, y, z, w] = length > 0 ? [x / length, y / length, z / length, w / length] : [0, 0, 0, 1];
  return [
    (1 - 2 * (y * y + z * z)) * sx,
    2 * (x * y + w * z) * sx,
    2 * (x * z - w * y) * sx,
    0,
    2 * (x * y - w * z) * sy,
    (1 - 2 * (x * x + z * z)) * sy,
    2 * (y * z + w * x) * sy,
    0,
    2 * (x * z + w * y) * sz,
    2 * (y * z - w * x) * sz,
    (1 - 2 * (x * x + y * y)) * sz,
    0,
    tx,
    ty,
    tz,
    1,
  ];
}

/** The transformation of normals under a matrix: its 3 x 3 cofactors, negated for a mirror so that the outside stays outside. */
export function normalMatrix(m: Matrix): { cofactors: number[]; isMirrored: boolean } {
  const [a, b, c, , d, e, f, , g, h, i] = m as number[] as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const cofactors = [
    e * i - f * h,
    f * g - d * i,
    d * h - e * g,
    c * h - b * i,
    a * i - c * g,
    b * g - a * h,
    b * f - c * e,
    c * d - a * f,
    a * e - b * d,
  ];
  const determinant = a * cofactors[0]! + b * cofactors[1]! + c * cofactors[2]!;
  const isMirrored = determinant < 0;
  return { cofactors: isMirrored ? cofactors.map((each) => -each) : cofactors, isMirrored };
}
