import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";

/**
 * Clients read the executed prompt in one place. In a conversation, the prompt is the user's last message.
 */
export function withPrompt(input: Record<string, Json>): Record<string, Json> {
  if (input.prompt !== undefined || !Array.isArray(input.messages)) return input;
  const said = input.messages.findLast((message) => isObject(message) && message.role === "user");
  return isObject(said) && typeof said.content === "string" ? { ...input, prompt: said.content } : input;
}
