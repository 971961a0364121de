import { keyOut } from "./matte";
import { parseColor, type Raster, type Rgb } from "./raster";
import { type Sliced, type SlicePlan, sliceSheet } from "./slice";

/** Work on the pixels of one picture. */
export type PixelWork = {
  raster: Raster;
  matte: { keyColor: string; enclosed: boolean } | null;
  slice: SlicePlan | null;
  /** True to measure the picture's transparency. */
  report: boolean;
};

export type AlphaFigures = {
  hasAlphaChannel: boolean;
  transparentPixelRatio: number;
  opaqueCornerCount: number;
  chromaPlateRatio: number;
};

/** Removes the key color, then cuts out the cells. The same raster gives the same pixels; the given raster is changed. */
export function workPixels({ raster, matte, slice, report }: PixelWork): {
  raster: Raster;
  alpha: AlphaFigures | null;
  sheet: Sliced | null;
} {
  const key = matte ? keyOut(raster, { key: parseColor(matte.keyColor), enclosed: matte.enclosed }) : null;
  return {
    raster,
    alpha: report ? measure(raster, key) : null,
    sheet: slice ? sliceSheet(raster, slice) : null,
  };
}

const PLATE = 60 ** 2;

function measure({ width, height, data }: Raster, key: Rgb | null): AlphaFigures {
  let [clear, plate, least] = [0, 0, 255];
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3]!;
    if (alpha < least) least = alpha;
    if (alpha === 0) clear++;
    else if (key) {
      const [r, g, b] = [data[at]! - key[0], data[at + 1]! - key[1], data[at + 2]! - key[2]];
      if (r * r + g * g + b * b <= PLATE) plate++;
    }
  }
  const corners = [0, width - 1, (height - 1) * width, width * height - 1];
  const ratio = (count: number) => Math.round((count / (width * height)) * 1e6) / 1e6;
  return {
    hasAlphaChannel: least < 255,
    transparentPixelRatio: ratio(clear),
    opaqueCornerCount: corners.filter((pixel) => data[pixel * 4 + 3] === 255).length,
    chromaPlateRatio: ratio(plate),
  };
}
