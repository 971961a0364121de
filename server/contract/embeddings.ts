import { z } from "zod";

export const MOST_TEXTS = 2_048;
export const MOST_CHARACTERS = 100_000;

export const EmbedInput = z.strictObject({
  texts: z
    .array(
      z
        .string()
        .min(1)
        .meta({ description: "The maximum length depends on the model.", maxLength: MOST_CHARACTERS }),
    )
    .min(1)
    .max(MOST_TEXTS)
    .describe("Each becomes one vector."),
  dimensions: z
    .int()
    .min(1)
    .max(16_384)
    .optional()
    .describe(
      "The length of the vectors, for models that support shorter ones. Defaults to the model's own length.",
    ),
  encoding: z
    .enum(["float", "base64"])
    .default("float")
    .describe(
      "base64: 32-bit little-endian floats, a fifth of the size, and required above a million numbers.",
    ),
});
export type EmbedInput = z.output<typeof EmbedInput>;

export const EmbedOutput = z.object({
  vectors: z
    .array(z.union([z.array(z.number()), z.string()]))
    .describe("One vector for each text, in the same order."),
  dimensions: z.int(),
  encoding: z.enum(["float", "base64"]),
});
