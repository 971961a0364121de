import type { AlphaFigures, PictureProcessing } from "@/server/compute/imaging";
import { KEY_COLORS, type TransparencyReport } from "@/server/contract/images";

/*
 * How a picture becomes transparent: the model draws a transparent background, or draws on a key color that is removed
 * here.
 */

export type Transparency =
  | { method: "native" }
  | { method: "matte-v9"; keyColor: string; transparentRegions: string };

/** A matte with the requested settings. By default it removes the first key color, in areas that touch the border. */
export const matteOf = (
  keyColor: string = KEY_COLORS[0],
  transparentRegions = "borderConnected",
): Transparency => ({ method: "matte-v9", keyColor, transparentRegions });

const COLOR_NAMES: Record<string, string> = { "#ff00ff": "magenta", "#00ffff": "cyan", "#00ff00": "green" };

/** Instructions for the prompt that a matte needs; null if nothing is removed. */
export function askedOfDrawing(transparency: Transparency | null): string | null {
  if (transparency?.method !== "matte-v9") return null;
  const { keyColor } = transparency;
  return `The whole background is the flat, even colour ${keyColor} (${COLOR_NAMES[keyColor]}), without shadow, gradient, texture or reflection. This colour appears nowhere else.`;
}

/** The transparency fields of an image call. */
export const toCallFields = (transparency: Transparency | null) => ({
  transparent: transparency?.method === "native",
  ...(transparency?.method === "matte-v9" ? { background: transparency.keyColor } : {}),
});

/** The processing after the call. */
export const toProcessing = (
  transparency: Transparency | null,
): Pick<PictureProcessing, "matte" | "report"> => ({
  matte:
    transparency?.method === "matte-v9"
      ? {
          keyColor: transparency.keyColor,
          enclosed: transparency.transparentRegions === "borderConnectedAndEnclosed",
        }
      : null,
  report: transparency !== null,
});

/** Above this share, too much of the key color is left. */
const PLATE_RATIO = 0.005;

export function toReport(alpha: AlphaFigures, transparency: Transparency): TransparencyReport {
  const verdict =
    alpha.transparentPixelRatio === 0
      ? "no_transparent_pixels"
      : alpha.opaqueCornerCount > 0
        ? "opaque_corners"
        : alpha.chromaPlateRatio > PLATE_RATIO
          ? "chroma_plate_left"
          : "valid_transparent_sprite";
  return {
    schemaVersion: "service.png-transparency.v1",
    ...transparency,
    verdict,
    transparencyOk: verdict === "valid_transparent_sprite",
    ...alpha,
  };
}
