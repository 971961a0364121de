import { z } from "zod";
import { JsonObject } from "./common";
import { flawOfTurns } from "./tool-turns";

/** Answer members that only the answering server understands, under that server's names. */
const Opaque = JsonObject.describe("For the model that made it: send it back as it came.");

/** A tool call, in an answer and in a conversation that returns the answer. */
const called = {
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON text, as the model wrote it."),
  opaque: Opaque.optional(),
};
export const ToolCall = z.object(called);

const CalledTool = z.strictObject({ ...called, id: z.string().min(1), name: z.string().min(1) });

export const TextMessage = z.strictObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string(),
  id: z.string().min(1).optional().describe("Of an answer that is sent back."),
  opaque: Opaque.optional(),
  toolCalls: z.array(CalledTool).min(1).optional().describe("Of an answer that is sent back."),
  toolCallId: z.string().min(1).optional().describe("Of the role `tool`: the call that it answers."),
  refusal: z.string().optional().describe("Of an answer that is sent back."),
});
type TextMessage = z.output<typeof TextMessage>;

const OF_ANSWERS = ["id", "opaque", "toolCalls", "refusal"] as const;

/** Finds the first field or turn that a message's role or the order of messages forbids; null if there is none. */
function flawOf(messages: TextMessage[]): { path: (string | number)[]; message: string } | null {
  for (const [at, message] of messages.entries()) {
    const { role, toolCallId } = message;
    const alien = role === "assistant" ? undefined : OF_ANSWERS.find((name) => message[name] !== undefined);
    if (alien) return { path: [at, alien], message: "Only messages of the assistant can have this." };
    if ((role === "tool") !== (toolCallId !== undefined)) {
      const message = role === "tool" ? "Field required" : "Only messages of the role tool can have this.";
      return { path: [at, "toolCallId"], message };
    }
  }
  const flaw = flawOfTurns(messages);
  return flaw && { path: [flaw.at], message: flaw.msg };
}

/** Input that all text capabilities share. */
export const TextInput = z
  .strictObject({
    messages: z
      .array(TextMessage)
      .min(1)
      .superRefine((messages, ctx) => {
        const flaw = flawOf(messages);
        if (flaw) ctx.addIssue({ code: "custom", ...flaw });
      })
      .describe("The conversation so far, oldest message first."),
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

export const TextOutput = z.object({
  content: z.string(),
  role: z.literal("assistant"),
  id: z.string().optional().describe("Of an answer with `opaque`."),
  opaque: Opaque.optional(),
  toolCalls: z.array(ToolCall).optional(),
  refusal: z
    .string()
    .optional()
    .describe("The model refused to answer, in these words; `content` has them as well."),
});
export type TextOutput = z.output<typeof TextOutput>;

/** The answer of capabilities that guarantee a JSON object. */
export const StructuredOutput = JsonObject;
export type StructuredOutput = z.output<typeof StructuredOutput>;
