import type { Json } from "@/server/platform/durable/step";

/* The text port: a conversation goes in, an answer in words or calls of tools comes out. */

/** Part of a message: words, or a picture for models that say `supports.vision`. */
export type ContentPart =
  | { type: "text"; text: string }
  | {
      type: "image";
      mediaType: string;
      bytes: Uint8Array;
      detail?: PictureDetail;
      /** Its size in pixels, as it was measured. */
      width?: number;
      height?: number;
    };

/** How closely a picture is looked at. A price bound always assumes `high`. */
export type PictureDetail = "low" | "high";

/** How long a part of the prompt stays in the vendor's cache. */
export type CacheTtl = "5m" | "1h";
/**
 * The caller wants the prompt cached up to here: the end of a message, of one of its parts, or of its text up to `end`
 * characters. Only models whose price states cache writes are sent such marks (`writesCache`).
 */
export type CacheMark = { part?: number; end?: number; ttl?: CacheTtl };
/** Members that only the server that made them knows what to do with, by that server's names. */
export type Opaque = Record<string, Json>;

/** A tool that a model calls; its arguments are JSON text, as the model wrote it. */
export type ToolCall = { id: string; name: string; arguments: string; opaque?: Opaque | undefined };

export type TextMessage = {
  cache?: CacheMark[];
} /** `name`: who wrote the message, for interfaces that have a member for it. */ & (
  | { role: "system" | "user"; content: string | ContentPart[]; name?: string }
  | ({ role: "assistant"; content: string | ContentPart[]; toolCalls?: ToolCall[] } & Brought)
  /** The result of the call of this id, which a message of the assistant before it has. */
  | { role: "tool"; content: string; toolCallId: string }
);

/** Opaque members of an earlier answer. They reach only the server that made them. */
export type Brought = {
  opaque?: Opaque;
  /** The message's id, and its place in the request: until its members are known to be the server's own. */
  id?: string;
  at?: number;
};

/** The words of a message, without its pictures and without the tools it calls. */
export function textOf({ content }: TextMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export type ReasoningIntent = "omit" | "economy" | "balanced" | "deep" | "maximum";
export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  /** `strict`: the server holds its model to the schema, or does not have to; absent: as it likes. */
  | { type: "json_schema"; name: string; strict?: boolean; schema: Record<string, Json> };

/** Whether tools are called: absent is as the model likes. `required`: some; a name: that one. */
export type ToolChoice = "none" | "required" | { name: string };

/** Settings that not every model takes: which, its facts say. */
export type TextSettings = {
  topP?: number;
  /** The text ends before the first of these. */
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  /** How many answers are made of one conversation; absent: one. */
  choices?: number;
  /** Members of a request that mean nothing here, for a server that takes them by these names. */
  members?: Record<string, Json>;
};
/** Of the settings, those a model takes as such; members it takes by their names. */
export type TextSetting = Exclude<keyof TextSettings, "members">;

/** Is a member of this name among those listed? A name may end in `*`; alone it is any. */
export const isListed = (name: string, listed: readonly string[]): boolean =>
  listed.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : each === name));

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
  settings?: TextSettings;
  /** Tools, by their place in `tools`, up to which the prompt is to be cached. */
  toolCache?: { at: number; ttl?: CacheTtl }[];
};
/** One answer. */
export type TextChoice = {
  text: string;
  finishReason: "stop" | "length" | "tool_calls" | "content_filter";
  /** The server's own word for its end, where it is none of those known; the reason is `stop` then. */
  unknownFinish?: string;
  /** The text is the model's refusal to answer. */
  isRefusal?: true;
  toolCalls: ToolCall[];
  opaque?: Opaque;
  /** Given by us where there are opaque members, with the tag of their maker. */
  id?: string;
};
export type TextResult = TextChoice & {
  /** Where several were asked for: the others. */
  others?: TextChoice[];
};

/** What of an answer came before its end: what the model wrote, as text. */
export type Delivered = {
  text: string;
  reasoning: string;
  /** Names and arguments of the tools it called. */
  calls: string;
};

/** Takes the text of a streamed answer, piece by piece. All pieces are text, or all are those of a refusal. */
export type OnText = (text: string, kind?: "refusal") => void;

/** What is delivered where the model writes nothing, as with vectors. */
export const NOTHING_WRITTEN: Delivered = { text: "", reasoning: "", calls: "" };
