import { IMAGE_DIMENSIONS, ImageInput, ImageOutput, snapEdge } from "@/server/contract/inputs";
import type { ModelFacts } from "@/server/providers/define";
import { CapabilityFault, defineCapability } from "./define";

const PROMPT_CHARACTERS = 32_000;

/** Can this model draw that size, with what else was asked? */
function accepts(input: ImageInput, model: ModelFacts): boolean {
  if (input.model !== undefined && input.model !== "auto" && input.model !== model.id) return false;
  if (input.requestTransparentOutput && !model.supports.transparency) return false;
  if (input.referenceImages?.length && !model.supports.referenceImages) return false;
  const [width, height] = [snapEdge(input.width), snapEdge(input.height)];
  const facts = model.image;
  if (!facts) return true;
  if (facts.sizes && !facts.sizes.some((size) => size.width === width && size.height === height))
    return false;
  const [short, long, pixels] = [Math.min(width, height), Math.max(width, height), width * height];
  return (
    short >= facts.minEdge &&
    long <= facts.maxEdge &&
    width % facts.multipleOf === 0 &&
    height % facts.multipleOf === 0 &&
    pixels >= facts.minPixels &&
    pixels <= facts.maxPixels &&
    long / short <= facts.maxAspectRatio
  );
}

/** What the file itself says; null for another format. */
function sizeOfPng(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 24 || view.getUint32(0) !== 0x89504e47) return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

export default defineCapability({
  key: "image.generate.v1",
  title: "Image generation",
  description: "Draws one to four images from a prompt, at the size you ask for.",
  modality: "image",
  family: "image",
  category: "generation",
  modes: ["job_async"],
  input: ImageInput,
  output: ImageOutput,
  inputConstraints: {
    prompt: {
      measurement: "characters",
      max: PROMPT_CHARACTERS,
      overflow: "reject",
      semantic: true,
      byModel: { "gpt-image-1": { max: PROMPT_CHARACTERS }, "gpt-image-2": { max: PROMPT_CHARACTERS } },
    },
  },
  features: {
    syncInvoke: { supported: false },
    durableJob: {
      supported: true,
      defaultQueueDeadlineSeconds: 7200,
      maxQueueDeadlineSeconds: 7200,
      defaultExecutionDeadlineSeconds: 300,
      maxExecutionDeadlineSeconds: 900,
    },
    deferredProcessing: { available: false, discountBps: 0, appliesTo: [] },
    variants: { min: 1, max: 4, default: 1 },
    transparency: { native: true, matte: false },
    referenceImages: { max: 4 },
    sheetSlicing: false,
    canvasFloor: { minPixels: IMAGE_DIMENSIONS.minPixels, minimumSquare: "816x816" },
    providerBacked: true,
    modelBacked: true,
    deterministic: false,
    executionClass: "provider",
  },
  constraints: { dimensions: { ...IMAGE_DIMENSIONS } },
  inputMediaTypes: ["text/plain", "image/png", "image/jpeg", "image/webp"],
  outputKind: "artifact",
  outputMediaType: "image/png",
  intentExamples: [
    "Draw a lighthouse at dawn",
    "Make a transparent sprite of a red potion",
    "Generate four variants of a book cover",
  ],
  synonyms: ["picture", "illustration", "drawing", "art", "photo", "sprite", "cover", "logo", "png"],
  taskTags: ["image", "generation", "illustration", "sprite"],
  trialEligible: true,
  readySummary: "PNG images from a prompt, as durable jobs with one artifact per variant.",
  durable: {
    defaultQueueSeconds: 7200,
    maxQueueSeconds: 7200,
    defaultExecutionSeconds: 300,
    maxExecutionSeconds: 900,
  },
  variants: (input) => input.variantCount,
  examples: [
    { title: "One picture", input: { prompt: "A lighthouse above a calm sea at dawn" } },
    {
      title: "Two transparent sprites",
      input: { prompt: "A round red potion bottle", requestTransparentOutput: true, variantCount: 2 },
    },
    { title: "A banner", input: { prompt: "Hills in the morning fog", width: 1200, height: 630 } },
  ],
  execute: {
    port: "image",
    accepts,
    call: (input) => ({
      prompt: input.prompt,
      width: snapEdge(input.width),
      height: snapEdge(input.height),
      quality: input.quality,
      count: input.variantCount,
      transparent: input.requestTransparentOutput,
      referenceImages: (input.referenceImages ?? []).map(({ dataBase64, filename, mimeType }) => ({
        bytes: Buffer.from(dataBase64, "base64"),
        mediaType: mimeType,
        filename,
      })),
    }),
    result({ images }, input) {
      const drawn = images.slice(0, input.variantCount).filter(({ bytes }) => bytes.byteLength > 0);
      if (drawn.length === 0) {
        throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider answered without an image.");
      }
      const files = drawn.map(({ bytes, mediaType }, variantIndex) => ({
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
            ...(sizeOfPng(bytes) ?? { width: snapEdge(input.width), height: snapEdge(input.height) }),
            mediaType,
            filename,
          })),
        },
        files,
      };
    },
    bounds: (input) => ({ images: input.variantCount }),
  },
});
