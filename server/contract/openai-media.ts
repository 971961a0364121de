import { z } from "zod";
import { harmless, ModelName, only } from "./openai";

/* Requests and answers of embeddings, images and speech. The notes on fields in ./openai apply here too. */

const { user } = harmless;

const NO_TOKENS =
  "A text or a list of texts. Arrays of tokens are not supported, since tokens depend on the model (in LangChain for Python, set check_embedding_ctx_length=False).";

const holdsTokens = (input: unknown[]) =>
  input.some((each) => typeof each === "number" || (Array.isArray(each) && typeof each[0] === "number"));

export const EmbeddingsRequest = z
  .strictObject({
    model: ModelName,
    input: z
      .unknown()
      .meta({
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "array", items: { type: "string", minLength: 1 }, minItems: 1, maxItems: 2_048 },
        ],
      })
      .refine((input) => !Array.isArray(input) || !holdsTokens(input), { error: NO_TOKENS, abort: true })
      .pipe(z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2_048)])),
    dimensions: z.int().min(1).nullish(),
    encoding_format: z.enum(["float", "base64"]).nullish(),
    user,
  })
  .meta({ id: "EmbeddingsRequest" });
export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>;

export const EmbeddingList = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string().describe("The provider and model that answered."),
    usage: z
      .object({ prompt_tokens: z.int(), total_tokens: z.int() })
      .optional()
      .describe("As counted by the provider. Absent if it did not count."),
  })
  .meta({ id: "EmbeddingList" });
export type EmbeddingList = z.output<typeof EmbeddingList>;

/** Every value of a form is text. */
const whole = z.coerce.number<number | string>().int();

/** Fields that image generation and editing share. */
const drawing = {
  prompt: z.string().min(1),
  n: whole.min(1).max(4).nullish().describe("At most 4."),
  size: z
    .union([z.literal("auto"), z.string().regex(/^\d{3,4}x\d{3,4}$/)], {
      error: "auto, or WIDTHxHEIGHT, for example 1024x1024.",
    })
    .nullish(),
  quality: z.enum(["auto", "low", "medium", "high", "standard", "hd"]).nullish(),
  background: z.enum(["auto", "opaque", "transparent"]).nullish(),
  output_format: only("png"),
  output_compression: z.literal([100, "100"], { error: "Only 100 is supported." }).nullish(),
  response_format: z
    .enum(["b64_json", "url"])
    .nullish()
    .describe("Defaults to b64_json. With url, the picture is in the URL itself, as a data: URL."),
  stream: z.literal([false, "false"], { error: "Only false is supported." }).nullish(),
  partial_images: z.literal([0, "0"], { error: "Only 0 is supported." }).nullish(),
  user,
};

export const ImagesRequest = z
  .strictObject({
    ...drawing,
    model: ModelName.nullish().describe("Defaults to `image.generate.v1`."),
    moderation: only("auto"),
    style: z.null({ error: "Not supported. Describe the style in the prompt." }).optional(),
  })
  .meta({ id: "ImagesRequest" });
export type ImagesRequest = z.output<typeof ImagesRequest>;

/**
 * Form fields beside the files. The files are `image`, or up to four `image[]` of which the first is changed, and
 * `mask`.
 */
export const ImagesEditFields = z.strictObject({
  ...drawing,
  model: ModelName.nullish().describe("Defaults to `image.edit.v1`."),
  input_fidelity: z.null({ error: "Not supported by any model." }).optional(),
});
export type ImagesEditFields = z.output<typeof ImagesEditFields>;

const FormFile = z.string().meta({ format: "binary" });
/**
 * Used for the OpenAPI document only: each value has one type and none is null, because client generators cannot put a
 * union into a form.
 */
export const ImagesEditForm = ImagesEditFields.omit({ input_fidelity: true })
  .extend({
    output_compression: z.literal(100).nullish(),
    stream: z.literal(false).nullish(),
    partial_images: z.literal(0).nullish(),
    image: FormFile.describe("The picture to change: PNG, JPEG or WebP."),
    "image[]": z
      .array(FormFile)
      .optional()
      .describe("Instead of `image`: the first is changed, and the others are references."),
    mask: FormFile.optional().describe(
      "The same size as the picture. Where it is transparent, the picture can change.",
    ),
  })
  .meta({ id: "ImagesEditForm" });

export const ImagesResponse = z
  .object({
    created: z.int(),
    data: z.array(z.object({ b64_json: z.string().optional(), url: z.string().optional() })),
    background: z.enum(["transparent", "opaque"]),
    output_format: z.string(),
    size: z.string().optional(),
  })
  .meta({ id: "ImagesResponse" });
export type ImagesResponse = z.output<typeof ImagesResponse>;

const FORMATS = ["mp3", "opus"] as const;
export const SpeechRequest = z
  .strictObject({
    model: ModelName,
    input: z.string().min(1),
    voice: z
      .union([z.string().min(1), z.strictObject({ id: z.string().min(1) }).transform(({ id }) => id)])
      .describe("A voice of the provider."),
    response_format: z.enum(FORMATS, { error: "Only mp3 and opus are supported." }).nullish(),
    speed: z.number().min(0.25).max(4).nullish(),
    instructions: z.literal("", { error: "Instructions are not supported by any model." }).nullish(),
    stream_format: only("audio"),
  })
  .meta({ id: "SpeechRequest" });
export type SpeechRequest = z.output<typeof SpeechRequest>;
