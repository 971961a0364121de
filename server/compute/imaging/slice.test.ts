import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { blankRaster, type Raster, type Rectangle } from "./raster";
import { sliceSheet } from "./slice";

/** Fills a rectangle with a color that identifies it. */
function fill(raster: Raster, { x, y, width, height }: Rectangle, mark: number): void {
  for (let row = Math.max(0, y); row < Math.min(raster.height, y + height); row++) {
    for (let column = Math.max(0, x); column < Math.min(raster.width, x + width); column++) {
      raster.data.set([mark, 255 - mark, 7, 255], (row * raster.width + column) * 4);
    }
  }
}

/** Number of pixels of each mark in a picture. */
function marksIn(raster: Raster | null): Record<number, number> {
  const found: Record<number, number> = {};
  for (let at = 0; raster && at < raster.data.length; at += 4) {
    if (raster.data[at + 3] === 0) continue;
    const mark = raster.data[at] ?? -1;
    found[mark] = (found[mark] ?? 0) + 1;
  }
  return found;
}

const total = (marks: Record<number, number>) => Object.values(marks).reduce((sum, count) => sum + count, 0);

const grids = fc.record({
  rows: fc.integer({ min: 1, max: 8 }),
  columns: fc.integer({ min: 1, max: 8 }),
  width: fc.integer({ min: 120, max: 320 }),
  height: fc.integer({ min: 120, max: 320 }),
});

describe("sliceSheet", () => {
  test("cells of an opaque sheet tile it: each pixel is in exactly one", () => {
    fc.assert(
      fc.property(grids, ({ rows, columns, width, height }) => {
        const raster = blankRaster(width, height);
        raster.data.fill(255);
        const { slices, slicedBy, opaque } = sliceSheet(raster, { rows, columns });
        expect([slicedBy, opaque, slices.length]).toEqual(["grid", true, rows * columns]);
        const times = new Uint8Array(width * height);
        for (const { cell, source, content } of slices) {
          expect(source).toEqual(cell);
          expect(content).toMatchObject({ width: cell.width, height: cell.height });
          for (let y = cell.y; y < cell.y + cell.height; y++)
            for (let x = cell.x; x < cell.x + cell.width; x++)
              times[y * width + x] = (times[y * width + x] ?? 0) + 1;
        }
        expect(times.every((count) => count === 1)).toBe(true);
      }),
      campaign.runs({ small: 60, full: 600 }),
    );
  });

  test("shapes that keep to the grid are trimmed and whole in their own cells, and an empty cell is empty", () => {
    fc.assert(
      fc.property(
        grids,
        fc.infiniteStream(fc.integer({ min: 0, max: 99 })),
        ({ rows, columns, width, height }, drawn) => {
          const next = () => Number(drawn.next().value);
          const raster = blankRaster(width, height);
          const wanted = sliceSheet(raster, { rows, columns }).slices.map(({ cell }, index) => {
            if (next() < 20) return null;
            const w = 2 + Math.floor((next() / 100) * (cell.width - 3));
            const h = 2 + Math.floor((next() / 100) * (cell.height - 3));
            const box = {
              x: cell.x + Math.floor((next() / 100) * (cell.width - w)),
              y: cell.y + Math.floor((next() / 100) * (cell.height - h)),
              width: w,
              height: h,
            };
            return { box, mark: index + 10 };
          });
          // Shapes in neighboring cells that touch are one shape, so a gap is kept.
          for (const each of wanted) {
            if (!each) continue;
            each.box.width--;
            each.box.height--;
            fill(raster, each.box, each.mark);
          }
          const filled = wanted.filter((each) => each !== null).length;
          const { slices } = sliceSheet(raster, { rows, columns });
          expect(slices.reduce((sum, { content }) => sum + total(marksIn(content)), 0)).toBe(
            total(marksIn(raster)),
          );
          if (filled === 0) return;
          slices.forEach(({ content, source }, index) => {
            const each = wanted[index];
            if (!each) {
              expect(content).toBeNull();
              return;
            }
            expect(source).toEqual(each.box);
            expect(marksIn(content)).toEqual({ [each.mark]: each.box.width * each.box.height });
          });
        },
      ),
      campaign.runs({ small: 100, full: 1_000 }),
    );
  });

  test("shapes of a shifted and shrunk layout are still whole in their own cells", () => {
    const skewed = fc.record({
      rows: fc.integer({ min: 1, max: 6 }),
      columns: fc.integer({ min: 1, max: 6 }),
      shrink: fc.double({ min: 0.6, max: 1, noNaN: true }),
      right: fc.double({ min: 0, max: 1, noNaN: true }),
      down: fc.double({ min: 0, max: 1, noNaN: true }),
      lean: fc.double({ min: -0.1, max: 0.1, noNaN: true }),
      size: fc.double({ min: 0.3, max: 0.6, noNaN: true }),
    });
    fc.assert(
      fc.property(skewed, ({ rows, columns, shrink, right, down, lean, size }) => {
        const cell = 48;
        const raster = blankRaster(columns * cell, rows * cell);
        const step = cell * shrink;
        const [left, top] = [raster.width * (1 - shrink) * right, raster.height * (1 - shrink) * down];
        const sizes: number[] = [];
        for (let index = 0; index < rows * columns; index++) {
          const [row, column] = [Math.floor(index / columns), index % columns];
          const edge = Math.max(3, Math.floor(step * size) - (index % 3));
          const x = left + (column + 0.5) * step - edge / 2;
          const y = top + (row + 0.5 + lean * (column % 2)) * step - edge / 2;
          fill(raster, { x: Math.round(x), y: Math.round(y), width: edge, height: edge }, 10 + index);
          sizes.push(edge * edge);
        }
        const { slices } = sliceSheet(raster, { rows, columns });
        expect(slices.map(({ content }) => marksIn(content))).toEqual(
          sizes.map((count, index) => ({ [10 + index]: count })),
        );
      }),
      campaign.runs({ small: 200, full: 2_000 }),
    );
  });

  test("crumbs go with the nearest shape", () => {
    const raster = blankRaster(200, 100);
    fill(raster, { x: 60, y: 20, width: 60, height: 60 }, 50); // over the line between the cells
    fill(raster, { x: 150, y: 20, width: 40, height: 60 }, 90);
    fill(raster, { x: 124, y: 40, width: 4, height: 4 }, 50);
    const { slices, slicedBy } = sliceSheet(raster, { rows: 1, columns: 2 });
    expect(slicedBy).toBe("content");
    expect(slices.map(({ content }) => marksIn(content))).toEqual([{ 50: 3616 }, { 90: 2400 }]);
  });

  test("touching shapes are separated where the least is drawn", () => {
    const raster = blankRaster(200, 100);
    fill(raster, { x: 10, y: 20, width: 80, height: 60 }, 50);
    fill(raster, { x: 90, y: 48, width: 30, height: 4 }, 70); // a bridge
    fill(raster, { x: 120, y: 20, width: 70, height: 60 }, 90);
    const { slices } = sliceSheet(raster, { rows: 1, columns: 2 });
    const [first, second] = slices.map(({ content }) => marksIn(content));
    expect([first?.[50], first?.[90], second?.[50], second?.[90]]).toEqual([
      4800,
      undefined,
      undefined,
      4200,
    ]);
    expect((first?.[70] ?? 0) + (second?.[70] ?? 0)).toBe(120);
  });

  test("a sheet with nothing on it has empty cells", () => {
    const { slices } = sliceSheet(blankRaster(64, 64), { rows: 2, columns: 2 });
    expect(slices.map(({ source, content }) => [source, content])).toEqual(
      [0, 1, 2, 3].map(() => [null, null]),
    );
  });
});
