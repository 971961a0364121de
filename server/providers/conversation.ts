import type { Json } from "@/server/step";

/* The text port: a conversation goes in, an answer in words or calls of tools comes out. */

/** Part of a message: words, or a picture for models that say `supports.vision`. */
export type ContentPart =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; bytes: Uint8Array };

/** A tool that a model calls; its arguments are JSON text, as the model wrote it. */
export type ToolCall = { id: string; name: string; arguments: string };

export type TextMessage =
  | { role: "system" | "user"; content: string | ContentPart[] }
  | { role: "assistant"; content: string | ContentPart[]; toolCalls?: ToolCall[] }
  /** The result of the call of this id, which a message of the assistant before it has. */
  | { role: "tool"; content: string; toolCallId: string };

/** The words of a message, without its pictures and without the tools it calls. */
export function textOf({ content }: TextMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export type ReasoningIntent = "omit" | "economy" | "balanced" | "deep" | "maximum";
export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | { type: "json_schema"; name: string; schema: Record<string, Json> };

/** Whether tools are called: absent is as the model likes. `required`: some; a name: that one. */
export type ToolChoice = "none" | "required" | { name: string };

/** The text port. Absent fields stay absent on the wire: no defaults are added. */
export type TextCall = {
  messages: TextMessage[];
  maxOutputTokens?: number;
  responseFormat: ResponseFormat;
  temperature?: number;
  reasoningIntent?: ReasoningIntent;
  tools?: Record<string, Json>[];
  toolChoice?: ToolChoice;
  /** false: at most one tool at a time. Where a vendor has no word for it, only the first call of an answer is used. */
  parallelToolCalls?: false;
};
export type TextResult = {
  text: string;
  finishReason: "stop" | "length" | "tool_calls" | "content_filter" | "other";
  toolCalls: ToolCall[];
};
