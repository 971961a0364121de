import { z } from "zod";
import { AdapterChoice, MOST_ADAPTERS } from "./adapters";
import { boundary, type Rectangle } from "./geometry";

const MAX_INLINE_FILE_CHARACTERS = 14_000_000;

export const InlineImage = z.strictObject({
  dataBase64: z
    .string()
    .min(1)
    .max(MAX_INLINE_FILE_CHARACTERS)
    // Not z.base64(): its pattern repeats a group and backtracks deeply on megabytes.
    .refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text), "not base64"),
  filename: z.string().min(1).max(255),
  mimeType: z.enum(["image/png", "image/jpeg", "image/webp"]),
});
export type InlineImage = z.output<typeof InlineImage>;

/** Dimensions that image models of this interface can draw: edges and areas in pixels. */
export const IMAGE_DIMENSIONS = {
  catalogueMinEdge: 256,
  maxEdge: 3840,
  maxAspectRatio: 3,
  maxPixels: 8_294_400,
  minPixels: 655_360,
  multipleOf: 16,
} as const;

const DEFAULT_EDGE = 1024;

/** Rounds up to the multiple that models accept: 1200 x 630 becomes 1200 x 640. */
export const snapEdge = (edge: number) =>
  Math.ceil(edge / IMAGE_DIMENSIONS.multipleOf) * IMAGE_DIMENSIONS.multipleOf;

const Edge = z
  .int()
  .min(IMAGE_DIMENSIONS.catalogueMinEdge)
  .max(IMAGE_DIMENSIONS.maxEdge)
  .optional()
  .describe(
    `${IMAGE_DIMENSIONS.catalogueMinEdge} to ${IMAGE_DIMENSIONS.maxEdge} pixels, rounded up to a multiple of ${IMAGE_DIMENSIONS.multipleOf}. Defaults to 1024, unless a sheet is sized by its cells.`,
  );

/** Maximum of rows, and of columns, of a sheet. */
export const MOST_CELLS_ON_AN_EDGE = 8;
const CellCount = z.int().min(1).max(MOST_CELLS_ON_AN_EDGE).optional();
const CellEdge = z.int().min(32).max(1024).describe("32 to 1024 pixels.");

/** Several pictures on one canvas, which can be cut apart. */
export const Sheet = z.strictObject({
  rows: CellCount.describe("Required with slice."),
  columns: CellCount.describe("Required with slice."),
  slice: z.boolean().default(false).describe("Cut the sheet into one artifact per cell."),
  labels: z
    .array(
      z
        .string()
        .min(1)
        .max(200)
        .refine((label) => label.trim() !== "", "a label needs at least one visible character"),
    )
    .max(MOST_CELLS_ON_AN_EDGE ** 2)
    .optional()
    .describe(
      "Names of the cells, row by row. They are used as file names only: they are never sent to a model and never drawn.",
    ),
  animation: z
    .union([
      z.boolean(),
      z.strictObject({
        facing: z
          .string()
          .regex(/^[A-Za-z][A-Za-z -]{0,31}$/, "use one or two plain words")
          .default("right"),
      }),
    ])
    .optional()
    .describe("The cells are frames of one movement."),
  normalize: z
    .strictObject({
      width: CellEdge,
      height: CellEdge,
      center: z.boolean().default(true).describe("Trim each cell's content and centre it."),
    })
    .optional()
    .describe("The size of each cell's picture. The canvas is this size times columns and rows."),
});
export type Sheet = z.output<typeof Sheet>;

export const KEY_COLORS = ["#ff00ff", "#00ffff", "#00ff00"] as const;
export const TRANSPARENCY_METHODS = ["native", "matte-v9"] as const;
export const TRANSPARENT_REGIONS = ["borderConnected", "borderConnectedAndEnclosed"] as const;

export const ImageInput = z
  .strictObject({
    // The limit is only published here: a longer prompt fails with PromptTooLong, by the capability's input
    // constraints.
    prompt: z.string().min(1).meta({ description: "What to draw.", maxLength: 32_000 }),
    width: Edge,
    height: Edge,
    quality: z.enum(["low", "medium", "high", "auto", "standard"]).default("medium"),
    variantCount: z.int().min(1).max(4).default(1).describe("Must be 1 when a sheet is sliced."),
    requestTransparentOutput: z.boolean().default(false),
    transparencyMethod: z
      .enum(TRANSPARENCY_METHODS)
      .optional()
      .describe(
        "`native`: the model draws a transparent background. `matte-v9`: it draws on a flat key colour, which is then removed. Defaults to what the model supports.",
      ),
    keyColor: z.enum(KEY_COLORS).optional().describe("The key colour of matte-v9. Defaults to #ff00ff."),
    transparentRegions: z
      .enum(TRANSPARENT_REGIONS)
      .optional()
      .describe(
        "Where matte-v9 removes the key colour: only areas that touch the border (the default), or enclosed areas as well.",
      ),
    referenceImages: z.array(InlineImage).max(4).optional(),
    sheet: Sheet.optional(),
    adapters: z
      .array(AdapterChoice)
      .max(MOST_ADAPTERS)
      .optional()
      .describe(
        "LoRA weights of the project to draw with, each by alias or by id. Defaults to the project's default; an empty list means none. Trigger words are not added to the prompt.",
      ),
    model: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe("`auto`, or a model's name without its provider, such as `sandbox-2`."),
  })
  .superRefine((input, context) => {
    for (const { path, message } of problemsOf(input)) context.addIssue({ code: "custom", path, message });
  });
export type ImageInput = z.output<typeof ImageInput>;

type Sized = Pick<ImageInput, "width" | "height" | "sheet">;
type Problem = { path: string[]; message: string };

/** Checks across several fields; each problem is reported at the field to change. */
function problemsOf(input: Omit<ImageInput, "model">): Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: string, message: string) => problems.push({ path: path.split("."), message });
  const { sheet } = input;
  if (sheet) {
    const isLaidOut = sheet.rows !== undefined && sheet.columns !== undefined;
    const why = sheet.slice ? "slice" : sheet.normalize ? "normalize" : sheet.labels ? "labels" : null;
    for (const edge of ["rows", "columns"] as const) {
      const other = edge === "rows" ? "columns" : "rows";
      if (sheet[edge] !== undefined) continue;
      if (why) refuse(`sheet.${edge}`, `required with ${why}`);
      else if (sheet[other] !== undefined) refuse(`sheet.${edge}`, `required with ${other}`);
    }
    if (sheet.slice && input.variantCount !== 1) refuse("variantCount", "must be 1 when a sheet is sliced");
    if (isLaidOut && sheet.labels && sheet.labels.length > cellsOf(sheet))
      refuse("sheet.labels", `the sheet has ${cellsOf(sheet)} cells; send at most one label for each`);
    if (isLaidOut && sheet.normalize) {
      for (const [edge, count] of [
        ["width", sheet.columns],
        ["height", sheet.rows],
      ] as const) {
        const bySheet = snapEdge(sheet.normalize[edge] * (count ?? 1));
        const given = input[edge];
        if (given !== undefined && snapEdge(given) !== bySheet)
          refuse(
            edge,
            `does not match the sheet: ${count} cells of ${sheet.normalize[edge]} pixels make ${bySheet}`,
          );
      }
    }
  }
  if (problems.length === 0) problems.push(...problemsOfCanvas(input));
  const isMatte = input.transparencyMethod !== "native";
  for (const field of ["transparencyMethod", "keyColor", "transparentRegions"] as const) {
    if (input[field] === undefined) continue;
    if (!input.requestTransparentOutput) refuse(field, "allowed only with requestTransparentOutput");
    else if (!isMatte && field !== "transparencyMethod")
      refuse(field, "allowed only with transparencyMethod matte-v9");
  }
  return problems;
}

function problemsOfCanvas(input: Sized): Problem[] {
  const { width, height } = canvasOf(input);
  const { minPixels, maxPixels, maxAspectRatio, maxEdge, catalogueMinEdge } = IMAGE_DIMENSIONS;
  const refuse = (field: "width" | "height", message: string): Problem[] =>
    isSizedByCell(input)
      ? [{ path: ["sheet", "normalize", field], message: `the canvas is ${width} x ${height}; ${message}` }]
      : [{ path: [field], message }];
  for (const [field, edge] of [
    ["width", width],
    ["height", height],
  ] as const) {
    if (edge < catalogueMinEdge)
      return refuse(field, `an edge must have at least ${catalogueMinEdge} pixels`);
    if (edge > maxEdge) return refuse(field, `an edge can have at most ${maxEdge} pixels`);
  }
  if (width * height < minPixels)
    return refuse("width", `width x height must be at least ${minPixels} pixels, for example 816 x 816`);
  if (width * height > maxPixels)
    return refuse("width", `width x height must be at most ${maxPixels} pixels`);
  if (Math.max(width, height) / Math.min(width, height) > maxAspectRatio)
    return refuse("width", `the longer edge may be at most ${maxAspectRatio} times the shorter one`);
  return [];
}

const cellsOf = (sheet: Sheet) => (sheet.rows ?? 1) * (sheet.columns ?? 1);
const isSizedByCell = ({ width, height, sheet }: Sized) =>
  sheet?.normalize !== undefined && (width === undefined || height === undefined);

/**
 * The size to request from a model: as given, computed from the sheet's cells, or 1024 x 1024; rounded up by
 * `snapEdge`.
 */
export function canvasOf({ width, height, sheet }: Sized): { width: number; height: number } {
  const { normalize, rows, columns } = sheet ?? {};
  return {
    width: snapEdge(width ?? (normalize && columns ? normalize.width * columns : DEFAULT_EDGE)),
    height: snapEdge(height ?? (normalize && rows ? normalize.height * rows : DEFAULT_EDGE)),
  };
}

export type SheetCell = {
  row: number;
  column: number;
  sliceCellId: string;
  label: string | null;
  filename: string;
  /** Its place on the canvas, in pixels. */
  rectangle: Rectangle;
};
export type SheetLayout = {
  rows: number;
  columns: number;
  /** Size of every cell's picture; null if each keeps the size of its rectangle. */
  cell: { width: number; height: number } | null;
  center: boolean;
  cells: SheetCell[];
};

/** Place and name of each cell of a sheet; null without rows and columns. */
export function layoutOf(input: Sized): SheetLayout | null {
  const { rows, columns, labels = [], normalize } = input.sheet ?? {};
  if (rows === undefined || columns === undefined) return null;
  const { width, height } = canvasOf(input);
  const taken = new Set<string>(["sheet.png"]);
  const cells = Array.from({ length: rows * columns }, (_, index): SheetCell => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const [x, y] = [boundary(width, columns, column), boundary(height, rows, row)];
    const sliceCellId = `r${row + 1}c${column + 1}`;
    const label = labels[index] ?? null;
    return {
      row: row + 1,
      column: column + 1,
      sliceCellId,
      label,
      filename: cellFilename(label, sliceCellId, taken),
      rectangle: {
        x,
        y,
        width: boundary(width, columns, column + 1) - x,
        height: boundary(height, rows, row + 1) - y,
      },
    };
  });
  return {
    rows,
    columns,
    cell: normalize ? { width: normalize.width, height: normalize.height } : null,
    center: normalize?.center ?? true,
    cells,
  };
}

/** At most four bytes per character, so the name fits every file system. */
const NAME_CHARACTERS = 50;
/** Windows reserves these names for devices. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * Turns a label into the name of a PNG file. Its stem has only letters, digits, combining marks, dashes and underscores,
 * or is the cell's id if the label has none of these or is reserved. Names are unique, also on file systems that ignore
 * case.
 */
function cellFilename(label: string | null, sliceCellId: string, taken: Set<string>): string {
  const words = (label ?? "")
    .normalize("NFC")
    .replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "-")
    .replace(/-{2,}/g, "-");
  const plain = [...words]
    .slice(0, NAME_CHARACTERS)
    .join("")
    .replace(/^[-_]+|[-_]+$/g, "");
  const stem = plain === "" || RESERVED.test(plain) ? sliceCellId : plain;
  for (let again = 0; ; again++) {
    const suffix = again === 0 ? "" : again === 1 ? `-${sliceCellId}` : `-${sliceCellId}-${again}`;
    const name = `${stem}${suffix}.png`;
    if (taken.has(name.toLowerCase())) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}

/** Report on whether a PNG has the transparency of a sprite. */
export const TransparencyReport = z.object({
  schemaVersion: z.literal("service.png-transparency.v1"),
  method: z.enum(TRANSPARENCY_METHODS),
  keyColor: z.string().optional(),
  transparentRegions: z.string().optional(),
  verdict: z.enum([
    "valid_transparent_sprite",
    "no_transparent_pixels",
    "opaque_corners",
    "chroma_plate_left",
  ]),
  transparencyOk: z.boolean(),
  hasAlphaChannel: z.boolean(),
  transparentPixelRatio: z.number(),
  opaqueCornerCount: z.int(),
  chromaPlateRatio: z.number(),
});
export type TransparencyReport = z.output<typeof TransparencyReport>;

const RectangleShape = z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() });

export const SlicedCell = z.object({
  sliceCellId: z.string(),
  row: z.int(),
  column: z.int(),
  label: z.string().nullable(),
  filename: z.string(),
  slotStatus: z.enum(["filled", "empty"]),
  width: z.int(),
  height: z.int(),
  /** The part of the sheet that the cell shows; null if it was empty. */
  source: RectangleShape.nullable(),
});

export const ImageOutput = z.object({
  images: z.array(
    z.object({
      variantIndex: z.int(),
      width: z.int(),
      height: z.int(),
      mediaType: z.string(),
      filename: z.string(),
      transparency: TransparencyReport.optional(),
    }),
  ),
  sheet: z
    .object({
      rows: z.int(),
      columns: z.int(),
      /** `content`: cut along the drawn objects, because the drawing does not keep to the grid. */
      slicedBy: z.enum(["grid", "content"]).nullable(),
      cells: z.array(SlicedCell).optional(),
    })
    .optional(),
});
export type ImageOutput = z.output<typeof ImageOutput>;
