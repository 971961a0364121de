import { z } from "zod";
import { IMAGE_DIMENSIONS, ImageOutput, InlineImage } from "./images";
import { ownKeys } from "./own-keys";
import { headOf, type PictureHead } from "./pictures";

/* The input of image editing. Picture headers are checked here, before anything is planned with them. */

/** Larger pictures are refused: a small file can hold a picture that fills the memory. */
const MOST_PIXELS = 40_000_000;

/** A picture whose file matches its declared type, and which is small enough to process. */
export const CheckedImage = InlineImage.superRefine((image, context) => {
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const head = headOf(image);
  if (!head) refuse("dataBase64", "this is not a PNG, JPEG or WebP file");
  else if (head.mediaType !== image.mimeType) refuse("mimeType", `the file is ${head.mediaType}`);
  else if (head.width === 0 || head.height === 0) refuse("dataBase64", "the picture has no pixels");
  else if (head.width * head.height > MOST_PIXELS)
    refuse(
      "dataBase64",
      `the picture has ${head.width} x ${head.height} pixels; at most ${MOST_PIXELS} are allowed`,
    );
});

export const EDIT_EDGES = { min: 256, max: 2048 } as const;

/** Accepted spellings of a transparency method, and the method that each one uses. */
export const EDIT_TRANSPARENCY = {
  native: "native",
  provider: "native",
  matte: "matte-v9",
  "matte-v9": "matte-v9",
  chroma: "matte-v9",
} as const;
const METHODS = ownKeys(EDIT_TRANSPARENCY);

const Edge = z
  .int()
  .min(EDIT_EDGES.min)
  .max(EDIT_EDGES.max)
  .optional()
  .describe(
    `${EDIT_EDGES.min} to ${EDIT_EDGES.max} pixels, rounded up to a multiple of 16. Defaults to the closest size to the source that the model supports.`,
  );

export const ImageEditInput = z
  .strictObject({
    // The limit is only published here: a longer prompt fails with PromptTooLong, by the capability's input
    // constraints.
    prompt: z.string().min(1).meta({ description: "What to change.", maxLength: 32_000 }),
    sourceImage: CheckedImage.describe("The picture to change."),
    mask: CheckedImage.optional().describe(
      "The same size as the source, with an alpha channel: where it is fully transparent (alpha 0), the source can change.",
    ),
    referenceImages: z.array(CheckedImage).max(3).optional(),
    width: Edge,
    height: Edge,
    size: z
      .string()
      .regex(/^\d{3,4}x\d{3,4}$/, "WIDTHxHEIGHT, for example 1024x768")
      .optional()
      .describe("WIDTHxHEIGHT, instead of width and height."),
    quality: z.enum(["low", "medium", "high", "auto", "standard"]).default("medium"),
    variantCount: z.int().min(1).max(4).default(1),
    requestTransparentOutput: z.boolean().default(false),
    transparencyMethod: z
      .enum(METHODS)
      .optional()
      .describe(
        "`native` and `provider`: the model draws a transparent background. `matte`, `matte-v9` and `chroma`: it draws on flat #ff00ff, which is then removed. Defaults to what the model supports.",
      ),
  })
  .superRefine((input, context) => {
    for (const { path, message } of problemsOf(input)) context.addIssue({ code: "custom", path, message });
  });
export type ImageEditInput = z.output<typeof ImageEditInput>;

type Problem = { path: string[]; message: string };

/** Checks across several fields; each problem is reported at the field to change. */
function problemsOf(input: ImageEditInput): Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: string, message: string) => problems.push({ path: path.split("."), message });
  const { width, height, size, mask } = input;
  if (size !== undefined && (width !== undefined || height !== undefined)) {
    const [across, down] = edgesOf(size);
    if ((width ?? across) !== across || (height ?? down) !== down)
      refuse("size", "differs from width and height; send one of them");
  } else if (size === undefined && (width === undefined) !== (height === undefined)) {
    refuse(width === undefined ? "width" : "height", "send width and height together");
  }
  const asked = askedSize(input);
  if (size !== undefined && asked) {
    const { min, max } = EDIT_EDGES;
    if ([asked.width, asked.height].some((edge) => edge < min || edge > max))
      refuse("size", `an edge must have ${min} to ${max} pixels`);
  }
  if (asked && problems.length === 0) {
    const field = size === undefined ? "width" : "size";
    if (
      Math.max(asked.width, asked.height) / Math.min(asked.width, asked.height) >
      IMAGE_DIMENSIONS.maxAspectRatio
    )
      refuse(
        field,
        `the longer edge may be at most ${IMAGE_DIMENSIONS.maxAspectRatio} times the shorter one`,
      );
  }
  if (mask) {
    const [head, source] = [headOf(mask), headOf(input.sourceImage)];
    if (head && !head.hasAlpha) refuse("mask", "the mask has no alpha channel");
    else if (head && source && !isSameSize(head, source))
      refuse(
        "mask",
        `the mask has ${head.width} x ${head.height} pixels, the source ${source.width} x ${source.height}`,
      );
  }
  if (input.transparencyMethod !== undefined && !input.requestTransparentOutput)
    refuse("transparencyMethod", "allowed only with requestTransparentOutput");
  return problems;
}

const isSameSize = (one: PictureHead, other: PictureHead) =>
  one.width === other.width && one.height === other.height;

const edgesOf = (size: string) => size.split("x").map(Number) as [number, number]; // two numbers, by its pattern

/** The size that the request states; null if it states none. */
export function askedSize(
  input: Pick<ImageEditInput, "width" | "height" | "size">,
): { width: number; height: number } | null {
  const [width, height] = input.size === undefined ? [input.width, input.height] : edgesOf(input.size);
  return width === undefined || height === undefined ? null : { width, height };
}

export const ImageEditOutput = ImageOutput.omit({ sheet: true });
export type ImageEditOutput = z.output<typeof ImageEditOutput>;
