import type { InlineImage } from "@/server/contract/images";
import { readPictureHead } from "@/server/contract/pictures";
import { charactersOf } from "@/server/platform/text/characters";
import type { ImageResult, ModelFacts, NamedFile, ProviderFile } from "@/server/providers/define";
import { type CapabilityDefinition, CapabilityFault, durable, inCharacters } from "../define";

const PROMPT_CHARACTERS = 32_000;

/** Facts that all image capabilities share. */
export const IMAGE = {
  modality: "image",
  family: "image",
  category: "generation",
  modes: ["job_async"],
  inputConstraints: {
    prompt: inCharacters(PROMPT_CHARACTERS, {
      "gpt-image-1": PROMPT_CHARACTERS,
      "gpt-image-2": PROMPT_CHARACTERS,
    }),
  },
  inputMediaTypes: ["text/plain", "image/png", "image/jpeg", "image/webp"],
  outputKind: "artifact",
  outputMediaType: "image/png",
  trialEligible: true,
  durable: durable(300, 900),
} satisfies Partial<CapabilityDefinition<never, unknown>>;

/** Throws if the prompt is too long together with the text added to it; nothing is truncated. */
export function checkLength(
  capabilityKey: string,
  prompt: string,
  given: string,
  model: Pick<ModelFacts, "id">,
): void {
  const actualCharacters = charactersOf(prompt);
  if (actualCharacters <= PROMPT_CHARACTERS) return;
  const added = actualCharacters - charactersOf(given);
  throw new CapabilityFault(
    "PromptTooLong",
    `input.prompt has ${actualCharacters - added} characters; ${PROMPT_CHARACTERS - added} fit beside the text that is added to it. Shorten it: nothing is trimmed automatically.`,
    {
      field: "input.prompt",
      measurement: "characters",
      overflow: "reject",
      actualCharacters: actualCharacters - added,
      maxCharacters: PROMPT_CHARACTERS - added,
      capabilityKey,
      modelId: model.id,
      retryable: false,
    },
  );
}

/** Can this model draw that size? */
export function takesSize(model: ModelFacts, { width, height }: { width: number; height: number }): boolean {
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

const files = new WeakMap<InlineImage, NamedFile>();

/** A picture of a parsed input as a file, cached for pricing on many models. */
export function toImageFile(image: InlineImage): NamedFile {
  let file = files.get(image);
  if (!file) {
    const { dataBase64, filename, mimeType } = image;
    file = { bytes: Buffer.from(dataBase64, "base64"), mediaType: mimeType, filename };
    files.set(image, file);
  }
  return file;
}

/**
 * The returned pictures, at most `count`, with the media type of their bytes. A file that is not PNG, JPEG or WebP,
 * such as an HTML page, counts as failed; throws if none is left.
 */
export function drawnOf({ images }: ImageResult, count: number): ProviderFile[] {
  const sent = images.slice(0, count).filter(({ bytes }) => bytes.byteLength > 0);
  if (sent.length === 0)
    throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider's answer contains no image.");
  const drawn = sent.flatMap(({ bytes }) => {
    const head = readPictureHead(Buffer.from(bytes.subarray(0, PICTURE_HEAD_BYTES)).toString("base64"));
    return head ? [{ bytes, mediaType: head.mediaType }] : [];
  });
  if (drawn.length === 0)
    throw new CapabilityFault("PROVIDER_ERROR", "The provider's file is not a PNG, JPEG or WebP image.");
  return drawn;
}

/** The size must appear within this many bytes from the beginning of the file. */
const PICTURE_HEAD_BYTES = 1_050_000;

/** The size in a PNG header; null for another format. */
export function sizeOfPng(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 24 || view.getUint32(0) !== 0x89504e47) return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
