import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import {
  messageText,
  type OnText,
  type PortAdapter,
  type ProviderIo,
  type ResponseFormat,
  refuseCall,
  type TextCall,
  type TextMessage,
  type ToolChoice,
  toDataUrl,
} from "../define";

import { postForEvents, postJson } from "../http";

import { endedEarly, passOn, requireSupported, withCallIds } from "../text-call";

import { EFFORTS, explainOpenAiError, openAiHeaders } from "./common";
import { readResponse, reasoningIn } from "./reply";
import { gatherResponse } from "./stream";

/* Text through the Responses API. Nothing is stored at the vendor. */

function toInput(message: TextMessage): object[] {
  if (message.role === "tool")
    return [{ type: "function_call_output", call_id: message.toolCallId, output: message.content }];
  if (message.role !== "assistant") return [toSpoken(message)];
  const reasoning = reasoningIn(message.opaque?.reasoning_items);
  if (!message.toolCalls) return [...reasoning, toSpoken(message)];
  const calls = message.toolCalls.map(({ id, name, arguments: text }) => ({
    type: "function_call",
    call_id: id,
    name,
    arguments: text,
  }));
  return [...reasoning, ...(messageText(message) === "" ? [] : [toSpoken(message)]), ...calls];
}

/** Pictures are sent in high detail unless low is requested, because the models' token bound assumes it. */
function toSpoken({ role, content }: TextMessage) {
  if (typeof content === "string") return { role, content };
  return {
    role,
    content: content.map((part) =>
      part.type === "text"
        ? { type: role === "assistant" ? "output_text" : "input_text", text: part.text }
        : { type: "input_image", image_url: toDataUrl(part), detail: part.detail ?? "high" },
    ),
  };
}

function toResponsesRequest(call: TextCall, { model, tier }: ProviderIo): Record<string, unknown> {
  requireSupported(call, model);
  const firstTurn = call.messages.findIndex(({ role }) => role !== "system");
  // Leading system messages become the instructions, unless the conversation has nothing else.
  const leading = firstTurn > 0 ? call.messages.slice(0, firstTurn) : [];
  const turns = call.messages.slice(leading.length);
  const instructions = leading.map(messageText);
  if (
    call.responseFormat.type === "json_object" &&
    !call.messages.some((message) => /json/i.test(messageText(message)))
  ) {
    // The vendor refuses this format unless the word JSON is in the request.
    instructions.push("Answer with a JSON object.");
  }
  const { reasoningIntent } = call;
  return {
    model: model.id,
    ...(instructions.length > 0 ? { instructions: instructions.join("\n\n") } : {}),
    input: withShortIds(turns).flatMap(toInput),
    ...(call.maxOutputTokens === undefined ? {} : { max_output_tokens: call.maxOutputTokens }),
    ...(call.responseFormat.type === "text" ? {} : { text: { format: toFormat(call.responseFormat) } }),
    ...(reasoningIntent === undefined || reasoningIntent === "omit"
      ? {}
      : { reasoning: { effort: EFFORTS[reasoningIntent] } }),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...(call.settings?.topP === undefined ? {} : { top_p: call.settings.topP }),
    ...(call.tools === undefined ? {} : { tools: call.tools.map(toFunctionTool) }),
    // Between tool calls the model continues its own reasoning, which the conversation sends back.
    ...(call.tools && model.supports.reasoning ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(call.toolChoice === undefined ? {} : { tool_choice: toChoice(call.toolChoice) }),
    ...(call.parallelToolCalls === undefined ? {} : { parallel_tool_calls: call.parallelToolCalls }),
    ...(tier === "flex" ? { service_tier: "flex" } : {}),
    store: false,
  };
}

const toChoice = (choice: ToolChoice) =>
  typeof choice === "string" ? choice : { type: "function", name: choice.name };

/** The vendor accepts call ids of at most 64 characters. */
const withShortIds = (turns: TextMessage[]) => withCallIds(turns, /^.{1,64}$/s);

function toFormat(format: Exclude<ResponseFormat, { type: "text" }>): object {
  if (format.type === "json_object") return { type: "json_object" };
  return {
    type: "json_schema",
    name: format.name,
    schema: format.schema,
    // The vendor would refuse a strict schema outside its subset; the answer is validated here in any case.
    strict: format.strict !== false && fitsStrictSchema(format.schema),
  };
}

/** Flattens function tools in either common spelling. Throws for a vendor's own tools. */
function toFunctionTool(tool: Record<string, Json>): Record<string, Json> {
  const inner = tool.function;
  const flat = isObject(inner) ? { ...inner, type: "function" } : tool;
  if ((flat.type ?? "function") !== "function" || typeof flat.name !== "string") {
    refuseCall("This model supports only function tools with a name.");
  }
  return { ...flat, type: "function" };
}

const BEYOND_STRICT = [
  ...["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"],
  ...["patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties"],
  ...["prefixItems", "contains", "uniqueItems"],
];

/** Is a schema inside the vendor's strict subset: closed objects, every property required, simple keywords? */
export function fitsStrictSchema(schema: Json, isRoot = true): boolean {
  if (!isObject(schema)) return false;
  if (BEYOND_STRICT.some((keyword) => schema[keyword] !== undefined)) return false;
  if (isRoot && (schema.type !== "object" || schema.anyOf !== undefined)) return false;
  const inner: Json[] = [];
  const { properties, items, anyOf, $defs, definitions } = schema;
  if (schema.type === "object" || properties !== undefined) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false || names.some((name) => !required.includes(name))) return false;
  }
  for (const group of [properties, $defs, definitions])
    if (isObject(group)) inner.push(...Object.values(group));
  if (items !== undefined) inner.push(items);
  if (Array.isArray(anyOf)) inner.push(...anyOf);
  return inner.every((part) => fitsStrictSchema(part, false));
}

async function ask(call: TextCall, io: ProviderIo, onText?: OnText) {
  const sent = toResponsesRequest(call, io);
  const gathered = gatherResponse(onText);
  const posted = { headers: openAiHeaders(io), onEvent: gathered.take, explain: explainOpenAiError };
  const reply = onText
    ? await postForEvents(io, "/responses", { ...posted, body: { ...sent, stream: true } })
    : await postJson(io, "/responses", { ...posted, body: sent });
  const whole = gathered.whole();
  if (!whole && reply.body === undefined) throw endedEarly("OpenAI");
  const delivered = gathered.delivered();
  const progress = readResponse(whole ? { ...reply, body: whole } : reply, io, {
    explain: explainOpenAiError,
    delivered,
  });
  // A refusal becomes the text only if nothing else was written, which is known at the end.
  if (onText && !delivered?.text) passOn(progress.result, onText);
  return progress;
}

export const openAiText: PortAdapter<"text"> = {
  api: "responses",
  submit: (call, io) => ask(call, io),
  stream: ask,
};
