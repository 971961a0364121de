import { toLight } from "./arithmetic";
import type { LinearPicture } from "./draw";
import { writeLabel } from "./label";
import type { Background, CameraView, Vector } from "./request";

/** Longest side of a view's picture on a sheet, in pixels. */
const MOST = 640;
const INKS: Record<Background, number> = { light: 70, dark: 215, transparent: 128 };

/** Lays all views out in rows of three, each with its name below. Throws if there is no view. */
export function contactSheet(
  views: { view: CameraView; picture: LinearPicture }[],
  background: Background,
): LinearPicture {
  const [first] = views;
  if (!first) throw new Error("a sheet needs at least one view");
  const { width, height } = first.picture;
  const divisor = Math.max(1, Math.ceil(Math.max(width, height) / MOST));
  const [cellWidth, cellHeight] = [Math.floor(width / divisor), Math.floor(height / divisor)];
  const size = Math.max(9, Math.round(Math.min(cellWidth, cellHeight) / 32));
  const footer = size * 3;
  const columns = Math.min(3, views.length);
  const rows = Math.ceil(views.length / columns);
  const sheet: LinearPicture = {
    width: cellWidth * columns,
    height: (cellHeight + footer) * rows,
    data: new Float32Array(cellWidth * columns * (cellHeight + footer) * rows * 4),
  };
  const ink = toLight(INKS[background] / 255);
  const color: Vector = [ink, ink, ink];
  views.forEach(({ view, picture }, n) => {
    const row = Math.floor(n / columns);
    // Centers the last row.
    const inRow = Math.min(columns, views.length - row * columns);
    const left = Math.floor(((columns - inRow) * cellWidth) / 2) + (n % columns) * cellWidth;
    const top = row * (cellHeight + footer);
    place(picture, divisor, sheet, { left, top, width: cellWidth, height: cellHeight });
    writeLabel(sheet, view, { x: left + cellWidth / 2, y: top + cellHeight + size * 1.1, size, color });
  });
  return sheet;
}

/** Copies a picture; each pixel is the mean of `divisor` by `divisor` pixels. */
function place(
  from: LinearPicture,
  divisor: number,
  onto: LinearPicture,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): void {
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let part = 0; part < 4; part++) {
        let sum = 0;
        for (let dy = 0; dy < divisor; dy++)
          for (let dx = 0; dx < divisor; dx++)
            sum += from.data[((y * divisor + dy) * from.width + x * divisor + dx) * 4 + part]!;
        onto.data[((top + y) * onto.width + left + x) * 4 + part] = sum / (divisor * divisor);
      }
}
