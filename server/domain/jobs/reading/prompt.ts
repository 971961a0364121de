import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";

/** Clients read the executed prompt at one place: of a conversation it is the last thing the user said. */
export function withPrompt(input: Record<string, Json>): Record<string, Json> {
  if (input.prompt !== undefined || !Array.isArray(input.messages)) return input;
  const said = input.messages.findLast((message) => isObject(message) && message.role === "user");
  return isObject(said) && typeof said.content === "string" ? { ...input, prompt: said.content } : input;
}
