import type { Json } from "@/server/platform/durable/step";
import { answerFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { wholeValue } from "@/server/platform/text/whole-text";
import { cacheEnds } from "./cache-marks";
import {
  isNameListed,
  type ModelFacts,
  messageText,
  type OnText,
  ProviderFault,
  refuseCall,
  type TextCall,
  type TextChoice,
  type TextMessage,
  type TextSetting,
  type ToolCall,
} from "./define";

/* Steps that several text providers share before each translates the call for its vendor. */

/** Refuses options that the model does not support, rather than dropping them silently. */
export function requireSupported(call: TextCall, model: ModelFacts): void {
  const asked: [boolean, boolean | undefined, string][] = [
    [call.temperature !== undefined, model.supports.temperature, "a temperature"],
    [(call.reasoningIntent ?? "omit") !== "omit", model.supports.reasoning, "a reasoning intent"],
    [call.tools !== undefined, model.supports.tools, "tools"],
    [isForced(call), model.supports.forcedTools, "a required tool call"],
    [hasPictures(call), model.supports.vision, "pictures"],
    [call.responseFormat.type === "json_object", model.supports.jsonObject, "the format json_object"],
    [call.responseFormat.type === "json_schema", model.supports.jsonSchema, "the format json_schema"],
  ];
  const { members = {}, ...settings } = call.settings ?? {};
  for (const name of Object.keys(settings))
    asked.push([true, model.takes?.includes(name as TextSetting), name]); // the keys of its settings
  for (const name of Object.keys(members)) asked.push([true, isNameListed(name, model.members ?? []), name]);
  const missing = asked.find(([wanted, able]) => wanted && !able);
  if (missing)
    refuseCall(
      `The model ${model.id} does not support ${missing[2]}. Leave it out, or choose another model.`,
    );
}

const hasPictures = ({ messages }: TextCall) =>
  messages.some(({ content }) => typeof content !== "string" && content.some(({ type }) => type === "image"));

/** A function tool in either common spelling, flat or nested; a vendor's own tool is refused. */
export function toFunction(tool: Record<string, Json>): Record<string, Json> & { name: string } {
  const { type, ...flat } = isObject(tool.function) ? { ...tool.function, type: tool.type } : tool;
  const { name }: { name?: Json } = flat;
  if ((type ?? "function") !== "function" || typeof name !== "string")
    return refuseCall("This model supports only function tools with a name.");
  return { ...flat, name };
}

const BETWEEN = "\n\n";

/**
 * Separates system messages from the turns, for vendors with a separate place for them. A conversation with nothing but
 * system messages becomes one user turn.
 */
export function apart(messages: TextMessage[]): { system: string[]; turns: TextMessage[] } {
  const turns = messages.filter(({ role }) => role !== "system");
  const system = messages.filter(({ role }) => role === "system").map(messageText);
  if (turns.length > 0) return { system, turns };
  const content = system.join(BETWEEN);
  let start = 0;
  const cache = messages.flatMap((message) => {
    const from = start;
    start += messageText(message).length + BETWEEN.length;
    return cacheEnds(message).map((mark) => ({ ...mark, end: from + mark.end }));
  });
  return { system: [], turns: [{ role: "user", content, ...(cache.length > 0 ? { cache } : {}) }] };
}

/** The text of an answer; if nothing else was written or called, the text of its refusal. */
export const wordsOrRefusal = (
  text: string,
  refusal: string,
  toolCalls: readonly unknown[],
): Pick<TextChoice, "text" | "isRefusal"> =>
  text === "" && refusal !== "" && toolCalls.length === 0 ? { text: refusal, isRefusal: true } : { text };

/** Streams the text of an answer that arrived whole although a stream was requested. */
export function passOn({ text, isRefusal }: TextChoice, onText: OnText): void {
  if (text !== "") onText(text, isRefusal && "refusal");
}

/** Drops undefined members, so that absent fields stay absent. */
export const withoutUndefined = <T>(members: Record<string, T | undefined>): Record<string, T> =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, T] => entry[1] !== undefined));

/** Replaces call ids that the vendor would refuse; a call and its result keep the same id. */
export function withCallIds(messages: TextMessage[], taken: RegExp): TextMessage[] {
  const others = new Map<string, string>();
  const idOf = (id: string) => {
    if (taken.test(id)) return id;
    const other = others.get(id) ?? `call_${others.size}`;
    others.set(id, other);
    return other;
  };
  return messages.map((message) => {
    if (message.role === "tool") return { ...message, toolCallId: idOf(message.toolCallId) };
    if (message.role !== "assistant" || !message.toolCalls) return message;
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: idOf(call.id) })) };
  });
}

/** Groups messages: consecutive tool results form one group, any other message is a group of its own. */
export function byTurn(messages: TextMessage[]): TextMessage[][] {
  const groups: TextMessage[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role === "tool" && last?.[0]?.role === "tool") last.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Does the conversation end with tool results, without a later user message? */
export const isInLoop = (messages: TextMessage[]): boolean =>
  messages.findLast(({ role }) => role !== "system")?.role === "tool";

export const isForced = ({ toolChoice }: TextCall): boolean =>
  toolChoice !== undefined && toolChoice !== "none";

/** The arguments of a call as the object that vendors require; an empty one if the model wrote something else. */
export function argumentsOf({ arguments: text }: ToolCall): Record<string, Json> {
  const value = parseJsonText(text);
  return isObject(value) ? value : {};
}

export function parseJsonText(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Converts a tool call's arguments to JSON text, for vendors that return them as a value. A string is a part that was
 * written before the output limit. Throws ProviderFault for a value that cannot be stored.
 */
export function toArguments(given: unknown): string {
  const input = wholeValue(given);
  const flaw = answerFlaw(input);
  if (flaw) throw new ProviderFault("failed", "attempted", flaw);
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

export const IN_JSON = "Answer with one JSON object and nothing else.";
/** An instruction for vendors that cannot enforce a schema; the caller validates the answer. */
export const inThisSchema = (schema: Record<string, Json>) =>
  `Answer with one JSON value and nothing else, valid against this JSON Schema: ${JSON.stringify(schema)}`;

export const endedEarly = (vendor: string) =>
  new ProviderFault("lost", "ambiguous", `${vendor}'s answer ended early.`);
