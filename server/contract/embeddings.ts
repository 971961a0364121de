import { z } from "zod";

/* The input and output of text embedding. */

export const MOST_TEXTS = 2_048;
export const MOST_CHARACTERS = 100_000;

export const EmbedInput = z.strictObject({
  texts: z
    .array(
      z
        .string()
        .min(1)
        .meta({ description: "How much fits is a matter of the model.", maxLength: MOST_CHARACTERS }),
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
      "How long the vectors are to be, of models that make shorter ones; left out: the model's own length.",
    ),
  encoding: z
    .enum(["float", "base64"])
    .default("float")
    .describe(
      "base64: 32-bit floats, the least byte first; a fifth of the size, and needed above a million numbers.",
    ),
});
export type EmbedInput = z.output<typeof EmbedInput>;

export const EmbedOutput = z.object({
  vectors: z.array(z.union([z.array(z.number()), z.string()])).describe("In the order of the texts."),
  dimensions: z.int(),
  encoding: z.enum(["float", "base64"]),
});
