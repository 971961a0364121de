import type { TextMessage, TextSettings, ToolCall, ToolChoice } from "@/server/providers/define";

/**
 * What a conversation has beside its words, as doors of other interfaces give it. No published input takes it: it travels
 * beside the input, with the request, and is part of its hash, its bounds and its content.
 */
export type Conversation = {
  /** Messages of `input.messages`, by their place, that call tools or are the result of a call. */
  turns?: Turn[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: false;
  settings?: TextSettings;
};
export type Turn = { at: number } & ({ toolCalls: ToolCall[] } | { toolCallId: string });

/** The messages with the calls and results that belong to them. */
export function withTurns(messages: TextMessage[], { turns = [] }: Conversation = {}): TextMessage[] {
  const found = new Map(turns.map((turn) => [turn.at, turn]));
  return messages.map((message, place): TextMessage => {
    const turn = found.get(place);
    if (!turn) return message;
    if ("toolCalls" in turn)
      return { role: "assistant", content: message.content, toolCalls: turn.toolCalls };
    if (typeof message.content !== "string") throw new Error("the result of a tool is text");
    return { role: "tool", content: message.content, toolCallId: turn.toolCallId };
  });
}
