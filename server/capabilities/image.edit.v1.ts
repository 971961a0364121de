import { processImage } from "@/server/compute/imaging";
import {
  askedSize,
  EDIT_EDGES,
  EDIT_TRANSPARENCY,
  ImageEditInput,
  ImageEditOutput,
} from "@/server/contract/image-edit";
import { snapEdge } from "@/server/contract/images";
import { headOf } from "@/server/contract/pictures";
import type { ModelFacts } from "@/server/providers/define";
import { BY_MODEL, defineCapability, type OutputFile } from "./define";
import { checkLength, drawnOf, IMAGE, sizeOfPng, takesSize, toImageFile } from "./image/drawing";
import { nearestSize } from "./image/sizes";
import {
  askedOfDrawing,
  matteOf,
  type Transparency,
  toCallFields,
  toProcessing,
  toReport,
} from "./image/transparency";

const KEY = "image.edit.v1";

/** The size to request from a model: the caller's, or the size nearest to the source's that the model draws. */
function canvasOf(input: ImageEditInput, model: ModelFacts): { width: number; height: number } {
  const asked = askedSize(input);
  if (asked) return { width: snapEdge(asked.width), height: snapEdge(asked.height) };
  const source = headOf(input.sourceImage);
  return nearestSize(source ?? { width: 1024, height: 1024 }, EDIT_EDGES, model.image);
}

function transparencyOf(input: ImageEditInput, model: ModelFacts): Transparency | null {
  if (!input.requestTransparentOutput) return null;
  const method = input.transparencyMethod
    ? EDIT_TRANSPARENCY[input.transparencyMethod]
    : model.supports.transparency
      ? "native"
      : "matte-v9";
  return method === "native" ? { method } : matteOf();
}

function accepts(input: ImageEditInput, model: ModelFacts): boolean {
  if (!model.supports.edit) return false;
  if (input.mask && !model.supports.mask) return false;
  if (input.referenceImages?.length && !model.supports.referenceImages) return false;
  if (transparencyOf(input, model)?.method === "native" && !model.supports.transparency) return false;
  return takesSize(model, canvasOf(input, model));
}

const toPrompt = (input: ImageEditInput, transparency: Transparency | null) =>
  [input.prompt, askedOfDrawing(transparency)].filter(Boolean).join("\n\n");

/** A white square of 256 x 256 pixels, small enough for an example. */
const WHITE_SQUARE =
  "iVBORw0KGgoAAAANSUhEUgAAAQAAAAEAAQMAAABmvDolAAAAA1BMVEX///+nxBvIAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAH0lEQVRo3u3BAQ0AAADCoPdPbQ43oAAAAAAAAAAAvg0hAAABfxmcpwAAAABJRU5ErkJggg==";

export default defineCapability({
  ...IMAGE,
  key: KEY,
  title: "Image editing",
  description: "Changes a picture according to a prompt: all of it, or only where a mask is transparent.",
  input: ImageEditInput,
  output: ImageEditOutput,
  features: {
    syncInvoke: { supported: false },
    variants: { min: 1, max: 4, default: 1 },
    mask: { supported: true, editable: "alpha 0" },
    referenceImages: { max: 3 },
    transparency: { native: true, matte: true, methods: { ...EDIT_TRANSPARENCY } },
    ...BY_MODEL,
  },
  constraints: { dimensions: { minEdge: EDIT_EDGES.min, maxEdge: EDIT_EDGES.max, multipleOf: 16 } },
  intentExamples: [
    "Remove the background from this photo",
    "Replace the sky in my picture with a sunset",
    "Change the colour of the car in this image to red",
    "Paint out the person on the left",
  ],
  synonyms: [
    "inpaint",
    "retouch",
    "photoshop",
    "mask",
    "modify picture",
    "change photo",
    "background removal",
  ],
  taskTags: ["image", "edit", "inpainting"],
  readySummary: "A picture changed by a prompt, as a durable job with one artifact per variant.",
  variants: (input) => input.variantCount,
  examples: [
    {
      title: "Change a whole picture",
      input: {
        prompt: "Paint a lighthouse at dawn on the empty canvas",
        sourceImage: { dataBase64: WHITE_SQUARE, filename: "canvas.png", mimeType: "image/png" },
      },
    },
  ],
  execute: {
    port: "image",
    accepts,
    call(input, _options, model) {
      const transparency = transparencyOf(input, model);
      const prompt = toPrompt(input, transparency);
      checkLength(KEY, prompt, input.prompt, model);
      return {
        prompt,
        ...canvasOf(input, model),
        quality: input.quality,
        count: input.variantCount,
        ...toCallFields(transparency),
        source: toImageFile(input.sourceImage),
        ...(input.mask ? { mask: toImageFile(input.mask) } : {}),
        referenceImages: (input.referenceImages ?? []).map(toImageFile),
      };
    },
    result(result, input, { model }) {
      const files = drawnOf(result, input.variantCount).map(({ bytes, mediaType }, variantIndex) => ({
        bytes,
        mediaType,
        kind: "image",
        filename: `image-${variantIndex + 1}.${mediaType.split("/")[1] ?? "bin"}`,
        variantIndex,
      }));
      return {
        typedOutput: {
          images: files.map(({ variantIndex, mediaType, filename, bytes }) => ({
            variantIndex,
            ...(sizeOfPng(bytes) ?? canvasOf(input, model)),
            mediaType,
            filename,
          })),
        },
        files,
      };
    },
    refine(input, model) {
      const transparency = transparencyOf(input, model);
      if (!transparency) return null;
      return async (kept) => {
        const files: OutputFile[] = [];
        const output: ImageEditOutput = { images: [] };
        for (const { bytes, kind, filename, variantIndex = 0 } of kept) {
          const done = await processImage(bytes, { ...toProcessing(transparency), sheet: null });
          const name = filename.replace(/\.[^.]*$/, ".png");
          files.push({ bytes: done.png, mediaType: "image/png", kind, filename: name, variantIndex });
          output.images.push({
            variantIndex,
            width: done.width,
            height: done.height,
            mediaType: "image/png",
            filename: name,
            ...(done.alpha ? { transparency: toReport(done.alpha, transparency) } : {}),
          });
        }
        return { typedOutput: output, files, media: { transparency } };
      };
    },
    bounds: (input) => ({ images: input.variantCount }),
  },
});
