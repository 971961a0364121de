import { z } from "zod";
import type { Json } from "@/server/step";
import {
  defineProvider,
  ProviderFault,
  type ProviderIo,
  type ResponseFormat,
  refuseCall,
  type TextCall,
  type TextMessage,
  type TextResult,
  type Tier,
  textOf,
  toDataUrl,
} from "./define";
import { type HttpReply, parseReply, postForEvents, postJson, safeWord } from "./http";
import { check } from "./openai-ports/check";
import {
  explainOpenAiError,
  headers,
  REASONS,
  requestIdOf,
  TokenUsage,
  toUsage,
} from "./openai-ports/common";
import { image, imageModels } from "./openai-ports/image";
import { speech, speechModels } from "./openai-ports/speech";
import { isRecord, requireSupported } from "./text-call";

/*
 * OpenAI: text by the Responses API; what is not text has a file a port. Nothing is stored at the vendor (`store: false`).
 */

// ---- what the vendor answers; unknown fields are passed over

const ResponsesReply = z.object({
  id: z.string(),
  model: z.string().nullish(),
  status: z.string(),
  /** The tier that was used, whatever was asked for. */
  service_tier: z.string().nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: z.array(
    z.object({
      type: z.string(),
      content: z
        .array(z.object({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() }))
        .nullish(),
      call_id: z.string().nullish(),
      name: z.string().nullish(),
      arguments: z.string().nullish(),
    }),
  ),
  usage: TokenUsage.nullish(),
});
type ResponsesReply = z.output<typeof ResponsesReply>;

// ---- text

const EFFORTS = { economy: "low", balanced: "medium", deep: "high", maximum: "xhigh" } as const;

/** High detail, whatever the picture: its bound of tokens is the one the models list. */
function toInput({ role, content }: TextMessage) {
  if (typeof content === "string") return { role, content };
  return {
    role,
    content: content.map((part) =>
      part.type === "text"
        ? { type: role === "assistant" ? "output_text" : "input_text", text: part.text }
        : { type: "input_image", image_url: toDataUrl(part), detail: "high" },
    ),
  };
}

function toResponsesRequest(call: TextCall, { model, tier }: ProviderIo): Record<string, unknown> {
  requireSupported(call, model);
  const firstTurn = call.messages.findIndex(({ role }) => role !== "system");
  // Leading system messages are the instructions; a conversation of nothing else stays as it is.
  const leading = firstTurn > 0 ? call.messages.slice(0, firstTurn) : [];
  const turns = call.messages.slice(leading.length);
  const instructions = leading.map(textOf);
  if (
    call.responseFormat.type === "json_object" &&
    !call.messages.some((message) => /json/i.test(textOf(message)))
  ) {
    // The vendor refuses this format unless the word JSON is in the request.
    instructions.push("Answer with a JSON object.");
  }
  const { reasoningIntent } = call;
  return {
    model: model.id,
    ...(instructions.length > 0 ? { instructions: instructions.join("\n\n") } : {}),
    input: turns.map(toInput),
    ...(call.maxOutputTokens === undefined ? {} : { max_output_tokens: call.maxOutputTokens }),
    ...(call.responseFormat.type === "text" ? {} : { text: { format: toFormat(call.responseFormat) } }),
    ...(reasoningIntent === undefined || reasoningIntent === "omit"
      ? {}
      : { reasoning: { effort: EFFORTS[reasoningIntent] } }),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...(call.tools === undefined ? {} : { tools: call.tools.map(toFunctionTool) }),
    ...(tier === "flex" ? { service_tier: "flex" } : {}),
    store: false,
  };
}

/** Only what the vendor calls flex has the price of flex. */
function toTier(word: string | null | undefined): { tier?: Tier } {
  if (!word || word === "auto") return {};
  return { tier: word === "flex" ? "flex" : "standard" };
}

function toFormat(format: Exclude<ResponseFormat, { type: "text" }>): object {
  if (format.type === "json_object") return { type: "json_object" };
  return {
    type: "json_schema",
    name: format.name,
    schema: format.schema,
    strict: fitsStrictSchema(format.schema),
  };
}

/** Function tools in either usual spelling become the flat one; the vendor's own tools are not passed on. */
function toFunctionTool(tool: Record<string, Json>): Record<string, Json> {
  const inner = tool.function;
  const flat = isRecord(inner) ? { ...inner, type: "function" } : tool;
  if ((flat.type ?? "function") !== "function" || typeof flat.name !== "string") {
    refuseCall("Only function tools with a name can be given to this model.");
  }
  return { ...flat, type: "function" };
}

const BEYOND_STRICT = [
  ...["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"],
  ...["patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties"],
  ...["prefixItems", "contains", "uniqueItems"],
];

/** Does a schema stay inside the vendor's strict subset: closed objects, every property required, plain keywords? */
export function fitsStrictSchema(schema: Json, isRoot = true): boolean {
  if (!isRecord(schema)) return false;
  if (BEYOND_STRICT.some((keyword) => schema[keyword] !== undefined)) return false;
  if (isRoot && (schema.type !== "object" || schema.anyOf !== undefined)) return false;
  const inner: Json[] = [];
  const { properties, items, anyOf, $defs, definitions } = schema;
  if (schema.type === "object" || properties !== undefined) {
    const names = isRecord(properties) ? Object.keys(properties) : [];
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false || names.some((name) => !required.includes(name))) return false;
  }
  for (const group of [properties, $defs, definitions])
    if (isRecord(group)) inner.push(...Object.values(group));
  if (items !== undefined) inner.push(items);
  if (Array.isArray(anyOf)) inner.push(...anyOf);
  return inner.every((part) => fitsStrictSchema(part, false));
}

function toTextResult(reply: ResponsesReply, format: ResponseFormat): TextResult {
  const parts = reply.output.flatMap((item) => (item.type === "message" ? (item.content ?? []) : []));
  const written = parts.map(({ type, text }) => (type === "output_text" ? (text ?? "") : "")).join("");
  const refusal = parts.map((part) => part.refusal ?? "").join("");
  const toolCalls = reply.output
    .filter(({ type }) => type === "function_call")
    .map((item) => ({ id: item.call_id ?? "", name: item.name ?? "", arguments: item.arguments ?? "" }));
  // A refusal is an answer in words; where JSON was promised it is none.
  const refused = refusal !== "" && format.type !== "text";
  return {
    text: written || (refused ? "" : refusal),
    finishReason: refused ? "content_filter" : toFinishReason(reply, toolCalls.length > 0),
    toolCalls,
  };
}

function toFinishReason(reply: ResponsesReply, calledTools: boolean): TextResult["finishReason"] {
  if (reply.status === "completed") return calledTools ? "tool_calls" : "stop";
  const reason = reply.incomplete_details?.reason;
  return reason === "max_output_tokens" ? "length" : reason === "content_filter" ? "content_filter" : "other";
}

async function submitText(call: TextCall, io: ProviderIo) {
  const sent = toResponsesRequest(call, io);
  const reply = await postJson("/responses", sent, headers(io), io, { explain: explainOpenAiError });
  return toProgress(call, reply, io);
}

/** Of the vendor's events those that say something of the text or the end; all others are passed over. */
const ResponsesEvent = z.object({
  type: z.string(),
  delta: z.string().nullish(),
  code: z.string().nullish(),
  error: z.object({ code: z.string().nullish(), type: z.string().nullish() }).nullish(),
  response: z.unknown().optional(),
});
const LAST_EVENTS = ["response.completed", "response.incomplete", "response.failed"];

async function streamText(call: TextCall, io: ProviderIo, onText: (text: string) => void) {
  const sent = { ...toResponsesRequest(call, io), stream: true };
  let whole: unknown;
  let wasTold = false;
  const reply = await postForEvents(
    "/responses",
    sent,
    headers(io),
    io,
    ({ data }) => {
      const event = ResponsesEvent.parse(JSON.parse(data));
      if (event.type === "response.output_text.delta" && event.delta) {
        wasTold = true;
        onText(event.delta);
      }
      if (event.type === "error") throw faultOfEvent(event.error?.code ?? event.code, wasTold);
      if (LAST_EVENTS.includes(event.type)) whole = event.response;
      return whole !== undefined;
    },
    { explain: explainOpenAiError },
  );
  if (whole === undefined && reply.body === undefined)
    throw new ProviderFault("lost", "ambiguous", "OpenAI's answer broke off before its end.");
  const progress = toProgress(call, whole === undefined ? reply : { ...reply, body: whole }, io);
  // A refusal in words becomes the text only when nothing else was written, which is known at the end.
  if (!wasTold && progress.result.text !== "") onText(progress.result.text);
  return progress;
}

/** An error that comes as an event: once text was told, the work was done and is no refusal any more. */
function faultOfEvent(code: string | null | undefined, wasTold: boolean): ProviderFault {
  const reason = REASONS[code ?? ""];
  const kind = wasTold ? "failed" : code === "rate_limit_exceeded" ? "capacity" : (reason?.kind ?? "failed");
  const message = reason?.message ?? "OpenAI failed while working on the request.";
  return new ProviderFault(kind, "attempted", message);
}

function toProgress(call: TextCall, reply: HttpReply, io: ProviderIo) {
  const answer = parseReply(ResponsesReply, reply, io);
  const usage = toUsage(answer.usage);
  const providerRequestId = requestIdOf(reply, io) ?? safeWord(answer.id, io);
  if (answer.status !== "completed" && answer.status !== "incomplete") {
    throw new ProviderFault("failed", "attempted", "OpenAI could not complete the response.", {
      status: reply.status,
      usage,
      ...(providerRequestId ? { providerRequestId } : {}),
    });
  }
  return {
    state: "done" as const,
    result: toTextResult(answer, call.responseFormat),
    usage,
    providerRequestId,
    providerModel: safeWord(answer.model, io),
    ...toTier(answer.service_tier),
    httpStatus: reply.status,
  };
}

// ---- the provider

const REASONING_MODEL = {
  jsonObject: true,
  jsonSchema: true,
  reasoning: true,
  tools: true,
  stream: true,
  deferred: true,
  vision: true,
};
/** High detail: at most 2,500 patches of 32 pixels, 1.2 tokens each. */
const PICTURE = { imageTokens: 3_000 };
/** Flex processing, at half the token rates. */
const FLEX = { flexDiscountBps: 5_000 };

export default defineProvider({
  name: "openai",
  title: "OpenAI",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An API key of an OpenAI project.") }),
  environment: { credentials: { apiKey: "OPENAI_API_KEY" }, baseUrl: "OPENAI_BASE_URL" },
  defaultBaseUrl: "https://api.openai.com/v1",
  models: [
    {
      id: "gpt-5.6-luna",
      port: "text",
      title: "GPT-5.6 Luna",
      price: { per: "million_tokens", input: 1_000_000, cachedInput: 100_000, output: 6_000_000, ...FLEX },
      contextWindow: 400_000,
      tokenizer: "o200k_base",
      maxOutputTokens: 128_000,
      grades: ["fast", "reasoning"],
      ...PICTURE,
      supports: REASONING_MODEL,
    },
    {
      id: "gpt-5.6-terra",
      port: "text",
      title: "GPT-5.6 Terra",
      price: { per: "million_tokens", input: 2_500_000, cachedInput: 250_000, output: 15_000_000, ...FLEX },
      contextWindow: 400_000,
      tokenizer: "o200k_base",
      maxOutputTokens: 128_000,
      grades: ["reasoning", "longform"],
      ...PICTURE,
      supports: REASONING_MODEL,
    },
    {
      id: "gpt-5.6-sol",
      port: "text",
      title: "GPT-5.6 Sol",
      price: { per: "million_tokens", input: 5_000_000, cachedInput: 500_000, output: 30_000_000, ...FLEX },
      contextWindow: 1_050_000,
      tokenizer: "o200k_base",
      maxOutputTokens: 128_000,
      grades: ["reasoning", "frontier", "longform"],
      ...PICTURE,
      supports: REASONING_MODEL,
    },
    {
      id: "gpt-4.1-mini",
      port: "text",
      title: "GPT-4.1 mini",
      price: { per: "million_tokens", input: 400_000, cachedInput: 100_000, output: 1_600_000 },
      contextWindow: 1_047_576,
      tokenizer: "o200k_base",
      maxOutputTokens: 32_768,
      grades: ["fast"],
      // High detail: at most 1,536 patches of 32 pixels, 1.62 tokens each.
      imageTokens: 2_489,
      supports: {
        jsonObject: true,
        jsonSchema: true,
        temperature: true,
        tools: true,
        stream: true,
        vision: true,
      },
    },
    ...imageModels,
    ...speechModels,
  ],
  text: { api: "responses", submit: submitText, stream: streamText },
  image,
  speech,
  check,
});
