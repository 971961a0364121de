import { type ProcessedCell, processImage } from "@/server/compute/imaging";
import { MOST_ADAPTERS } from "@/server/contract/adapters";
import {
  canvasOf,
  IMAGE_DIMENSIONS,
  ImageInput,
  ImageOutput,
  KEY_COLORS,
  layoutOf,
  MOST_CELLS_ON_AN_EDGE,
  type SheetLayout,
  snapEdge,
  TRANSPARENCY_METHODS,
} from "@/server/contract/images";
import type { ModelFacts } from "@/server/providers/define";
import { BY_MODEL, defineCapability, type OutputFile } from "./define";
import { checkLength, drawnOf, IMAGE, sizeOfPng, takesSize, toImageFile } from "./image/drawing";
import {
  askedOfDrawing,
  matteOf,
  type Transparency,
  toCallFields,
  toProcessing,
  toReport,
} from "./image/transparency";

const KEY = "image.generate.v1";
/** Edge of the smallest square that can be drawn, in pixels. */
const MINIMUM_SQUARE = snapEdge(Math.sqrt(IMAGE_DIMENSIONS.minPixels));

/** Can this model draw that size with the requested options? */
function accepts(input: ImageInput, model: ModelFacts): boolean {
  if (input.model !== undefined && input.model !== "auto" && input.model !== model.id) return false;
  if (input.transparencyMethod === "native" && !model.supports.transparency) return false;
  if (input.referenceImages?.length && !model.supports.referenceImages) return false;
  return takesSize(model, canvasOf(input));
}

/** How this model makes transparency: natively if it can, unless the input asks for matte settings. */
function transparencyOf(input: ImageInput, model: ModelFacts): Transparency | null {
  if (!input.requestTransparentOutput) return null;
  const wantsMatte = input.keyColor !== undefined || input.transparentRegions !== undefined;
  const method =
    input.transparencyMethod ?? (model.supports.transparency && !wantsMatte ? "native" : "matte-v9");
  return method === "native" ? { method } : matteOf(input.keyColor, input.transparentRegions);
}

/** The prompt with the instructions that a sheet and a matte need. Labels are not part of it. */
function toPrompt(input: ImageInput, layout: SheetLayout | null, transparency: Transparency | null): string {
  const asked: string[] = [];
  if (layout) {
    const { rows, columns } = layout;
    asked.push(
      `Lay the image out as a sheet of ${rows} ${rows === 1 ? "row" : "rows"} and ${columns} ${columns === 1 ? "column" : "columns"} of equal cells: ${rows * columns} separate drawings, one in the middle of each cell, with clear space around it. No drawing touches or crosses the edge of its cell. No lines, frames, numbers or text between the cells.`,
    );
  }
  const animation = input.sheet?.animation;
  if (animation) {
    const facing = typeof animation === "object" ? animation.facing : "right";
    asked.push(
      `The drawings are consecutive frames of one movement of the same figure, facing ${facing}, at one scale, in reading order.`,
    );
  }
  const ofBackground = askedOfDrawing(transparency);
  if (ofBackground) asked.push(ofBackground);
  return [input.prompt, ...asked].join("\n\n");
}

function toCells(layout: SheetLayout, drawn: ProcessedCell[]) {
  return layout.cells.map(({ row, column, sliceCellId, label, filename }, index) => {
    const cell = drawn[index];
    if (!cell) throw new Error(`the cell ${sliceCellId} was not cut`);
    const { width, height, source, png } = cell;
    const slotStatus = source ? ("filled" as const) : ("empty" as const);
    return {
      entry: { sliceCellId, row, column, label, filename, slotStatus, width, height, source },
      file: {
        bytes: png,
        mediaType: "image/png",
        kind: "sheet-cell",
        filename,
        ...(label === null ? {} : { label }),
        sliceCellId,
        slotStatus,
      } satisfies OutputFile,
    };
  });
}

const layoutFacts = ({ rows, columns, slicedBy, cells = [] }: NonNullable<ImageOutput["sheet"]>) => ({
  rows,
  columns,
  slicedBy,
  cells: cells.length,
  emptyCells: cells.filter(({ slotStatus }) => slotStatus === "empty").length,
});

export default defineCapability({
  ...IMAGE,
  key: KEY,
  title: "Image generation",
  description: "Draws one to four images from a prompt, or a sheet of them, at the size you ask for.",
  input: ImageInput,
  output: ImageOutput,
  features: {
    syncInvoke: { supported: false },
    variants: { min: 1, max: 4, default: 1 },
    transparency: {
      native: true,
      matte: true,
      methods: [...TRANSPARENCY_METHODS],
      keyColors: [...KEY_COLORS],
    },
    referenceImages: { max: 4 },
    adapters: {
      max: MOST_ADAPTERS,
      type: "lora",
      weight: { min: 0, max: 2 },
      namedBy: ["alias", "adapterId"],
    },
    sheetSlicing: {
      supported: true,
      maxRows: MOST_CELLS_ON_AN_EDGE,
      maxColumns: MOST_CELLS_ON_AN_EDGE,
      variantCount: 1,
    },
    canvasFloor: {
      minPixels: IMAGE_DIMENSIONS.minPixels,
      minimumSquare: `${MINIMUM_SQUARE}x${MINIMUM_SQUARE}`,
    },
    ...BY_MODEL,
  },
  constraints: {
    dimensions: { ...IMAGE_DIMENSIONS },
    sheet: {
      // Only the canvas has a minimum size; more cells allow smaller cells.
      alignedMinimumSquareCell: MINIMUM_SQUARE / MOST_CELLS_ON_AN_EDGE,
      cellMinPixels: IMAGE_DIMENSIONS.minPixels / MOST_CELLS_ON_AN_EDGE ** 2,
      derivedCellSize: "canvas divided by columns and rows",
    },
  },
  intentExamples: [
    "Draw a lighthouse at dawn",
    "Make a transparent sprite of a red potion",
    "Generate four variants of a book cover",
    "Cut a sheet of sixteen inventory icons into single files",
  ],
  synonyms: ["picture", "illustration", "drawing", "art", "photo", "sprite", "sheet", "cover", "logo", "png"],
  taskTags: ["image", "generation", "illustration", "sprite", "sheet"],
  readySummary: "PNG images from a prompt, as durable jobs with one artifact per variant or sheet cell.",
  variants: (input) => input.variantCount,
  adapters: (input) => input.adapters,
  examples: [
    { title: "One picture", input: { prompt: "A lighthouse above a calm sea at dawn" } },
    {
      title: "Two transparent sprites",
      input: { prompt: "A round red potion bottle", requestTransparentOutput: true, variantCount: 2 },
    },
    {
      title: "In the project's own style, a little stronger than usual",
      input: {
        prompt: "A harbour in winter, in the style of TOK",
        adapters: [{ alias: "house-style", weight: 1.2 }],
      },
    },
    { title: "A banner", input: { prompt: "Hills in the morning fog", width: 1200, height: 630 } },
    {
      title: "A sheet of icons, cut into files of 512 x 512",
      input: {
        prompt: "Inventory icons: a sword, a shield, a potion, a scroll",
        requestTransparentOutput: true,
        sheet: {
          rows: 2,
          columns: 2,
          slice: true,
          labels: ["sword", "shield", "potion", "scroll"],
          normalize: { width: 512, height: 512 },
        },
      },
    },
  ],
  execute: {
    port: "image",
    accepts,
    call(input, _options, model) {
      const layout = layoutOf(input);
      const transparency = transparencyOf(input, model);
      const prompt = toPrompt(input, layout, transparency);
      checkLength(KEY, prompt, input.prompt, model);
      return {
        prompt,
        ...canvasOf(input),
        quality: input.quality,
        count: input.variantCount,
        ...toCallFields(transparency),
        ...(layout ? { sheet: { rows: layout.rows, columns: layout.columns } } : {}),
        referenceImages: (input.referenceImages ?? []).map(toImageFile),
      };
    },
    result(result, input) {
      const drawn = drawnOf(result, input.variantCount);
      const layout = layoutOf(input);
      const name = layout ? "sheet" : "image";
      const kind = input.sheet?.slice ? "composite-sheet" : name;
      const files = drawn.map(({ bytes, mediaType }, variantIndex) => ({
        bytes,
        mediaType,
        kind,
        filename: `${input.sheet?.slice ? name : `${name}-${variantIndex + 1}`}.${mediaType.split("/")[1] ?? "bin"}`,
        variantIndex,
      }));
      return {
        typedOutput: {
          images: files.map(({ variantIndex, mediaType, filename, bytes }) => ({
            variantIndex,
            ...(sizeOfPng(bytes) ?? canvasOf(input)),
            mediaType,
            filename,
          })),
          ...(layout ? { sheet: { rows: layout.rows, columns: layout.columns, slicedBy: null } } : {}),
        },
        files,
      };
    },
    refine(input, model) {
      const transparency = transparencyOf(input, model);
      const layout = layoutOf(input);
      const isSliced = input.sheet?.slice === true && layout !== null;
      if (!transparency && !isSliced) return null;
      return async (kept) => {
        const files: OutputFile[] = [];
        const output: ImageOutput = {
          images: [],
          ...(layout ? { sheet: { rows: layout.rows, columns: layout.columns, slicedBy: null } } : {}),
        };
        for (const { bytes, kind, filename, variantIndex = 0 } of kept) {
          const done = await processImage(bytes, {
            ...toProcessing(transparency),
            sheet: isSliced
              ? {
                  canvas: canvasOf(input),
                  rows: layout.rows,
                  columns: layout.columns,
                  cell: layout.cell,
                  center: layout.center,
                }
              : null,
          });
          const name = filename.replace(/\.[^.]*$/, ".png");
          files.push({ bytes: done.png, mediaType: "image/png", kind, filename: name, variantIndex });
          output.images.push({
            variantIndex,
            width: done.width,
            height: done.height,
            mediaType: "image/png",
            filename: name,
            ...(transparency && done.alpha ? { transparency: toReport(done.alpha, transparency) } : {}),
          });
          if (isSliced && done.sheet && output.sheet) {
            const cells = toCells(layout, done.sheet.cells);
            files.push(...cells.map(({ file }) => file));
            output.sheet = {
              ...output.sheet,
              slicedBy: done.sheet.slicedBy,
              cells: cells.map(({ entry }) => entry),
            };
          }
        }
        return {
          typedOutput: output,
          files,
          media: {
            transparency: transparency ?? { method: "none" },
            ...(output.sheet ? { sheet: { ...layoutFacts(output.sheet) } } : {}),
          },
        };
      };
    },
    preview(input, model) {
      const layout = layoutOf(input);
      const transparency = transparencyOf(input, model);
      const canvas = canvasOf(input);
      const isSliced = input.sheet?.slice === true && layout !== null;
      return {
        canvas,
        requestedSize: { width: input.width ?? null, height: input.height ?? null },
        quality: input.quality,
        providerCalls: 1,
        variantCount: input.variantCount,
        images: input.variantCount,
        transparency: transparency ?? { method: "none" },
        addedToPrompt: toPrompt(input, layout, transparency).slice(input.prompt.length).trim() || null,
        sheet: layout && {
          rows: layout.rows,
          columns: layout.columns,
          slice: isSliced,
          cellSize: layout.cell,
          center: layout.center,
          cells: layout.cells.map((cell) => ({
            ...cell,
            output: layout.cell ?? { width: cell.rectangle.width, height: cell.rectangle.height },
          })),
        },
        artifacts: {
          count: input.variantCount + (isSliced ? layout.cells.length : 0),
          kinds: isSliced ? ["composite-sheet", "sheet-cell"] : [layout ? "sheet" : "image"],
        },
      };
    },
    bounds: (input) => ({ images: input.variantCount }),
  },
});
