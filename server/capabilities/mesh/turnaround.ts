import { processImage } from "@/server/compute/imaging";
import { type MeshFromImageInput, VIEWS, type View } from "@/server/contract/meshes";
import { charactersOf } from "@/server/platform/text/characters";
import type { ImageCall, ModelFacts, ProviderFile } from "@/server/providers/define";
import { CapabilityFault, type OutputFile, type RunOutcome, type Stage } from "../define";

/*
 * The turnaround: an object drawn from its four sides, after one picture. It is drawn on a key color, so that views can
 * be cut out and missing or broken ones detected.
 */

export const SHEET_KIND = "turnaround_sheet";
export const VIEW_KIND = "turnaround_view";

export type TurnaroundMaterial = {
  base: ProviderFile;
  /** The usable views drawn so far, in the order of VIEWS. */
  views: { view: View; picture: ProviderFile }[];
  texture: ProviderFile | null;
  /** True in a run after the stages; false while the request is planned. */
  isDrawn: boolean;
};
type TurnaroundStage = Stage<MeshFromImageInput, TurnaroundMaterial>;

const KEY = { color: "#ff00ff", name: "magenta" };
const QUALITY = "medium" as const;
const SQUARE = { width: 1024, height: 1024 };
const SHEETS = {
  sheet2x2: { rows: 2, columns: 2, ...SQUARE },
  sheet1x4: { rows: 1, columns: 4, width: 1536, height: 1024 },
};
type Sheet = (typeof SHEETS)[keyof typeof SHEETS];

/** A view lower than this share of the tallest one is broken, because all sides of an object have the same height. */
const LEAST_HEIGHT = 0.5;

const PROMPT_CHARACTERS = 32_000;

const GROUND = `The whole background is the flat, even colour ${KEY.color} (${KEY.name}), without shadow, gradient, texture or reflection. This colour appears nowhere on the object. No frames, numbers or text.`;
const SAME =
  "It is exactly the object of the reference picture: the same shape, proportions, colours and materials, whole, upright, at one scale, seen straight on from the height of its middle, in even light.";

/**
 * The caller's description, and as much of our instructions as fits. A prompt of maximum length is sent alone; the
 * caller's text is never truncated.
 */
function toPrompt(input: MeshFromImageInput, asked: string): string {
  const said = input.resolvedPrompt?.trim();
  return [asked, GROUND, SAME].reduce((prompt, part) => {
    const longer = prompt ? `${prompt}\n\n${part}` : part;
    return charactersOf(longer) <= PROMPT_CHARACTERS ? longer : prompt;
  }, said ?? "");
}

const toCall = (
  model: ModelFacts,
  {
    prompt,
    size,
    base,
    sheet,
  }: {
    prompt: string;
    size: { width: number; height: number };
    base: ProviderFile;
    sheet?: { rows: number; columns: number } | undefined;
  },
): ImageCall => {
  const reference = { ...base, filename: `base.${base.mediaType.split("/")[1] ?? "png"}` };
  return {
    prompt,
    width: size.width,
    height: size.height,
    quality: QUALITY,
    count: 1,
    transparent: false,
    background: KEY.color,
    ...(sheet ? { sheet } : {}),
    ...(model.supports.referenceImages
      ? { referenceImages: [reference] }
      : { referenceImages: [], source: reference }),
  };
};

/** Can this model draw that size from a reference picture? */
const accepts =
  (size: { width: number; height: number }) => (_input: MeshFromImageInput, model: ModelFacts) =>
    Boolean(model.supports.referenceImages || model.supports.edit) &&
    (!model.image?.sizes ||
      model.image.sizes.some(({ width, height }) => width === size.width && height === size.height));

function firstOf({ images }: { images: ProviderFile[] }): ProviderFile {
  const drawn = images.find(({ bytes }) => bytes.byteLength > 0);
  if (!drawn) throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider's answer contains no image.");
  return drawn;
}

const whole = (file: ProviderFile, kind: string, name: string): RunOutcome<unknown> => ({
  typedOutput: null,
  files: [{ ...file, kind, filename: `${name}.${file.mediaType.split("/")[1] ?? "bin"}` }],
});

const MATTE = { keyColor: KEY.color, enclosed: false };

/**
 * A stage that draws all four views on one sheet and cuts them apart. Each view is marked as filled, empty or broken.
 */
function onSheet(sheet: Sheet): TurnaroundStage {
  const { rows, columns, width, height } = sheet;
  const order = rows === 1 ? "from left to right" : "in reading order";
  return {
    name: "turnaround",
    execute: {
      port: "image",
      accepts: accepts(sheet),
      call: (input, _options, model, { base }) =>
        toCall(model, {
          prompt: toPrompt(
            input,
            `A turnaround sheet of one object: ${rows} ${rows === 1 ? "row" : "rows"} and ${columns} columns of equal cells, ${order} the ${VIEWS.join(", ")} view, one in the middle of each cell with clear space around it. No drawing touches or crosses the edge of its cell.`,
          ),
          size: { width, height },
          base,
          sheet: { rows, columns },
        }),
      result: (result) => whole(firstOf(result), SHEET_KIND, "turnaround-sheet"),
      refine: () => async (kept) => {
        const drawn = kept[0];
        if (!drawn) throw new Error("a stored sheet does not exist");
        const done = await processImage(drawn.bytes, {
          matte: MATTE,
          report: false,
          sheet: { canvas: { width, height }, rows, columns, cell: null, center: true },
        });
        const cells = done.sheet?.cells ?? [];
        const tallest = Math.max(...cells.map(({ source }) => source?.height ?? 0));
        const files: OutputFile[] = [
          { bytes: done.png, mediaType: "image/png", kind: SHEET_KIND, filename: "turnaround-sheet.png" },
          ...cells.map(({ png, source, row, column }, at) =>
            viewFile(VIEWS[at] ?? "front", png, `r${row + 1}c${column + 1}`, statusOf(source, tallest)),
          ),
        ];
        if (tallest === 0)
          throw new CapabilityFault(
            "PROVIDER_EMPTY_OUTPUT",
            "The provider's turnaround contains no usable view.",
          );
        return { typedOutput: null, files };
      },
      bounds: () => ({ images: 1 }),
    },
  };
}

/**
 * Status of a view by its height. If the ground is not the key color, nothing can be detected and every view passes.
 */
function statusOf(source: { height: number } | null, tallest: number): "filled" | "empty" | "broken" {
  if (!source) return "empty";
  return source.height < tallest * LEAST_HEIGHT ? "broken" : "filled";
}

const viewFile = (view: View, bytes: Uint8Array, cellId: string | null, slotStatus: string): OutputFile => ({
  bytes,
  mediaType: "image/png",
  kind: VIEW_KIND,
  filename: `${view}.png`,
  label: view,
  slotStatus,
  ...(cellId ? { sliceCellId: cellId } : {}),
});

/** A stage that draws one view alone; as a repair, only if the sheet's view is missing or broken. */
function alone(view: View, isRepair: boolean): TurnaroundStage {
  return {
    name: `turnaround.${view}`,
    ...(isRepair
      ? {
          isNeeded: (_input: MeshFromImageInput, kept: OutputFile[]) =>
            kept.some(
              ({ kind, label, slotStatus }) =>
                kind === VIEW_KIND && label === view && slotStatus !== "filled",
            ),
        }
      : {}),
    execute: {
      port: "image",
      accepts: accepts(SQUARE),
      call: (input, _options, model, { base }) =>
        toCall(model, {
          prompt: toPrompt(
            input,
            `One drawing of one object, from its ${view} side, in the middle with clear space around it.`,
          ),
          size: SQUARE,
          base,
        }),
      result: (result) => whole(firstOf(result), VIEW_KIND, view),
      refine: () => async (kept) => {
        const drawn = kept[0];
        if (!drawn) throw new Error("a stored view does not exist");
        const { png, alpha } = await processImage(drawn.bytes, { matte: MATTE, report: true, sheet: null });
        const isEmpty = alpha?.transparentPixelRatio === 1;
        const status = isEmpty ? "empty" : isRepair ? "repaired" : "filled";
        return { typedOutput: null, files: [viewFile(view, png, null, status)] };
      },
      bounds: () => ({ images: 1 }),
    },
  };
}

/** The calls that draw the turnaround in the requested mode. */
export function turnaroundStages({ turnaroundMode }: MeshFromImageInput): TurnaroundStage[] {
  if (turnaroundMode === "perView") return VIEWS.map((view) => alone(view, false));
  if (turnaroundMode === "panelRepair")
    return [onSheet(SHEETS.sheet2x2), ...VIEWS.map((view) => alone(view, true))];
  return [onSheet(SHEETS[turnaroundMode])];
}

/** The last good picture of each view that has one. */
export function usableViews(kept: OutputFile[]): TurnaroundMaterial["views"] {
  return VIEWS.flatMap((view) => {
    const drawn = kept.findLast(
      ({ kind, label, slotStatus }) =>
        kind === VIEW_KIND && label === view && (slotStatus === "filled" || slotStatus === "repaired"),
    );
    return drawn ? [{ view, picture: { bytes: drawn.bytes, mediaType: drawn.mediaType } }] : [];
  });
}
