import type { z } from "zod";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { CacheMark, Effort, NamedSchema, shared } from "@/server/contract/openai";
import type { Door } from "@/server/domain/jobs";
import type { ReturnedMembers } from "@/server/domain/quotes";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { textHeader } from "../header-lines";
import type { Incoming } from "../transport";
import type { ModelRequest } from "./models/model";
import { type ConversationSettings, spellingOf } from "./settings";
import { type Calls, offerOf, type Tools } from "./tools";

/*
 * A request to chat completions or Responses, in the form common to both, and its conversion to the envelope of an
 * invoke.
 */

type Detail = "auto" | "low" | "high" | null | undefined;
type Part = ({ type: "text"; text: string } | { type: "image"; url: string; detail?: Detail }) & {
  cache_control?: CacheMark;
};
export type RequestMessage = {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content: string | Part[];
  /** The author's name. */
  name?: string | null | undefined;
  /**
   * Marks the message for caching. If the message's parts became lines, `cacheEnds` has the end of each marked text instead.
   */
  cache?: CacheMark;
  cacheEnds?: CacheEnd[];
  toolCalls?: Calls;
  /** For the role `assistant`: the opaque members that its server needs back. */
  brought?: ReturnedMembers | undefined;
  /** For the role `tool`: the call it answers. */
  toolCallId?: string;
};
type Format =
  | { type: "text" }
  | { type: "json_object" }
  | { type: "json_schema"; named: z.output<z.ZodObject<typeof NamedSchema>> };

/** The fields of a request that an error may name, as the sender spells them. */
export type Spelling = {
  /** The field of the message at this position of the conversation. */
  message(place: number): string;
  maxOutputTokens: string;
  effort: string;
  format: string;
  schema: string;
};

export type ConversationRequest = {
  model: string;
  messages: RequestMessage[];
  maxOutputTokens: number | null | undefined;
  effort: Effort | null | undefined;
  format: Format | null | undefined;
  tools: Tools;
  settings: ConversationSettings;
  common: Pick<z.output<z.ZodObject<typeof shared>>, "temperature" | "stream" | "metadata">;
  spelling: Spelling;
};

const INTENTS = {
  none: "omit",
  minimal: "economy",
  low: "economy",
  medium: "balanced",
  high: "deep",
  xhigh: "maximum",
} as const satisfies Record<Effort, string>;

/** The capability, the body of its invoke, and the parts of the request that the body has no field for. */
export function toInvoke(
  ask: ConversationRequest,
  { capability, named }: ModelRequest,
  incoming: Incoming,
): { capabilityKey: string; envelope: RawEnvelope; door: Door } {
  const { common, format, tools, settings, effort, maxOutputTokens, spelling } = ask;
  const takesPictures = capability.features.visionInput === true;
  const parts = takesPictures ? [] : ask.messages.flatMap((message, at) => partsOf(message, at, spelling));
  const { offered, conversation: ofTools } = offerOf(tools, ask.messages, spelling.message);
  const marks = ask.messages.flatMap((message, at) =>
    marksIn(message, at, { inParts: takesPictures || hasPictures(message), field: spelling.message(at) }),
  );
  const beside = {
    ...ofTools,
    ...besideWords(ask.messages),
    ...(parts.length > 0 ? { parts } : {}),
    ...(marks.length > 0 ? { cache: marks } : {}),
    ...(settings ? { settings } : {}),
  };
  const conversation = Object.keys(beside).length > 0 ? beside : undefined;
  const schema = format?.type === "json_schema" ? format.named : null;
  const envelope = {
    input: {
      messages: ask.messages.map((message, place) =>
        toMessage(message, spelling.message(place), takesPictures),
      ),
      ...(maxOutputTokens ? { maxOutputTokens } : {}),
      ...(format?.type === "json_object" ? { responseFormat: "json_object" } : {}),
    },
    ...(schema ? { responseSchema: described(schema), ...toldOf(schema) } : {}),
    ...(offered ? { toolSchemas: offered } : {}),
    sampling: {
      ...(typeof common.temperature === "number" ? { temperature: common.temperature } : {}),
      ...(effort ? { reasoningIntent: INTENTS[effort] } : {}),
    },
    ...(named === null ? {} : { execution: { executionConstraints: named } }),
    ...(common.metadata ? { metadata: common.metadata } : {}),
    ...(common.stream ? { executionMode: "Stream" } : {}),
    context: { projectId: requestedProject(incoming) ?? null },
  };
  return {
    capabilityKey: capability.key,
    envelope: envelope as RawEnvelope, // parsed JSON, in another order
    door: {
      conversation,
      newMembers: [
        ...["responseSchemaName", "responseSchemaStrict"],
        ...(marks.every(({ at }) => PASSED_OVER.has(ask.messages[at]?.role)) ? ["conversation.cache"] : []),
      ],
    },
  };
}

/** Members of messages in addition to their text, for interfaces that support them. */
function besideWords(
  messages: RequestMessage[],
): Pick<NonNullable<Door["conversation"]>, "opaque" | "names" | "details"> {
  const opaque = messages.flatMap(({ brought }, at) => (brought ? [{ at, ...brought }] : []));
  const names = messages.flatMap(({ name }, at) => (name ? [{ at, name }] : []));
  const details = messages.flatMap(({ content }, at) =>
    typeof content === "string"
      ? []
      : content.flatMap((each, part) =>
          each.type === "image" && (each.detail === "low" || each.detail === "high")
            ? [{ at, part, detail: each.detail }]
            : [],
        ),
  );
  return {
    ...(opaque.length > 0 ? { opaque } : {}),
    ...(names.length > 0 ? { names } : {}),
    ...(details.length > 0 ? { details } : {}),
  };
}

/** Roles on whose messages 0.2.0 ignored cache marks; it refused marks on all others. */
const PASSED_OVER = new Set<RequestMessage["role"] | undefined>(["assistant", "tool"]);

type Marks = NonNullable<NonNullable<Door["conversation"]>["cache"]>;
type CacheEnd = Pick<Marks[number], "end" | "ttl">;
const ttlOf = ({ ttl }: NonNullable<CacheMark>) => (ttl ? { ttl } : {});

/** Joins texts as lines, and returns the end positions of the texts that are marked for caching. */
export function joinedLines(parts: readonly { text: string; cache_control?: CacheMark }[]): {
  content: string;
  cacheEnds: CacheEnd[];
} {
  let end = -1;
  const cacheEnds = parts.flatMap(({ text, cache_control: mark }) => {
    end += text.length + 1;
    return mark ? [{ end, ...ttlOf(mark) }] : [];
  });
  return { content: parts.map(({ text }) => text).join("\n"), cacheEnds };
}

/** A message's marks for the vendor's cache. A mark on empty content is refused, because vendors cannot represent it. */
function marksIn(
  { content, cache, cacheEnds = [], toolCalls }: RequestMessage,
  at: number,
  { inParts, field }: { inParts: boolean; field: string },
): Marks {
  const NOTHING = "cache_control needs a text that is not empty.";
  if (cache && content === "" && !toolCalls?.length) refuse(field, NOTHING);
  if (cacheEnds.some(({ end }) => end === 0)) refuse(field, NOTHING);
  const ofMessage = cache ? [{ at, ...ttlOf(cache) }] : [];
  if (typeof content === "string") return [...cacheEnds.map((each) => ({ at, ...each })), ...ofMessage];
  const empty = content.findIndex((part) => part.cache_control && part.type === "text" && part.text === "");
  if (empty >= 0) refuse(`${field}.content[${empty}]`, NOTHING);
  if (inParts)
    return [
      ...content.flatMap(({ cache_control: mark }, part) => (mark ? [{ at, part, ...ttlOf(mark) }] : [])),
      ...ofMessage,
    ];
  const texts = content.map((part) => (part.type === "text" ? part : { text: "" }));
  return [...joinedLines(texts).cacheEnds.map((each) => ({ at, ...each })), ...ofMessage];
}

/** The project that a key of a whole organization names in the header that OpenAI's clients send for `project`. */
export const requestedProject = (incoming: Incoming): string | undefined =>
  textHeader(incoming, "OpenAI-Project") || undefined;

const described = ({
  schema,
  description,
}: {
  schema: Record<string, unknown>;
  description?: string | null | undefined;
}) => (description && schema.description === undefined ? { ...schema, description } : schema);

/**
 * The schema's name and strictness as providers get them. OpenAI allows only these characters in a name, so others become
 * `_`.
 */
const toldOf = ({ name, strict }: { name: string; strict?: boolean | null | undefined }) => ({
  responseSchemaName: name.replaceAll(/[^A-Za-z0-9_-]/g, "_"),
  ...(typeof strict === "boolean" ? { responseSchemaStrict: strict } : {}),
});

const hasPictures = ({ content }: RequestMessage): boolean =>
  typeof content !== "string" && content.some(({ type }) => type === "image");

/**
 * A message with pictures as parts, for capabilities whose input has only text: the parts are passed in addition to the text.
 */
function partsOf(message: RequestMessage, at: number, { message: spell }: Spelling) {
  if (!hasPictures(message)) return [];
  const { content } = toMessage(message, spell(at), true);
  return typeof content === "string" ? [] : [{ at, content }];
}

/** A message of the input: texts become lines; with `inParts`, texts and pictures stay parts. */
function toMessage({ role, content }: RequestMessage, at: string, inParts: boolean) {
  const spoken = role === "developer" ? "system" : role === "tool" ? "user" : role;
  if (typeof content === "string") return { role: spoken, content };
  if (!inParts || content.length === 0)
    return {
      role: spoken,
      content: content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n"),
    };
  return {
    role: spoken,
    content: content.map((part, place) =>
      part.type === "text"
        ? { type: "text" as const, text: part.text }
        : toPicture(part.url, `${at}.content[${place}]`),
    ),
  };
}

const DATA_URL = /^data:(image\/[a-z]+);base64,([\s\S]*)$/;

function toPicture(url: string, at: string) {
  const [, mediaType, data] = DATA_URL.exec(url) ?? [];
  if (!mediaType || !data)
    return refuse(at, "Send the image as data:image/…;base64,…; URLs are not fetched.");
  return { type: "image" as const, mediaType, data };
}

/** An error at a field that is already spelled as the sender spells it. */
function refuse(field: string, msg: string): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type: "unsupported" }]);
}

/** Runs `work` and translates the fields of its validation errors to those of the original request. */
export async function inWordsOf<T>(spelling: Spelling, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ValidationFault)
      throw new ValidationFault(
        cause.issues.map((issue) => ({ ...issue, loc: respelled(issue.loc, spelling) })),
      );
    if (cause instanceof Fault && typeof cause.details.field === "string") {
      const field = cause.details.field.replace(IN_MESSAGE, (_, place) => spelling.message(Number(place)));
      throw new Fault(
        cause.code,
        cause.message,
        { ...cause.details, field },
        { headers: cause.headers, cause },
      );
    }
    throw cause;
  }
}

const IN_MESSAGE = /^input\.messages\[(\d+)\]/;

function respelled(loc: (string | number)[], spelling: Spelling): (string | number)[] {
  const [where, ...path] = loc;
  if (where !== "body") return loc;
  const [first, second, third, ...rest] = path;
  if (first === "input" && second === "messages" && typeof third === "number")
    return [where, spelling.message(third), ...rest];
  const at = (name: string, after: (string | number)[]) => [where, name, ...after];
  const below = third === undefined ? rest : [third, ...rest];
  if (first === "input" && second === "messages") return at(spelling.message(0).replace(/\[.*$/, ""), below);
  if (first === "input" && second === "maxOutputTokens") return at(spelling.maxOutputTokens, below);
  if (first === "input" && second === "responseFormat") return at(spelling.format, below);
  if (first === "responseSchema") return at(spelling.schema, path.slice(1));
  if (first === "toolSchemas") return at("tools", path.slice(1));
  if (first === "sampling") return at(second === "temperature" ? "temperature" : spelling.effort, below);
  if (first === "conversation" && second === "settings") return at(spellingOf(path.slice(2)), []);
  if (first === "conversation" && (second === "cache" || second === "parts"))
    return at(spelling.message(0).replace(/\[.*$/, ""), []);
  if (first === "conversation") return at("tool_choice", []);
  if (first === "execution") return at("model", []);
  if (first === "executionMode") return at("stream", []);
  return loc;
}
