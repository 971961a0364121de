import type { Rectangle } from "@/server/contract/geometry";
import { mapThree } from "../three";

/** Pixels in memory: RGBA, one byte each, row by row, color not multiplied by alpha. */
export type Raster = { width: number; height: number; data: Uint8Array };

export type { Rectangle } from "@/server/contract/geometry";

export function blankRaster(width: number, height: number): Raster {
  return { width, height, data: new Uint8Array(width * height * 4) };
}

/** Copies the part of a picture inside a rectangle, which must lie within it. */
export function crop(raster: Raster, { x, y, width, height }: Rectangle): Raster {
  const part = blankRaster(width, height);
  for (let row = 0; row < height; row++) {
    const from = ((y + row) * raster.width + x) * 4;
    part.data.set(raster.data.subarray(from, from + width * 4), row * width * 4);
  }
  return part;
}

/** Copies a picture onto another without blending; pixels that would lie outside are dropped. */
export function placeRaster(part: Raster, onto: Raster, left: number, top: number): void {
  const skipped = Math.max(0, -left);
  const width = Math.min(part.width, onto.width - left) - skipped;
  if (width <= 0) return;
  for (let row = 0; row < part.height; row++) {
    const y = top + row;
    if (y < 0 || y >= onto.height) continue;
    const from = (row * part.width + skipped) * 4;
    onto.data.set(part.data.subarray(from, from + width * 4), (y * onto.width + left + skipped) * 4);
  }
}

export type Rgb = [red: number, green: number, blue: number];

/** Reads a color such as `#ff00ff`. */
export function parseColor(hex: string): Rgb {
  return mapThree([1, 3, 5], (at) => Number.parseInt(hex.slice(at, at + 2), 16));
}
