import { LIGHT_OF_BYTE } from "./arithmetic";
import type { Level } from "./gltf/textures";
import type { TextureUse, Wrap } from "./scene";

export type Texel = { red: number; green: number; blue: number; alpha: number };

/** A place in a texture. `footprint` is the area that one pixel shows, in texels of the texture's full size. */
type Place = { u: number; v: number; footprint: number };

/** Reads a texture's color as light, interpolated between the two mipmap levels whose texels are nearest to the footprint. */
export function sampleColor(use: TextureUse, at: Place, out: Texel): void {
  sample(use, at, true, out);
}

/** Reads plain numbers, 0 to 1, in the same way. */
export function sampleNumbers(use: TextureUse, at: Place, out: Texel): void {
  sample(use, at, false, out);
}

/** Reads the opacity alone, from a single mipmap level, for cut-out surfaces. */
export function sampleOpacity(use: TextureUse, u: number, v: number, footprint: number): number {
  const { levels } = use.texture;
  let [level, rest] = [0, footprint];
  while (rest >= 2 && level < levels.length - 1) {
    rest /= 4;
    level++;
  }
  const { width, height, data } = levels[level]!;
  const x = around(u, use.wrapS) * width - 0.5;
  const y = around(v, use.wrapT) * height - 0.5;
  const left = use.isNearest ? Math.round(x) : Math.floor(x);
  const top = use.isNearest ? Math.round(y) : Math.floor(y);
  const fx = use.isNearest ? 0 : x - left;
  const fy = use.isNearest ? 0 : y - top;
  const x0 = beyond(left, width, use.wrapS);
  const x1 = beyond(left + 1, width, use.wrapS);
  const y0 = beyond(top, height, use.wrapT) * width;
  const y1 = beyond(top + 1, height, use.wrapT) * width;
  const above = data[(y0 + x0) * 4 + 3]! * (1 - fx) + data[(y0 + x1) * 4 + 3]! * fx;
  const below = data[(y1 + x0) * 4 + 3]! * (1 - fx) + data[(y1 + x1) * 4 + 3]! * fx;
  return (above * (1 - fy) + below * fy) / 255;
}

const further: Texel = { red: 0, green: 0, blue: 0, alpha: 0 };

function sample(use: TextureUse, at: Place, isColor: boolean, out: Texel): void {
  const { footprint } = at;
  const { levels } = use.texture;
  const last = levels.length - 1;
  // Each level has a quarter of the texels of the one before.
  let [level, rest] = [0, footprint];
  while (rest >= 4 && level < last) {
    rest /= 4;
    level++;
  }
  const near = levels[level]!;
  locate(near, use, at, footprint <= 1 && use.isNearest);
  mix(near.data, isColor, out);
  const share = level < last && rest > 1 ? (rest - 1) / 3 : 0;
  if (share === 0) return;
  const far = levels[level + 1]!;
  locate(far, use, at, false);
  mix(far.data, isColor, further);
  out.red += (further.red - out.red) * share;
  out.green += (further.green - out.green) * share;
  out.blue += (further.blue - out.blue) * share;
  out.alpha += (further.alpha - out.alpha) * share;
}

/** The four texels around a place and the share of each. One record for all calls, because this runs for every pixel. */
const texels = { a: 0, b: 0, c: 0, d: 0, ofA: 0, ofB: 0, ofC: 0, ofD: 0 };

/** Sets `texels` for a place. */
function locate(
  { width, height }: Level,
  { wrapS, wrapT }: TextureUse,
  { u, v }: Place,
  isNearest: boolean,
): void {
  const x = around(u, wrapS) * width - 0.5;
  const y = around(v, wrapT) * height - 0.5;
  const [left, top] = isNearest ? [Math.round(x), Math.round(y)] : [Math.floor(x), Math.floor(y)];
  const [fx, fy] = isNearest ? [0, 0] : [x - left, y - top];
  const [x0, x1] = [beyond(left, width, wrapS), beyond(left + 1, width, wrapS)];
  const [y0, y1] = [beyond(top, height, wrapT) * width, beyond(top + 1, height, wrapT) * width];
  texels.a = (y0 + x0) * 4;
  texels.b = (y0 + x1) * 4;
  texels.c = (y1 + x0) * 4;
  texels.d = (y1 + x1) * 4;
  texels.ofA = (1 - fx) * (1 - fy);
  texels.ofB = fx * (1 - fy);
  texels.ofC = (1 - fx) * fy;
  texels.ofD = fx * fy;
}

/** Writes the weighted mean of `texels` to `out`. */
function mix(data: Level["data"], isColor: boolean, out: Texel): void {
  const { a, b, c, d, ofA, ofB, ofC, ofD } = texels;
  const at = (place: number) => (isColor ? LIGHT_OF_BYTE[data[place]!]! : data[place]! / 255);
  out.red = ofA * at(a) + ofB * at(b) + ofC * at(c) + ofD * at(d);
  out.green = ofA * at(a + 1) + ofB * at(b + 1) + ofC * at(c + 1) + ofD * at(d + 1);
  out.blue = ofA * at(a + 2) + ofB * at(b + 2) + ofC * at(c + 2) + ofD * at(d + 2);
  out.alpha = (ofA * data[a + 3]! + ofB * data[b + 3]! + ofC * data[c + 3]! + ofD * data[d + 3]!) / 255;
}

/** Wraps any coordinate into the range from 0 to 1. */
function around(value: number, wrap: Wrap): number {
  if (wrap === "clamp") return Math.min(1, Math.max(0, value));
  if (wrap === "repeat") return value - Math.floor(value);
  const twice = value - 2 * Math.floor(value / 2);
  return twice <= 1 ? twice : 2 - twice;
}

/** The index of a texel that may be one beyond the edge: the opposite edge's if the picture repeats, else the edge's own. */
function beyond(place: number, size: number, wrap: Wrap): number {
  if (place < 0) return wrap === "repeat" ? size - 1 : 0;
  if (place >= size) return wrap === "repeat" ? 0 : size - 1;
  return place;
}
