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
    maxOutputTokens: z
      .int()
      .min(1)
      .optional()
      .describe(
        "The maximum number of tokens in the answer. If a model's own limit is lower, that limit applies.",
      ),
    responseFormat: z.enum(["text", "json_object"]).optional(),
    responseSchema: JsonObject.optional().describe("A JSON Schema that the answer must match, given inline."),
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
  refusal: z
    .string()
    .optional()
    .describe("The model refused to answer, in these words; `content` has them as well."),
});
export type TextOutput = z.output<typeof TextOutput>;

/** The answer of capabilities that promise a JSON object. */
export const StructuredOutput = JsonObject;
export type StructuredOutput = z.output<typeof StructuredOutput>;
