import { mapThree } from "../three";
import type { Raster, Rgb } from "./raster";

export type MatteOptions = {
  key: Rgb;
  /** True to remove the key color also in areas that do not touch the border. */
  enclosed: boolean;
};

/** Squared distance in 8-bit sRGB within which a pixel may be background. */
const NEAR = 60 ** 2;
/** Squared distance above which a background is not the key color. */
const PLATE = 110 ** 2;
/** Width of the soft edge in pixels, outward from the background and into it. */
const OUTWARD = 3;
const INWARD = 3;
/** Radius in pixels within which an edge pixel's own color is searched. */
const REACH = 4;
/** Two colors lie on one line from the background if the cosine of their angle is at least this. */
const ALIGNED = 0.94;
/** A step of 8-bit noise near the background, in linear light. */
const NOISE = 0.012;

const LINEAR = Float32Array.from({ length: 256 }, (_, value) => {
  const c = value / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
});

function toSrgb(linear: number): number {
  const c = Math.min(1, Math.max(0, linear));
  return Math.round((c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055) * 255);
}

/**
 * Removes a flat key color in place and returns the color that was removed. Alpha becomes 0 inside the background, and nothing
 * changes inside the drawing. An edge pixel is a mixture of both: the drawing's color is found nearby, on the line through both,
 * and alpha and color follow in linear light, so that no rim of the key color is left. Equal input gives equal output.
 */
export function keyOut(raster: Raster, options: MatteOptions): Rgb {
  const { width, height, data } = raster;
  const key = paintedKey(raster, options.key);
  const near = new Uint8Array(width * height);
  for (let pixel = 0; pixel < near.length; pixel++) {
    const at = pixel * 4;
    if (data[at + 3] === 0 || distance(data, at, key) <= NEAR) near[pixel] = 1;
  }
  const background = options.enclosed ? near : reachedFromBorder(near, width, height);
  const edge = edgeOf(background, width, height);
  const solved: { at: number; red: number; green: number; blue: number; alpha: number }[] = [];
  for (let pixel = 0; pixel < edge.length; pixel++) {
    if (edge[pixel] === 1) {
      const found = unmix(raster, background, pixel, key);
      if (found) solved.push(found);
    } else if (background[pixel] === 1) {
      solved.push({ at: pixel * 4, red: 0, green: 0, blue: 0, alpha: 0 });
    }
  }
  // Written at the end, because each pixel is judged by its unchanged neighbors.
  for (const { at, red, green, blue, alpha } of solved) {
    data[at] = red;
    data[at + 1] = green;
    data[at + 2] = blue;
    data[at + 3] = Math.round((alpha * data[at + 3]!) / 255);
  }
  return key;
}

function distance(data: Uint8Array, at: number, [red, green, blue]: Rgb): number {
  const [r, g, b] = [data[at]! - red, data[at + 1]! - green, data[at + 2]! - blue];
  return r * r + g * g + b * b;
}

/**
 * The key color as it was painted, because models miss it by a little: the median of the border, or `key` if that is too far off.
 */
function paintedKey({ width, height, data }: Raster, key: Rgb): Rgb {
  const channels: [number[], number[], number[]] = [[], [], []];
  const take = (x: number, y: number) => {
    const at = (y * width + x) * 4;
    channels.forEach((values, channel) => {
      values.push(data[at + channel]!);
    });
  };
  for (let x = 0; x < width; x++) {
    take(x, 0);
    take(x, height - 1);
  }
  for (let y = 0; y < height; y++) {
    take(0, y);
    take(width - 1, y);
  }
  const median = mapThree(channels, (values) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0);
  return distance(Uint8Array.from(median), 0, key) <= PLATE ? median : key;
}

/** Marks the pixels of the mask that are connected to the border. */
function reachedFromBorder(mask: Uint8Array, width: number, height: number): Uint8Array {
  const reached = new Uint8Array(mask.length);
  const stack = new Int32Array(mask.length);
  let depth = 0;
  const visit = (pixel: number) => {
    if (mask[pixel] !== 1 || reached[pixel] === 1) return;
    reached[pixel] = 1;
    stack[depth++] = pixel;
  };
  for (let x = 0; x < width; x++) {
    visit(x);
    visit((height - 1) * width + x);
  }
  for (let y = 0; y < height; y++) {
    visit(y * width);
    visit(y * width + width - 1);
  }
  while (depth > 0) {
    const pixel = stack[--depth]!;
    const x = pixel % width;
    if (x > 0) visit(pixel - 1);
    if (x < width - 1) visit(pixel + 1);
    if (pixel >= width) visit(pixel - width);
    if (pixel < mask.length - width) visit(pixel + width);
  }
  return reached;
}

/** Marks the pixels near the line between background and drawing, on both sides. */
function edgeOf(background: Uint8Array, width: number, height: number): Uint8Array {
  const edge = new Uint8Array(background.length);
  const mark = (pixel: number, side: number, reach: number) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    for (let row = Math.max(0, y - reach); row <= Math.min(height - 1, y + reach); row++) {
      for (let column = Math.max(0, x - reach); column <= Math.min(width - 1, x + reach); column++) {
        const other = row * width + column;
        if (background[other] === side) edge[other] = 1;
      }
    }
  };
  for (let pixel = 0; pixel < background.length; pixel++) {
    const side = background[pixel];
    const x = pixel % width;
    const isOnLine =
      (x > 0 && background[pixel - 1] !== side) ||
      (x < width - 1 && background[pixel + 1] !== side) ||
      (pixel >= width && background[pixel - width] !== side) ||
      (pixel < background.length - width && background[pixel + width] !== side);
    if (!isOnLine) continue;
    if (side === 1) mark(pixel, 0, OUTWARD);
    else mark(pixel, 1, INWARD);
  }
  return edge;
}

/** Separates one edge pixel from the background; null if the pixel is all drawing. */
function unmix({ width, height, data }: Raster, background: Uint8Array, pixel: number, key: Rgb) {
  const at = pixel * 4;
  const lin = (index: number) => LINEAR[data[index]!]!;
  const [kr, kg, kb] = mapThree(key, (value) => LINEAR[value]!);
  const [pr, pg, pb] = [lin(at) - kr, lin(at + 1) - kg, lin(at + 2) - kb];
  const own = pr * pr + pg * pg + pb * pb;
  const clear = { at, red: 0, green: 0, blue: 0, alpha: 0 };
  const isBackground = background[pixel] === 1;
  if (isBackground && own <= NOISE * NOISE) return clear;

  // The drawing's own color is the farthest one nearby on the same line from the background.
  let farthest = isBackground ? 0 : own;
  let [fr, fg, fb] = [pr, pg, pb];
  const [x, y] = [pixel % width, Math.floor(pixel / width)];
  for (let row = Math.max(0, y - REACH); row <= Math.min(height - 1, y + REACH); row++) {
    for (let column = Math.max(0, x - REACH); column <= Math.min(width - 1, x + REACH); column++) {
      const other = row * width + column;
      if (background[other] === 1) continue;
      const [r, g, b] = [lin(other * 4) - kr, lin(other * 4 + 1) - kg, lin(other * 4 + 2) - kb];
      const length = r * r + g * g + b * b;
      if (length <= farthest) continue;
      const product = r * pr + g * pg + b * pb;
      if (product <= 0 || product * product < ALIGNED * ALIGNED * length * own) continue;
      farthest = length;
      [fr, fg, fb] = [r, g, b];
    }
  }
  if (farthest === 0) return clear;
  const alpha = Math.min(1, (pr * fr + pg * fg + pb * fb) / farthest);
  if (alpha > 0.985) return null;
  if (alpha < 0.015) return clear;
  return {
    at,
    red: toSrgb(kr + pr / alpha),
    green: toSrgb(kg + pg / alpha),
    blue: toSrgb(kb + pb / alpha),
    alpha: alpha * 255,
  };
}
