import { LIGHT_OF_BYTE } from "./arithmetic";
import type { Level } from "./gltf/textures";
import type { TextureUse, Wrap } from "./scene";

export type Texel = { red: number; green: number; blue: number; alpha: number };

/**
 * The colour of a texture at a place, as light, between the two of its sizes whose texels are as large as `footprint`:
 * the area, in texels of its full size, that one pixel shows.
 */
export function sampleColor(use: TextureUse, u: number, v: number, footprint: number, out: Texel): void {
  sample(use, u, v, footprint, true, out);
}

/** The same of plain numbers, 0 to 1. */
export function sampleNumbers(use: TextureUse, u: number, v: number, footprint: number, out: Texel): void {
  sample(use, u, v, footprint, false, out);
}

/** The opacity alone, from the nearest size, for what is cut out. */
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

function sample(
  use: TextureUse,
  u: number,
  v: number,
  footprint: number,
  isColor: boolean,
  out: Texel,
): void {
  const { levels } = use.texture;
  const last = levels.length - 1;
  // Each size has a quarter of the texels of the one before.
  let [level, rest] = [0, footprint];
  while (rest >= 4 && level < last) {
    rest /= 4;
    level++;
  }
  tap(levels[level]!, use, u, v, isColor, footprint <= 1 && use.isNearest, out);
  const share = level < last && rest > 1 ? (rest - 1) / 3 : 0;
  if (share === 0) return;
  tap(levels[level + 1]!, use, u, v, isColor, false, further);
  out.red += (further.red - out.red) * share;
  out.green += (further.green - out.green) * share;
  out.blue += (further.blue - out.blue) * share;
  out.alpha += (further.alpha - out.alpha) * share;
}

function tap(
  { width, height, data }: Level,
  { wrapS, wrapT }: TextureUse,
  u: number,
  v: number,
  isColor: boolean,
  isNearest: boolean,
  out: Texel,
): void {
  const x = around(u, wrapS) * width - 0.5;
  const y = around(v, wrapT) * height - 0.5;
  const [left, top] = isNearest ? [Math.round(x), Math.round(y)] : [Math.floor(x), Math.floor(y)];
  const [fx, fy] = isNearest ? [0, 0] : [x - left, y - top];
  const [x0, x1] = [beyond(left, width, wrapS), beyond(left + 1, width, wrapS)];
  const [y0, y1] = [beyond(top, height, wrapT) * width, beyond(top + 1, height, wrapT) * width];
  const [a, b, c, d] = [(y0 + x0) * 4, (y0 + x1) * 4, (y1 + x0) * 4, (y1 + x1) * 4];
  const [wa, wb, wc, wd] = [(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy];
  const at = (place: number) => (isColor ? LIGHT_OF_BYTE[data[place]!]! : data[place]! / 255);
  out.red = wa * at(a) + wb * at(b) + wc * at(c) + wd * at(d);
  out.green = wa * at(a + 1) + wb * at(b + 1) + wc * at(c + 1) + wd * at(d + 1);
  out.blue = wa * at(a + 2) + wb * at(b + 2) + wc * at(c + 2) + wd * at(d + 2);
  out.alpha = (wa * data[a + 3]! + wb * data[b + 3]! + wc * data[c + 3]! + wd * data[d + 3]!) / 255;
}

/** A coordinate from 0 to 1, whatever it was. */
function around(value: number, wrap: Wrap): number {
  if (wrap === "clamp") return Math.min(1, Math.max(0, value));
  if (wrap === "repeat") return value - Math.floor(value);
  const twice = value - 2 * Math.floor(value / 2);
  return twice <= 1 ? twice : 2 - twice;
}

/** The texel next to the edge: the other edge's where the picture repeats, else the edge's own. */
function beyond(place: number, size: number, wrap: Wrap): number {
  if (place < 0) return wrap === "repeat" ? size - 1 : 0;
  if (place >= size) return wrap === "repeat" ? 0 : size - 1;
  return place;
}
