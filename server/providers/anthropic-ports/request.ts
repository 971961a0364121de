import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { cacheEnds, writesCache } from "../cache-marks";
import {
  type CacheTtl,
  type ContentPart,
  messageText,
  type ProviderIo,
  type ReasoningIntent,
  refuseCall,
  type TextCall,
  type TextMessage,
} from "../define";
import {
  apart,
  argumentsOf,
  byTurn,
  IN_JSON,
  inThisSchema,
  isForced,
  isInLoop,
  requireSupported,
  toFunction,
  withCallIds,
} from "../text-call";
import { controlOf, markedBy, markOfTool, requireOrder, toSystem, toTextBlocks, withoutMarks } from "./cache";
import { thinkingIn } from "./reply";

const EFFORTS = { economy: "low", balanced: "medium", deep: "high", maximum: "max" } as const;
/** Share of the output limit for models that reason within a token budget; the rest is for the answer. */
const SHARES = { economy: 1 / 8, balanced: 1 / 4, deep: 1 / 2, maximum: 3 / 4 } as const;
const LEAST_BUDGET = 1_024;
/** The last models that reason within a budget; later ones decide for themselves, guided by an effort. */
export const THINKS_BY_BUDGET = new Set(["claude-haiku-4-5"]);

/** The body of `POST /v1/messages`. Throws for options that the model does not support. */
export function toMessagesRequest(call: TextCall, { model }: ProviderIo): Record<string, unknown> {
  requireSupported(call, model);
  const isCached = writesCache(call, model);
  const messages = isCached ? call.messages : call.messages.map(withoutMarks);
  const { system, turns } = apart(messages);
  const { responseFormat: asked, reasoningIntent = "omit" } = call;
  const isHeldTo = asked.type === "json_schema" && fitsOutputFormat(asked.schema);
  if (asked.type === "json_object") system.push(IN_JSON);
  if (asked.type === "json_schema" && !isHeldTo) system.push(inThisSchema(asked.schema));
  // The provider requires an output limit in every request.
  const maxTokens = call.maxOutputTokens ?? model.maxOutputTokens ?? LEAST_BUDGET;
  const byBudget = THINKS_BY_BUDGET.has(model.id);
  const choice = toChoice(call);
  // A model that reasons within a budget needs its earlier reasoning inside a tool loop, and cannot reason before a
  // forced call.
  const mayThink = !byBudget || (!isForced(call) && (!isInLoop(turns) || bringsThinking(turns)));
  const thinks = reasoningIntent !== "omit" && mayThink;
  const outputConfig = {
    ...(reasoningIntent === "omit" || byBudget ? {} : { effort: EFFORTS[reasoningIntent] }),
    ...(isHeldTo ? { format: { type: "json_schema", schema: asked.schema } } : {}),
  };
  const prompt = {
    ...(call.tools === undefined
      ? {}
      : { tools: call.tools.map((tool, place) => toTool(tool, isCached ? markOfTool(call, place) : null)) }),
    ...(system.length > 0 ? { system: toSystem(messages, system) } : {}),
    messages: byTurn(withCallIds(turns, CALL_ID)).map(toTurn),
  };
  if (isCached) requireOrder(prompt);
  return {
    model: model.id,
    max_tokens: maxTokens,
    ...prompt,
    ...(thinks ? { thinking: byBudget ? byTokens(reasoningIntent, maxTokens) : { type: "adaptive" } } : {}),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...(call.settings?.stop === undefined ? {} : { stop_sequences: call.settings.stop }),
    ...(choice ? { tool_choice: choice } : {}),
  };
}

/** Does the model's last answer come with its reasoning, in a form that the vendor takes back? */
function bringsThinking(turns: TextMessage[]): boolean {
  const last = turns.findLast(({ role }) => role === "assistant");
  return last?.role === "assistant" && thinkingIn(last.opaque?.thinking_blocks).length > 0;
}

const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** One message, or a group of tool results, which the vendor expects as one user message. */
function toTurn(group: TextMessage[]): object {
  const [message] = group;
  if (message?.role === "tool")
    return {
      role: "user",
      content: group.map((each) => ({
        type: "tool_result",
        tool_use_id: each.role === "tool" ? each.toolCallId : "",
        content: each.content,
        ...controlOf(each.cache?.at(-1)),
      })),
    };
  const { role, content } = message!; // a group has at least one message
  if (message?.role === "assistant" && (message.toolCalls || message.opaque)) {
    const said = messageText(message);
    const { toolCalls = [] } = message;
    const thinking = thinkingIn(message.opaque?.thinking_blocks);
    const last = toolCalls.length - 1;
    // A mark of the whole message goes to its last call, if it has one; marks of its text stay with the text.
    const mark =
      last < 0 ? undefined : message.cache?.find(({ end, part }) => end === undefined && part === undefined);
    const calls = toolCalls.map((call, place) => ({
      type: "tool_use",
      id: call.id,
      name: call.name,
      input: argumentsOf(call),
      ...(place === last ? controlOf(mark) : {}),
    }));
    const marks = cacheEnds({ ...message, cache: message.cache?.filter((each) => each !== mark) ?? [] });
    return { role, content: [...thinking, ...toTextBlocks(said, marks), ...calls] };
  }
  if (typeof content !== "string")
    return { role, content: content.map(toBlock).map(markedBy(message?.cache)) };
  return { role, content: message?.cache ? toTextBlocks(content, cacheEnds(message)) : content };
}

function toChoice({ toolChoice, parallelToolCalls, tools }: TextCall): object | null {
  if (!tools || toolChoice === "none") return toolChoice === "none" ? { type: "none" } : null;
  const alone = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === undefined) return parallelToolCalls === false ? { type: "auto", ...alone } : null;
  if (toolChoice === "required") return { type: "any", ...alone };
  return { type: "tool", name: toolChoice.name, ...alone };
}

/**
 * A budget counts toward the output limit and must be below it; the vendor's minimum is 1,024 tokens. Throws if the
 * limit is too low.
 */
function byTokens(intent: Exclude<ReasoningIntent, "omit">, maxTokens: number): object {
  const budget = Math.max(LEAST_BUDGET, Math.floor(maxTokens * SHARES[intent]));
  if (budget < maxTokens) return { type: "enabled", budget_tokens: budget };
  return refuseCall(
    `The model needs more than ${LEAST_BUDGET} output tokens to reason, and the request allows ${maxTokens}. Raise the limit.`,
  );
}

function toBlock(part: ContentPart): object {
  if (part.type === "text") return { type: "text", text: part.text };
  const data = Buffer.from(part.bytes).toString("base64");
  return { type: "image", source: { type: "base64", media_type: part.mediaType, data } };
}

function toTool(tool: Record<string, Json>, mark: { ttl?: CacheTtl } | null): object {
  const { name, description, parameters, strict } = toFunction(tool);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters ?? { type: "object" },
    ...(strict === true ? { strict } : {}),
    ...controlOf(mark),
  };
}

const KNOWN = new Set([
  ...["type", "properties", "required", "additionalProperties", "items", "minItems", "enum", "const"],
  ...["anyOf", "format", "title", "description"],
]);
const FORMATS = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
]);
/** Maximum optional properties in one schema at the vendor. */
const MOST_OPTIONAL = 24;

/**
 * Can the vendor enforce this schema? It needs closed objects and simple keywords, as the vendor's own client requires.
 * References are excluded, because recursive ones are refused.
 */
export function fitsOutputFormat(schema: Json): boolean {
  let optional = 0;
  const fits = (part: Json): boolean => {
    if (!isObject(part) || Object.keys(part).some((keyword) => !KNOWN.has(keyword))) return false;
    const { type, properties, required, items, anyOf, format, minItems } = part;
    const literals = Array.isArray(part.enum) ? part.enum : part.const === undefined ? null : [part.const];
    if (literals) return literals.every((literal) => typeof literal !== "object" || literal === null);
    if (format !== undefined && !FORMATS.has(String(format))) return false;
    if (minItems !== undefined && minItems !== 0 && minItems !== 1) return false;
    if (anyOf !== undefined) return Array.isArray(anyOf) && anyOf.every(fits);
    if (typeof type !== "string" && !Array.isArray(type)) return false;
    if (type === "object" || properties !== undefined) {
      const inner = isObject(properties) ? Object.entries(properties) : [];
      optional += inner.filter(([name]) => !(Array.isArray(required) && required.includes(name))).length;
      return part.additionalProperties === false && inner.every(([, each]) => fits(each));
    }
    return items === undefined ? type !== "array" : fits(items);
  };
  return fits(schema) && optional <= MOST_OPTIONAL;
}
