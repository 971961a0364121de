import type { ModelFacts, TextCall } from "@/server/providers/define";

/** Tokens of text, as an upper bound: no tokenizer in use makes more tokens than the text has UTF-8 bytes. */
export function tokensAtMost(model: ModelFacts, text: string): number {
  const bytes = Buffer.byteLength(text);
  return model.tokenBytes ? Math.ceil(bytes / model.tokenBytes) : bytes;
}

/** Tokens of a whole call, as an upper bound: its texts, and 16 for the frame of each message and of the call. */
export function inputTokensAtMost(model: ModelFacts, call: TextCall): number {
  const format = call.responseFormat.type === "json_schema" ? JSON.stringify(call.responseFormat.schema) : "";
  const tools = call.tools ? JSON.stringify(call.tools) : "";
  const texts = call.messages.reduce((sum, message) => sum + tokensAtMost(model, message.content) + 16, 16);
  return texts + tokensAtMost(model, format + tools);
}
