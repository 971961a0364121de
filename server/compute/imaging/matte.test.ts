import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { keyOut } from "./matte";
import { blankRaster, type Raster, type Rgb } from "./raster";

const MAGENTA: Rgb = [255, 0, 255];
const KEYS: Rgb[] = [MAGENTA, [0, 255, 255], [0, 255, 0]];

const toLinear = (value: number) => {
  const c = value / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
};
const toSrgb = (linear: number) =>
  Math.round((linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055) * 255);

/** A picture over a flat background, mixed in linear light; `coverage` is the alpha that was put in. */
function paint(size: number, ground: Rgb, color: Rgb, coverage: (x: number, y: number) => number): Raster {
  const raster = blankRaster(size, size);
  for (let pixel = 0; pixel < size * size; pixel++) {
    const alpha = coverage(pixel % size, Math.floor(pixel / size));
    for (let c = 0; c < 3; c++) {
      const mixed = toLinear(color[c] ?? 0) * alpha + toLinear(ground[c] ?? 0) * (1 - alpha);
      raster.data[pixel * 4 + c] = toSrgb(mixed);
    }
    raster.data[pixel * 4 + 3] = 255;
  }
  return raster;
}

/** A disc with a soft rim two pixels wide. */
const disc = (cx: number, cy: number, radius: number) => (x: number, y: number) =>
  Math.min(1, Math.max(0, (radius + 1 - Math.hypot(x - cx, y - cy)) / 2));

const alphaAt = (raster: Raster, x: number, y: number) => raster.data[(y * raster.width + x) * 4 + 3] ?? -1;

describe("keyOut", () => {
  test.each(
    KEYS.flatMap((key) =>
      [
        [255, 255, 255],
        [20, 20, 24],
        [220, 130, 30],
        [30, 60, 140],
      ].map((color) => [key, color as Rgb] as const),
    ),
  )("a disc on %j of %j has the alpha it was painted with, and its own color to the rim", (key, color) => {
    const coverage = disc(32, 32, 18);
    const raster = paint(64, key, color, coverage);
    keyOut(raster, { key, enclosed: false });
    for (let y = 0; y < 64; y++) {
      for (let x = 0; x < 64; x++) {
        const wanted = coverage(x, y);
        const found = alphaAt(raster, x, y) / 255;
        expect(Math.abs(found - wanted), `alpha at ${x}, ${y}`).toBeLessThan(0.03);
        // Below a fifth of drawing, eight bits are too few to compute its color.
        if (found < 0.2) continue;
        for (let c = 0; c < 3; c++) {
          const value = raster.data[(y * 64 + x) * 4 + c] ?? -1;
          expect(Math.abs(value - (color[c] ?? 0)), `channel ${c} at ${x}, ${y}`).toBeLessThan(24);
        }
      }
    }
  });

  test("pixels far from the background do not change, whatever their color", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 300, maxLength: 300 }), (noise) => {
        const raster = paint(40, MAGENTA, [10, 90, 40], (x, y) =>
          x > 5 && x < 34 && y > 5 && y < 34 ? 1 : 0,
        );
        // A patch of random colors, ten pixels inside the drawing.
        for (let index = 0; index < 100; index++) {
          const at = ((15 + Math.floor(index / 10)) * 40 + 15 + (index % 10)) * 4;
          raster.data.set(noise.subarray(index * 3, index * 3 + 3), at);
        }
        const before = raster.data.slice();
        keyOut(raster, { key: MAGENTA, enclosed: false });
        for (let y = 12; y < 28; y++) {
          const row = [(y * 40 + 12) * 4, (y * 40 + 28) * 4] as const;
          expect(raster.data.subarray(...row)).toEqual(before.subarray(...row));
        }
      }),
      campaign.runs({ small: 50, full: 500 }),
    );
  });

  test("a hole is kept unless enclosed areas are removed too", () => {
    const ring = (x: number, y: number) => disc(32, 32, 20)(x, y) - disc(32, 32, 9)(x, y);
    const [kept, open] = [paint(64, MAGENTA, [40, 40, 40], ring), paint(64, MAGENTA, [40, 40, 40], ring)];
    keyOut(kept, { key: MAGENTA, enclosed: false });
    keyOut(open, { key: MAGENTA, enclosed: true });
    expect([alphaAt(kept, 32, 32), alphaAt(open, 32, 32)]).toEqual([255, 0]);
    expect([alphaAt(kept, 0, 0), alphaAt(open, 0, 0)]).toEqual([0, 0]);
    expect([alphaAt(kept, 32, 18), alphaAt(open, 32, 18)]).toEqual([255, 255]);
  });

  test("a key that was painted slightly off and unevenly is removed as well", () => {
    const raster = paint(64, [243, 14, 236], [30, 60, 140], disc(32, 32, 18));
    for (let at = 0; at < raster.data.length; at += 4) {
      if (raster.data[at] !== 243) continue;
      raster.data[at] = 243 + ((at >> 2) % 7) - 3;
    }
    keyOut(raster, { key: MAGENTA, enclosed: false });
    expect([alphaAt(raster, 0, 0), alphaAt(raster, 5, 40), alphaAt(raster, 32, 32)]).toEqual([0, 0, 255]);
  });

  test("a picture without the key keeps all its pixels", () => {
    const raster = paint(32, [20, 120, 60], [200, 30, 30], disc(16, 16, 9));
    const before = raster.data.slice();
    keyOut(raster, { key: MAGENTA, enclosed: true });
    expect(raster.data).toEqual(before);
  });

  test("the same picture gives the same pixels", () => {
    const [once, again] = [0, 1].map(() => paint(64, MAGENTA, [200, 200, 40], disc(30, 34, 17)));
    if (!once || !again) throw new Error("unreachable");
    keyOut(once, { key: MAGENTA, enclosed: false });
    keyOut(again, { key: MAGENTA, enclosed: false });
    expect(again.data).toEqual(once.data);
  });
});
