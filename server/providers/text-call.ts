import type { Json } from "@/server/platform/durable/step";
import { answerFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { wholeValue } from "@/server/platform/text/whole-text";
import { cacheEnds } from "./cache-marks";
import {
  isListed,
  type ModelFacts,
  type OnText,
  ProviderFault,
  refuseCall,
  type TextCall,
  type TextChoice,
  type TextMessage,
  type TextSetting,
  type ToolCall,
  textOf,
} from "./define";

/* What several text providers do with a call alike, before each turns it into its vendor's own words. */

/** Refuses what the model cannot do, rather than leave it out unsaid. */
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
    asked.push([true, model.takes?.includes(name as TextSetting), name]); // of its settings
  for (const name of Object.keys(members)) asked.push([true, isListed(name, model.members ?? []), name]);
  const missing = asked.find(([wanted, able]) => wanted && !able);
  if (missing)
    refuseCall(
      `The model ${model.id} does not support ${missing[2]}. Leave it out, or choose another model.`,
    );
}

const hasPictures = ({ messages }: TextCall) =>
  messages.some(({ content }) => typeof content !== "string" && content.some(({ type }) => type === "image"));

/** A function tool in either usual spelling, flat or nested; a vendor's own tools are not passed on. */
export function toFunction(tool: Record<string, Json>): Record<string, Json> & { name: string } {
  const { type, ...flat } = isObject(tool.function) ? { ...tool.function, type: tool.type } : tool;
  const { name }: { name?: Json } = flat;
  if ((type ?? "function") !== "function" || typeof name !== "string")
    return refuseCall("This model supports only function tools with a name.");
  return { ...flat, name };
}

const BETWEEN = "\n\n";

/**
 * System messages apart from the turns, for vendors that take the former in a place of their own; all of them, wherever
 * they were. A conversation of nothing else becomes one turn of the user.
 */
export function apart(messages: TextMessage[]): { system: string[]; turns: TextMessage[] } {
  const turns = messages.filter(({ role }) => role !== "system");
  const system = messages.filter(({ role }) => role === "system").map(textOf);
  if (turns.length > 0) return { system, turns };
  const content = system.join(BETWEEN);
  let start = 0;
  const cache = messages.flatMap((message) => {
    const from = start;
    start += textOf(message).length + BETWEEN.length;
    return cacheEnds(message).map((mark) => ({ ...mark, end: from + mark.end }));
  });
  return { system: [], turns: [{ role: "user", content, ...(cache.length > 0 ? { cache } : {}) }] };
}

/** The text of an answer; where nothing else was written or called, the words of its refusal. */
export const wordsOrRefusal = (
  text: string,
  refusal: string,
  toolCalls: readonly unknown[],
): Pick<TextChoice, "text" | "isRefusal"> =>
  text === "" && refusal !== "" && toolCalls.length === 0 ? { text: refusal, isRefusal: true } : { text };

/** Passes on the text of an answer that came whole where a stream was requested. */
export function passOn({ text, isRefusal }: TextChoice, onText: OnText): void {
  if (text !== "") onText(text, isRefusal && "refusal");
}

/** The members that have a value. */
export const present = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** A conversation whose ids of calls a vendor takes: those it would refuse get others, the same for a call and its result. */
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

/** Messages in groups: the results of tools that follow each other are one, every other message is its own. */
export function byTurn(messages: TextMessage[]): TextMessage[][] {
  const groups: TextMessage[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role === "tool" && last?.[0]?.role === "tool") last.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Does the conversation go on from results of tools, without a word of the user after them? */
export const isInLoop = (messages: TextMessage[]): boolean =>
  messages.findLast(({ role }) => role !== "system")?.role === "tool";

/** Must a tool be called? */
export const isForced = ({ toolChoice }: TextCall): boolean =>
  toolChoice !== undefined && toolChoice !== "none";

/** The arguments of a call as the object that vendors want; a model may have written what is none. */
export function argumentsOf({ arguments: text }: ToolCall): Record<string, Json> {
  const value = readJson(text);
  return isObject(value) ? value : {};
}

export function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The arguments of a tool call, as JSON, where a vendor gives them as a value. A text is the part that was written before the
 * answer reached its length.
 */
export function toArguments(given: unknown): string {
  const input = wholeValue(given);
  const flaw = answerFlaw(input);
  if (flaw) throw new ProviderFault("failed", "attempted", flaw);
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

export const IN_JSON = "Answer with one JSON object and nothing else.";
/** For schemas a vendor cannot hold its model to: said in words, and checked by the caller. */
export const inThisSchema = (schema: Record<string, Json>) =>
  `Answer with one JSON value and nothing else, valid against this JSON Schema: ${JSON.stringify(schema)}`;

export const brokenOff = (vendor: string) =>
  new ProviderFault("lost", "ambiguous", `${vendor}'s answer ended early.`);
