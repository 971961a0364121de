import { z } from "zod";

const JsonObject = z.record(z.string(), z.json());

const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), mediaType: z.string(), base64: z.string().min(1) }),
]);

export const TextRequest = z.object({
  model: z.string(),
  messages: z
    .array(
      z.object({
        role: z.enum(["system", "user", "assistant", "tool"]),
        content: z.union([z.string(), z.array(Part).min(1)]),
        /** The tools that the assistant called. */
        toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).optional(),
        /** The call that a tool message answers. */
        toolCallId: z.string().optional(),
      }),
    )
    .min(1),
  maxOutputTokens: z.int().min(1).optional(),
  responseFormat: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("text") }),
      z.object({ type: z.literal("json_object") }),
      z.object({
        type: z.literal("json_schema"),
        name: z.string(),
        schema: JsonObject,
        strict: z.boolean().optional(),
      }),
    ])
    .default({ type: "text" }),
  /** These change nothing: the only randomness of the sandbox is `seed`. */
  temperature: z.number().optional(),
  topP: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  presencePenalty: z.number().optional(),
  /** A different seed gives a different answer. */
  seed: z.int().optional(),
  /** The text ends before the first of these. */
  stop: z.array(z.string().min(1)).optional(),
  /** Number of answers, each as if with another seed; their tokens are counted together. */
  choices: z.int().min(1).max(128).optional(),
  reasoningIntent: z.enum(["omit", "economy", "balanced", "deep", "maximum"]).optional(),
  tools: z.array(JsonObject).optional(),
  /**
   * `none`, `required`, or the tool to call, in either usual spelling; otherwise the sandbox decides. The sandbox calls the tools
   * that the question names, step by step with `then` between, or else the first one, and then answers in words.
   */
  toolChoice: z.union([z.string(), JsonObject]).optional(),
  /** False for one tool at a time. */
  parallelToolCalls: z.boolean().optional(),
  /** `flex` costs half the price; the sandbox answers as quickly as on `standard`. */
  tier: z.enum(["standard", "flex"]).optional(),
  /** True to send the answer piece by piece, as server-sent events. */
  stream: z.boolean().optional(),
});
export type TextRequest = z.output<typeof TextRequest>;

const File = z.object({ mediaType: z.string(), base64: z.string() });
export type File = z.output<typeof File>;

export const ImageRequest = z.object({
  model: z.string(),
  prompt: z.string().min(1),
  width: z.int().min(16).max(3840),
  height: z.int().min(16).max(3840),
  quality: z.enum(["low", "medium", "high", "auto", "standard"]),
  count: z.int().min(1).max(4),
  transparent: z.boolean(),
  background: z
    .string()
    .regex(/^#[0-9a-f]{6}$/)
    .optional(),
  sheet: z.object({ rows: z.int().min(1).max(8), columns: z.int().min(1).max(8) }).optional(),
  referenceImages: z.array(File).max(4),
  /** The picture to change: in the mask's transparent area, or everywhere without a mask. */
  source: File.optional(),
  mask: File.optional(),
  /** Weights by their address, or by a word for weights that the vendor stores. */
  adapters: z
    .array(z.object({ url: z.string(), weight: z.number() }))
    .max(4)
    .optional(),
});
export type ImageRequest = z.output<typeof ImageRequest>;

const Picture = z.object({ mediaType: z.string(), base64: z.string().min(1) });
export const MeshRequest = z.object({
  model: z.string(),
  images: z.array(Picture).min(1).max(4),
  profile: z.enum(["draft_fast", "toy_default", "clean_game_mesh", "hero_hd", "enhanced_retry"]),
  texture: z
    .object({ prompt: z.string().optional(), mode: z.string().optional(), image: Picture.optional() })
    .nullable(),
});
export type MeshRequest = z.output<typeof MeshRequest>;

export const VideoRequest = z.object({
  model: z.string(),
  prompt: z.string().min(1),
  aspectRatio: z.enum(["16:9", "9:16"]),
  durationSeconds: z.int().min(1).max(8),
  referenceImages: z.array(File).max(4),
});
export type VideoRequest = z.output<typeof VideoRequest>;
