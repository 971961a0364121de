import { z } from "zod";
import { JsonObject } from "./common";

/** Inputs and outputs that several capabilities share. */

export const TextMessage = z.strictObject({
  role: z.enum(["system", "user", "assistant"]),
  content: z.string(),
});

/** What every text capability takes. */
export const TextInput = z
  .strictObject({
    messages: z.array(TextMessage).min(1).describe("The conversation so far, oldest message first."),
    maxOutputTokens: z.int().min(1).optional().describe("Most tokens the answer may have."),
    responseFormat: z.enum(["text", "json_object"]).optional(),
    responseSchema: JsonObject.optional().describe("A JSON Schema the answer must satisfy, given inline."),
  })
  .refine((input) => !(input.responseSchema && input.responseFormat === "text"), {
    path: ["responseFormat"],
    message: "responseFormat text cannot be combined with responseSchema",
  });
export type TextInput = z.output<typeof TextInput>;

export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON text, as the model wrote it."),
});

export const TextOutput = z.object({
  content: z.string(),
  role: z.literal("assistant"),
  toolCalls: z.array(ToolCall).optional(),
});
export type TextOutput = z.output<typeof TextOutput>;

/** The answer of capabilities that promise a JSON object. */
export const StructuredOutput = JsonObject;
export type StructuredOutput = z.output<typeof StructuredOutput>;

const MAX_INLINE_FILE_CHARACTERS = 14_000_000;

/** An image given inline. */
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

/** What an image model of this interface can draw: edges and areas in pixels. */
export const IMAGE_DIMENSIONS = {
  catalogueMinEdge: 256,
  maxEdge: 3840,
  maxAspectRatio: 3,
  maxPixels: 8_294_400,
  minPixels: 655_360,
  multipleOf: 16,
} as const;

/** Sizes are rounded up to what models take: 1200 x 630 becomes 1200 x 640. */
export const snapEdge = (edge: number) =>
  Math.ceil(edge / IMAGE_DIMENSIONS.multipleOf) * IMAGE_DIMENSIONS.multipleOf;

const Edge = z
  .int()
  .min(IMAGE_DIMENSIONS.catalogueMinEdge)
  .max(IMAGE_DIMENSIONS.maxEdge)
  .default(1024)
  .describe("Pixels; rounded up to a multiple of 16.");

/** Fields of the full image interface that this version does not serve; they are refused, never ignored. */
const NOT_SERVED = ["sheet", "adapters", "keyColor", "transparentRegions"];

export const ImageInput = z
  .strictObject(
    {
      // Published only: a longer prompt is PromptTooLong, by the capability's input constraints.
      prompt: z.string().min(1).meta({ description: "What to draw.", maxLength: 32_000 }),
      width: Edge,
      height: Edge,
      quality: z.enum(["low", "medium", "high", "auto", "standard"]).default("medium"),
      variantCount: z.int().min(1).max(4).default(1),
      requestTransparentOutput: z.boolean().default(false),
      transparencyMethod: z
        .enum(["native"])
        .optional()
        .describe("How transparency is made; by the model itself."),
      referenceImages: z.array(InlineImage).max(4).optional(),
      model: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .describe("`auto`, or the id of an execution target's model."),
    },
    {
      error: (issue) => {
        if (issue.code !== "unrecognized_keys") return undefined;
        const known = issue.keys.filter((key) => NOT_SERVED.includes(key));
        return known.length > 0 ? `not served by this version: ${known.join(", ")}` : undefined;
      },
    },
  )
  .superRefine((input, context) => {
    const width = snapEdge(input.width);
    const height = snapEdge(input.height);
    const { minPixels, maxPixels, maxAspectRatio } = IMAGE_DIMENSIONS;
    const refuse = (message: string) => context.addIssue({ code: "custom", path: ["width"], message });
    if (width * height < minPixels)
      refuse(`width x height must be at least ${minPixels} pixels, for example 816 x 816`);
    if (width * height > maxPixels) refuse(`width x height must be at most ${maxPixels} pixels`);
    if (Math.max(width, height) / Math.min(width, height) > maxAspectRatio) {
      refuse(`the longer edge may be at most ${maxAspectRatio} times the shorter one`);
    }
    if (input.transparencyMethod && !input.requestTransparentOutput) {
      context.addIssue({
        code: "custom",
        path: ["transparencyMethod"],
        message: "only together with requestTransparentOutput",
      });
    }
  });
export type ImageInput = z.output<typeof ImageInput>;

export const ImageOutput = z.object({
  images: z.array(
    z.object({
      variantIndex: z.int(),
      width: z.int(),
      height: z.int(),
      mediaType: z.string(),
      filename: z.string(),
    }),
  ),
});
export type ImageOutput = z.output<typeof ImageOutput>;
