import type { Json } from "@/server/platform/durable/step";

/* The text port: a conversation as the call, text or tool calls as the result. */

/** A part of a message: text, or a picture for models with `supports.vision`. */
export type ContentPart =
  | { type: "text"; text: string }
  | {
      type: "image";
      mediaType: string;
      bytes: Uint8Array;
      detail?: PictureDetail;
      /** Measured size in pixels. */
      width?: number;
      height?: number;
    };

/** Detail level at which a picture is read. A price bound always assumes `high`. */
export type PictureDetail = "low" | "high";

/** Lifetime of a part of the prompt in the vendor's cache. */
export type CacheTtl = "5m" | "1h";
/**
 * Marks where the cached part of the prompt ends: after a message, after one of its parts, or after `end` characters of
 * its text. Only models whose price includes cache writes receive marks (`writesCache`).
 */
export type PromptCacheMark = { part?: number; end?: number; ttl?: CacheTtl };
/** Members that only the server that made them understands, under that server's names. */
export type Opaque = Record<string, Json>;

/** A tool call; its arguments are JSON text as the model wrote it. */
export type ToolCall = { id: string; name: string; arguments: string; opaque?: Opaque | undefined };

export type TextMessage = {
  cache?: PromptCacheMark[];
} /** `name` is the message's author, for interfaces that have a field for it. */ & (
  | { role: "system" | "user"; content: string | ContentPart[]; name?: string }
  | ({ role: "assistant"; content: string | ContentPart[]; toolCalls?: ToolCall[] } & Brought)
  /** The result of the call with this id in an earlier assistant message. */
  | { role: "tool"; content: string; toolCallId: string }
);

/** Opaque members of an earlier answer. They reach only the server that made them. */
type Brought = {
  opaque?: Opaque;
  /** Id and index of the message, until its members are known to come from the server that is called. */
  id?: string;
  at?: number;
};

/** The text of a message without its tool calls: its parts joined by line breaks, with a picture as empty text. */
export function messageText({ content }: TextMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export type ReasoningIntent = "omit" | "economy" | "balanced" | "deep" | "maximum";
export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  /** `strict` tells the server to enforce the schema or not; absent leaves it to the server. */
  | { type: "json_schema"; name: string; strict?: boolean; schema: Record<string, Json> };

/** `none` forbids calls, `required` forces any tool, and a name forces that one. Absent lets the model decide. */
export type ToolChoice = "none" | "required" | { name: string };

/** Settings that only some models accept, as their facts declare. */
export type TextSettings = {
  topP?: number;
  /** The text ends before the first of these. */
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  /** Number of answers to one conversation; absent means one. */
  choices?: number;
  /** Request members that Capstan does not interpret, under the names the server accepts. */
  members?: Record<string, Json>;
};
/**
 * The name of a setting that a model may support. `members` is excluded, because each of its members is supported by
 * its own name.
 */
export type TextSetting = Exclude<keyof TextSettings, "members">;

/** Is a member of this name listed? A listed name can end in `*`; `*` alone matches any. */
export const isNameListed = (name: string, listed: readonly string[]): boolean =>
  listed.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : each === name));

/**
 * A call of the text port. Absent fields stay absent on the wire unless the vendor requires a value, as Anthropic does
 * for the output limit.
 */
export type TextCall = {
  messages: TextMessage[];
  maxOutputTokens?: number;
  responseFormat: ResponseFormat;
  temperature?: number;
  reasoningIntent?: ReasoningIntent;
  tools?: Record<string, Json>[];
  toolChoice?: ToolChoice;
  /** Allows at most one tool call. If a vendor has no setting for it, only the first call of an answer is used. */
  parallelToolCalls?: false;
  settings?: TextSettings;
  /** Tools, by their index in `tools`, up to which the prompt should be cached. */
  toolCache?: { at: number; ttl?: CacheTtl }[];
};
/** One answer. */
export type TextChoice = {
  text: string;
  finishReason: "stop" | "length" | "tool_calls" | "content_filter";
  /** The server's own finish reason if it is unknown; `finishReason` is `stop` then. */
  unknownFinish?: string;
  /** The text is the model's refusal to answer. */
  isRefusal?: true;
  toolCalls: ToolCall[];
  opaque?: Opaque;
  /** An id with the maker's tag, which we assign if there are opaque members. */
  id?: string;
};
export type TextResult = TextChoice & {
  /** The other answers, if several were requested. */
  others?: TextChoice[];
};

/** Output that arrived before an answer's end, as text. */
export type Delivered = {
  text: string;
  reasoning: string;
  /** Names and arguments of its tool calls. */
  calls: string;
};

/** Receives the text of a streamed answer in pieces. Either all pieces are text, or all are a refusal. */
export type OnText = (text: string, kind?: "refusal") => void;

/** For ports whose models write no text, such as embeddings. */
export const NOTHING_WRITTEN: Delivered = { text: "", reasoning: "", calls: "" };
