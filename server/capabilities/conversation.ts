import type {
  PictureDetail,
  TextMessage,
  TextSettings,
  ToolCall,
  ToolChoice,
} from "@/server/providers/define";

/**
 * What a conversation has beside its words, as doors of other interfaces give it. No published input takes it: it travels
 * beside the input, with the request, and is part of its hash, its bounds and its content.
 */
export type Conversation = {
  /** Messages of `input.messages`, by their place, that call tools or are the result of a call. */
  turns?: Turn[];
  /** Names of those who wrote messages, and how closely pictures are looked at; only some interfaces have words for them. */
  names?: { at: number; name: string }[];
  details?: { at: number; part: number; detail: PictureDetail }[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: false;
  settings?: TextSettings;
};
export type Turn = { at: number } & ({ toolCalls: ToolCall[] } | { toolCallId: string });

/** The messages with what belongs to them: calls and results, names, and details of pictures. */
export function withTurns(messages: TextMessage[], conversation: Conversation = {}): TextMessage[] {
  const { turns = [], names = [], details = [] } = conversation;
  const found = new Map(turns.map((turn) => [turn.at, turn]));
  const nameAt = new Map(names.map(({ at, name }) => [at, name]));
  return messages.map((given, place): TextMessage => {
    const turn = found.get(place);
    const message = detailed(
      given,
      details.filter(({ at }) => at === place),
    );
    const name = nameAt.get(place);
    if (!turn && name !== undefined && (message.role === "system" || message.role === "user"))
      return { ...message, name };
    if (!turn) return message;
    if ("toolCalls" in turn)
      return { role: "assistant", content: message.content, toolCalls: turn.toolCalls };
    if (typeof message.content !== "string") throw new Error("the result of a tool is text");
    return { role: "tool", content: message.content, toolCallId: turn.toolCallId };
  });
}

function detailed(message: TextMessage, details: NonNullable<Conversation["details"]>): TextMessage {
  if (details.length === 0 || message.role === "tool" || typeof message.content === "string") return message;
  const detailOf = new Map(details.map(({ part, detail }) => [part, detail]));
  const content = message.content.map((part, place) => {
    const detail = detailOf.get(place);
    return part.type === "image" && detail ? { ...part, detail } : part;
  });
  return { ...message, content };
}
