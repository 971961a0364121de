import sharp from "sharp";
import type { Rectangle } from "@/server/contract/geometry";
import { type AlphaFigures, workPixels } from "./pixels";
import { blankRaster, placeRaster, type Raster } from "./raster";
import type { Slice, Sliced } from "./slice";

sharp.concurrency(1); // leaves the machine's other cores to other work

/** Processing of one picture after a model drew it. */
export type PictureProcessing = {
  matte: { keyColor: string; enclosed: boolean } | null;
  /** True to measure the picture's transparency. */
  report: boolean;
  sheet: {
    /** Size of the whole sheet; a picture of another size is resized to it. */
    canvas: Size;
    rows: number;
    columns: number;
    /** Size of each cell's picture; null for the size of its place on the grid. */
    cell: Size | null;
    center: boolean;
  } | null;
};
type Size = { width: number; height: number };

export type ProcessedCell = Size & { row: number; column: number; png: Uint8Array; source: Rectangle | null };
export type Processed = Size & {
  png: Uint8Array;
  alpha: AlphaFigures | null;
  sheet: { slicedBy: "grid" | "content"; cells: ProcessedCell[] } | null;
};

/** Larger pictures are refused: a small file can hold a picture that fills the memory. */
const MOST_PIXELS = 40_000_000;
const CODEC_SECONDS = 30;

/**
 * Reads a picture, removes its key color, cuts it into cells and writes them as PNG. Throws if the picture cannot be read, is too
 * large or takes too long.
 */
export async function processPicture(
  bytes: Uint8Array,
  { matte, report, sheet }: PictureProcessing,
): Promise<Processed> {
  const raster = await decode(bytes, sheet?.canvas ?? null);
  const result = workPixels({
    raster,
    matte,
    report,
    slice: sheet && { rows: sheet.rows, columns: sheet.columns },
  });
  const { width, height } = result.raster;
  return {
    width,
    height,
    png: await encode(result.raster),
    alpha: result.alpha,
    sheet: sheet &&
      result.sheet && {
        slicedBy: result.sheet.slicedBy,
        cells: await cellsOf(result.sheet, sheet.cell, sheet.center),
      },
  };
}

async function cellsOf(
  { slices, opaque }: Sliced,
  size: Size | null,
  center: boolean,
): Promise<ProcessedCell[]> {
  const sizeOf = (slice: Slice): Size => size ?? slice.cell;
  // One scale for all cells, so that smaller drawings stay smaller.
  const scale = slices.reduce((least, slice) => {
    const { content } = slice;
    if (!content || opaque) return least;
    const { width, height } = sizeOf(slice);
    return Math.min(least, width / content.width, height / content.height);
  }, 1);
  const cells: ProcessedCell[] = [];
  for (const slice of slices) {
    const { width, height } = sizeOf(slice);
    const content = slice.content && (await resized(slice.content, opaque ? { width, height } : scale));
    let picture = blankRaster(width, height);
    if (content && opaque) picture = content;
    else if (content) {
      const { left, top } = center ? centred(content, picture) : kept(content, picture, slice);
      placeRaster(content, picture, left, top);
    }
    cells.push({
      row: slice.row,
      column: slice.column,
      width,
      height,
      png: await encode(picture),
      source: slice.source,
    });
  }
  return cells;
}

const centred = (content: Size, picture: Size) => ({
  left: Math.floor((picture.width - content.width) / 2),
  top: Math.floor((picture.height - content.height) / 2),
});

/** The content's position in its picture, as it was in the cell; clamped so that all of the content lies inside. */
function kept(content: Size, picture: Size, { cell, source }: Slice) {
  const at = (edge: "width" | "height", axis: "x" | "y") => {
    const offset = (source?.[axis] ?? cell[axis]) - cell[axis] - Math.floor((cell[edge] - picture[edge]) / 2);
    return Math.max(0, Math.min(offset, picture[edge] - content[edge]));
  };
  return { left: at("width", "x"), top: at("height", "y") };
}

async function resized(raster: Raster, to: Size | number): Promise<Raster> {
  const size =
    typeof to === "number"
      ? {
          width: Math.max(1, Math.floor(raster.width * to)),
          height: Math.max(1, Math.floor(raster.height * to)),
        }
      : to;
  if (size.width === raster.width && size.height === raster.height) return raster;
  const { data } = await fromRaster(raster)
    .resize(size.width, size.height, { fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: size.width, height: size.height, data: new Uint8Array(data) };
}

async function decode(bytes: Uint8Array, canvas: Size | null): Promise<Raster> {
  const source = sharp(bytes, {
    limitInputPixels: MOST_PIXELS,
    sequentialRead: true,
    failOn: "error",
  })
    .timeout({ seconds: CODEC_SECONDS })
    .toColourspace("srgb")
    .ensureAlpha();
  const { data, info } = await source.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  const raster = { width: info.width, height: info.height, data: new Uint8Array(data) };
  return canvas ? resized(raster, canvas) : raster;
}

/** Writes a PNG, with an alpha channel only if some pixel is not opaque. */
async function encode(raster: Raster): Promise<Uint8Array> {
  let isOpaque = true;
  for (let at = 3; isOpaque && at < raster.data.length; at += 4) isOpaque = raster.data[at] === 255;
  const picture = fromRaster(raster);
  return (isOpaque ? picture.removeAlpha() : picture).png().timeout({ seconds: CODEC_SECONDS }).toBuffer();
}

const fromRaster = ({ width, height, data }: Raster) =>
  sharp(data, { raw: { width, height, channels: 4 }, limitInputPixels: MOST_PIXELS });
