import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { canvasOf, ImageInput, layoutOf } from "./images";

const refused = (input: object) => [
  ...new Set(ImageInput.safeParse({ prompt: "x", ...input }).error?.issues.map(({ path }) => path.join("."))),
];
const slice = { rows: 2, columns: 2, slice: true };
const clear = { requestTransparentOutput: true };

describe("image input", () => {
  test.each<[object, string[]]>([
    [{ sheet: { slice: true } }, ["sheet.rows", "sheet.columns"]],
    [{ sheet: { slice: true, rows: 2 } }, ["sheet.columns"]],
    [{ sheet: { rows: 2 } }, ["sheet.columns"]],
    [{ sheet: { labels: ["a"] } }, ["sheet.rows", "sheet.columns"]],
    [{ sheet: { ...slice, rows: 9 } }, ["sheet.rows"]],
    [{ sheet: { ...slice, columns: 0 } }, ["sheet.columns"]],
    [{ sheet: { ...slice, labels: ["a", "b", "c", "d", "e"] } }, ["sheet.labels"]],
    [{ sheet: { ...slice, labels: ["a", " "] } }, ["sheet.labels.1"]],
    [{ sheet: { ...slice, normalize: { width: 31, height: 512 } } }, ["sheet.normalize.width"]],
    [{ sheet: { ...slice, normalize: { width: 512, height: 1025 } } }, ["sheet.normalize.height"]],
    [{ sheet: { ...slice, normalize: { width: 512 } } }, ["sheet.normalize.height"]],
    [{ sheet: slice, variantCount: 2 }, ["variantCount"]],
    [{ sheet: { ...slice, animation: { facing: "" } } }, ["sheet.animation.facing"]],
    // The canvas must match the size that its cells add up to.
    [{ width: 1024, sheet: { ...slice, normalize: { width: 500, height: 512 } } }, ["width"]],
    [{ height: 1040, sheet: { ...slice, normalize: { width: 512, height: 512 } } }, ["height"]],
    // A canvas computed from cells has the same limits as any other.
    [{ sheet: { ...slice, normalize: { width: 256, height: 256 } } }, ["sheet.normalize.width"]],
    [
      { sheet: { rows: 8, columns: 1, slice: true, normalize: { width: 128, height: 1024 } } },
      ["sheet.normalize.width"],
    ],
    [
      { sheet: { rows: 8, columns: 8, slice: true, normalize: { width: 512, height: 128 } } },
      ["sheet.normalize.width"],
    ],
    [{ transparencyMethod: "native" }, ["transparencyMethod"]],
    [{ keyColor: "#00ff00" }, ["keyColor"]],
    [{ ...clear, transparencyMethod: "native", keyColor: "#00ff00" }, ["keyColor"]],
    [
      { ...clear, transparencyMethod: "native", transparentRegions: "borderConnected" },
      ["transparentRegions"],
    ],
    [{ ...clear, transparencyMethod: "matte" }, ["transparencyMethod"]],
  ])("%j is refused at %j", (input, fields) => expect(refused(input)).toEqual(fields));

  test.each([
    { sheet: slice },
    { sheet: { animation: true } },
    { sheet: { rows: 4, columns: 4 }, variantCount: 4 },
    { sheet: { ...slice, labels: ["a"] } },
    { width: 1024, height: 1024, sheet: { ...slice, normalize: { width: 512, height: 512 } } },
    { width: 1020, sheet: { ...slice, normalize: { width: 510, height: 512 } } },
    { sheet: { rows: 8, columns: 8, slice: true, normalize: { width: 103, height: 103 } } },
    {
      ...clear,
      transparencyMethod: "matte-v9",
      keyColor: "#00ffff",
      transparentRegions: "borderConnectedAndEnclosed",
    },
  ])("%j is accepted", (input) => expect(refused(input)).toEqual([]));
});

const inputs = fc
  .record(
    {
      width: fc.integer({ min: 256, max: 3840 }),
      height: fc.integer({ min: 256, max: 3840 }),
      sheet: fc.record(
        {
          rows: fc.integer({ min: 1, max: 8 }),
          columns: fc.integer({ min: 1, max: 8 }),
          slice: fc.boolean(),
          labels: fc.array(fc.string({ minLength: 1, maxLength: 60, unit: "binary" }), { maxLength: 8 }),
          normalize: fc.record({
            width: fc.integer({ min: 32, max: 1024 }),
            height: fc.integer({ min: 32, max: 1024 }),
          }),
        },
        { requiredKeys: ["rows", "columns"] },
      ),
    },
    { requiredKeys: ["sheet"] },
  )
  .map((input) => ImageInput.safeParse({ prompt: "x", ...input }).data)
  .filter((input) => input !== undefined);

describe("an accepted sheet", () => {
  test("the canvas is one that models draw, and the cells tile the canvas without gap or overlap", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { width, height } = canvasOf(input);
        expect([width % 16, height % 16]).toEqual([0, 0]);
        expect(width * height).toBeGreaterThanOrEqual(655_360);
        const layout = layoutOf(input);
        const { rows = 0, columns = 0 } = input.sheet ?? {};
        expect(layout?.cells).toHaveLength(rows * columns);
        const cells = layout?.cells.map(({ rectangle }) => rectangle) ?? [];
        cells.forEach((cell, index) => {
          const [left, above] = [cells[index - 1], cells[index - columns]];
          expect(cell.x).toBe(index % columns === 0 ? 0 : (left?.x ?? 0) + (left?.width ?? 0));
          expect(cell.y).toBe(index < columns ? 0 : (above?.y ?? 0) + (above?.height ?? 0));
          expect(Math.min(cell.width, cell.height)).toBeGreaterThan(0);
        });
        const last = cells.at(-1);
        expect([(last?.x ?? 0) + (last?.width ?? 0), (last?.y ?? 0) + (last?.height ?? 0)]).toEqual([
          width,
          height,
        ]);
      }),
      campaign.runs({ small: 100, full: 1_000 }),
    );
  });

  test("the cells have different names that every file system accepts", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const names = (layoutOf(input)?.cells ?? []).map(({ filename }) => filename);
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
        for (const name of names) {
          expect(name).toMatch(/^[\p{L}\p{M}\p{N}_-]+\.png$/u);
          expect(Buffer.byteLength(name)).toBeLessThan(250);
        }
      }),
      campaign.runs({ small: 100, full: 1_000 }),
    );
    const named = (labels: string[]) =>
      layoutOf(ImageInput.parse({ prompt: "x", sheet: { ...slice, labels } }))?.cells.map(
        ({ filename }) => filename,
      );
    expect(named(["../../etc/passwd", "CON", "r2c2"])).toEqual([
      "etc-passwd.png",
      "r1c2.png",
      "r2c2.png",
      "r2c2-r2c2.png",
    ]);
    expect(named(["Sheet", "r2c2", "r2c2-r2c2"])).toEqual([
      "Sheet-r1c1.png",
      "r2c2.png",
      "r2c2-r2c2.png",
      "r2c2-r2c2-2.png",
    ]);
  });
});
