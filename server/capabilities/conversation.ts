import type {
  Opaque,
  PictureDetail,
  PromptCacheMark,
  TextMessage,
  TextSettings,
  ToolCall,
  ToolChoice,
} from "@/server/providers/define";

/**
 * Parts of a conversation beside its text, as the OpenAI-compatible endpoints pass them. They travel with the request
 * beside its input, and count for its hash, its bounds and its content.
 */
export type Conversation = {
  /** Messages of `input.messages`, by index, that call tools or hold the result of a call. */
  turns?: Turn[];
  /** Opaque members that assistant messages send back, apart from tool calls. */
  opaque?: { at: number; id?: string | undefined; members: Opaque }[];
  /** Names of message authors, and the detail level of pictures; only some interfaces can express them. */
  names?: { at: number; name: string }[];
  details?: { at: number; part: number; detail: PictureDetail }[];
  /** Messages with pictures, which replace the text of the same index in `input.messages`. */
  parts?: { at: number; content: Part[] }[];
  /** Marks up to which the caller wants the prompt cached, by message index. */
  cache?: ({ at: number } & PromptCacheMark)[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: false;
  settings?: TextSettings;
};
type Part = { type: "text"; text: string } | { type: "image"; mediaType: string; data: string };
type Turn = { at: number } & ({ toolCalls: ToolCall[] } | { toolCallId: string });

/** The messages of an input; those with pictures have their parts as content. */
export function withParts<M extends { content: string }>(
  messages: M[],
  { parts = [] }: Conversation = {},
): (Omit<M, "content"> & { content: string | Part[] })[] {
  const found = new Map(parts.map(({ at, content }) => [at, content]));
  return messages.map((message, place) => ({ ...message, content: found.get(place) ?? message.content }));
}

/**
 * Adds calls and results, names, picture details and cache marks to the messages. Throws if the result of a tool is not
 * text.
 */
export function withTurns(messages: TextMessage[], conversation: Conversation = {}): TextMessage[] {
  const { turns = [], opaque = [], names = [], details = [], cache = [] } = conversation;
  const broughtAt = new Map(opaque.map((each) => [each.at, each]));
  const found = new Map(turns.map((turn) => [turn.at, turn]));
  const nameAt = new Map(names.map(({ at, name }) => [at, name]));
  const turned = (given: TextMessage, place: number): TextMessage => {
    const turn = found.get(place);
    const message = detailed(
      given,
      details.filter(({ at }) => at === place),
    );
    const name = nameAt.get(place);
    if (!turn && name !== undefined && (message.role === "system" || message.role === "user"))
      return { ...message, name };
    const brought = broughtAt.get(place);
    const toolCalls = turn && "toolCalls" in turn ? turn.toolCalls : undefined;
    if (brought || toolCalls)
      return {
        role: "assistant",
        content: message.content,
        at: place,
        ...(brought ? { opaque: brought.members } : {}),
        ...(brought?.id === undefined ? {} : { id: brought.id }),
        ...(toolCalls ? { toolCalls } : {}),
      };
    if (!turn || !("toolCallId" in turn)) return message;
    if (typeof message.content !== "string") throw new Error("the result of a tool is text");
    return { role: "tool", content: message.content, toolCallId: turn.toolCallId };
  };
  // Marks are grouped by their message first, so that the time stays linear: a request to a server that receives no marks can
  // have any number of marks.
  const marksAt = new Map<number, PromptCacheMark[]>();
  for (const { at, ...mark } of cache) {
    const marks = marksAt.get(at);
    if (marks) marks.push(mark);
    else marksAt.set(at, [mark]);
  }
  return messages.map((given, place) => {
    const marks = marksAt.get(place);
    const message = turned(given, place);
    return marks ? { ...message, cache: marks } : message;
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
