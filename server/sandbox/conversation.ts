import { createHash } from "node:crypto";
import type { Json } from "@/server/platform/durable/step";
import type { TextRequest } from "./requests";

/* Reads a conversation for the sandbox. */

type Message = TextRequest["messages"][number];
type Picture = { mediaType: string; byteLength: number; digest: string };

const partsOf = ({ content }: Message) =>
  typeof content === "string" ? [{ type: "text" as const, text: content }] : content;

/** Text of a message. */
export const messageWords = (message: Message): string =>
  partsOf(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");

/** Pictures of a conversation. The sandbox looks at their bytes, not at what they show. */
export const picturesOf = ({ messages }: TextRequest): Picture[] =>
  messages.flatMap(partsOf).flatMap((part) => {
    if (part.type !== "image") return [];
    const bytes = Buffer.from(part.base64, "base64");
    const digest = createHash("sha256").update(bytes).digest("hex");
    return [{ mediaType: part.mediaType, byteLength: bytes.byteLength, digest: digest.slice(0, 12) }];
  });

const COMPLAINT = /^Your last answer cannot be used:/;

/** True if the last message asks to correct the last answer. */
export function isRepair({ messages }: TextRequest): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && COMPLAINT.test(messageWords(last));
}

const isQuestion = (message: Message) => message.role === "user" && !COMPLAINT.test(messageWords(message));

/** The last question, apart from requests to correct an answer. */
export function questionOf({ messages }: TextRequest): string {
  const asked = messages.findLast(isQuestion);
  return asked ? messageWords(asked) : "";
}

/** Messages after the last question; all of them if there is none. */
export const sinceQuestion = ({ messages }: TextRequest): Message[] =>
  messages.slice(messages.findLastIndex(isQuestion) + 1);

const IN_WORDS = /^Answer with one JSON (?:object|value) and nothing else/;

/** The JSON that is requested, by the request's format or in words; null if none is. */
export function wantedJson({
  messages,
  responseFormat,
}: TextRequest): { schema: Record<string, Json> | null } | null {
  if (responseFormat.type === "json_schema") return { schema: responseFormat.schema };
  const said = messages.find((message) => message.role === "system" && IN_WORDS.test(messageWords(message)));
  if (said) {
    const text = messageWords(said);
    const schema = text.indexOf("JSON Schema:\n");
    return { schema: schema < 0 ? null : JSON.parse(text.slice(schema + "JSON Schema:\n".length)) };
  }
  return responseFormat.type === "json_object" ? { schema: null } : null;
}
