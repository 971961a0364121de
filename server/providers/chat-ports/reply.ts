import { z } from "zod";
import { isObject } from "@/server/platform/text/json";
import {
  Count,
  CountsOf,
  figures,
  Id,
  isCount,
  mergeUsage,
  outputTokens,
  sumOf,
  toCostMicros,
} from "../counts";
import type { Delivered, ProviderIo, TextChoice, ToolCall, Usage } from "../define";
import { deliveredOf, finishOf, type Reported, reported } from "../ends";
import type { Explain } from "../faults";
import { type HttpReply, parseAnswer, parseReply, safeWord } from "../http";
import { opaqueOfCall, opaqueOfMessage } from "../opaque";
import { toTier } from "../openai-ports/common";
import { wordsOrRefusal } from "../text-call";

/* Reads answers of servers with chat completions; unknown fields are ignored. */

const Text = z.string().nullish();

/** A text, or a list of parts. Mistral sends its reasoning as parts too. */
const ChatReplyContent = z
  .union([
    z.string(),
    z.array(
      z.union([
        z.string(),
        z.looseObject({ type: Text, text: z.unknown().optional(), thinking: z.unknown().optional() }),
      ]),
    ),
  ])
  .nullish();
export type ChatReplyContent = z.output<typeof ChatReplyContent>;

/** A tool call. Its arguments are JSON text; some servers send the value itself. */
const ChatReplyToolCall = z.looseObject({
  id: Id.nullish(),
  index: z.int().nullish(),
  function: z.object({ name: Text, arguments: z.unknown().optional() }).nullish(),
});
export type ChatReplyToolCall = z.output<typeof ChatReplyToolCall>;

/** A message, complete or as a piece of a stream. */
export const ChatReplyMessage = z.looseObject({
  content: ChatReplyContent,
  refusal: Text,
  /** Reasoning, under DeepSeek's name and under OpenRouter's. */
  reasoning_content: Text,
  reasoning: Text,
  tool_calls: z.array(ChatReplyToolCall).nullish(),
});
export type ChatReplyMessage = z.output<typeof ChatReplyMessage>;

export const ChatReply = z.object({
  id: Id.nullish(),
  model: Text,
  choices: z
    .array(z.object({ index: z.int().nullish(), finish_reason: Text, message: ChatReplyMessage }))
    .min(1),
});
export type ChatReply = z.output<typeof ChatReply>;

/** The joined text parts of a content, and its reasoning separately. */
export function contentParts(content: ChatReplyContent): { text: string; reasoning: string } {
  if (typeof content === "string") return { text: content, reasoning: "" };
  const said = { text: "", reasoning: "" };
  for (const part of content ?? []) {
    if (typeof part === "string") said.text += part;
    else if (part.type === "thinking") said.reasoning += wordsIn(part.thinking);
    else said.text += wordsIn(part.text);
  }
  return said;
}

const Words = z.array(z.object({ text: z.string() }));
function wordsIn(value: unknown): string {
  if (typeof value === "string") return value;
  const parts = Words.safeParse(value);
  return parts.success ? parts.data.map(({ text }) => text).join("") : "";
}

/** Arguments as JSON text. An object is serialized, and missing arguments become an empty object. */
export const argumentsText = (given: unknown): string =>
  typeof given === "string" ? given.trim() || "{}" : JSON.stringify(given ?? {});

type Before = { usage: Usage | null; hasEnded: boolean };

/** The answers by index, and everything that was written in them. */
function readResult({ choices }: ChatReply, { usage, hasEnded }: Before): Reported {
  const inOrder = choices.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0)).map(written);
  const all = (kind: keyof Delivered) => inOrder.map(({ delivered }) => delivered[kind]).join("");
  const delivered = deliveredOf({ text: all("text"), reasoning: all("reasoning"), calls: all("calls") });
  const before = { usage, delivered };
  const [first, ...others] = inOrder.map(({ word, text, refusal, toolCalls, opaque }): TextChoice => {
    const hasContent = text !== "" || toolCalls.length > 0;
    const finish = finishOf({ word, hasEnded, hasContent }, before);
    return { ...wordsOrRefusal(text, refusal, toolCalls), ...finish, toolCalls, ...(opaque && { opaque }) };
  });
  if (!first) throw new Error("a reply has a choice"); // the schema requires one
  return { result: { ...first, ...(others.length > 0 ? { others } : {}) }, ...reported(before) };
}

function written({ message, finish_reason }: ChatReply["choices"][number]) {
  const { text, reasoning: inParts } = contentParts(message.content);
  const reasoning = inParts || message.reasoning_content || message.reasoning || "";
  const toolCalls = (message.tool_calls ?? []).map((given): ToolCall => {
    const { id, function: call } = given;
    const opaque = opaqueOfCall(given);
    const called = { id: id ?? "", name: call?.name ?? "", arguments: argumentsText(call?.arguments) };
    return opaque ? { ...called, opaque } : called;
  });
  const calls = toolCalls.map((call) => call.name + call.arguments).join("");
  const refusal = message.refusal ?? "";
  const delivered: Delivered = { text: text + refusal, reasoning, calls };
  const opaque = opaqueOfMessage({ ...message, ...partsToKeep(message.content) });
  return { word: finish_reason ?? null, text, refusal, toolCalls, opaque, delivered };
}

/**
 * Keeps the content as parts if reasoning is among them, because Mistral wants its reasoning back inside the content.
 */
const partsToKeep = (content: ChatReplyContent): { content_parts?: unknown } =>
  isWords(content) && content.some((part) => part.type === "thinking") ? { content_parts: content } : {};

/**
 * Is the content a list of only text and reasoning parts, so without pictures or anything else that a server would
 * fetch?
 */
const isWords = (
  content: ChatReplyContent,
): content is Exclude<NonNullable<ChatReplyContent>[number], string>[] =>
  Array.isArray(content) &&
  content.every((part) => typeof part !== "string" && /^(text|thinking)$/.test(part.type ?? ""));

/**
 * The parts of an earlier answer with this text; null if it had none or they differ from the text. Cache marks are
 * removed, because their price has no bound.
 */
export function keptParts(parts: unknown, text: string): ChatReplyContent {
  const content = ChatReplyContent.safeParse(parts).data;
  if (!isWords(content) || contentParts(content).text !== text) return null;
  return content.map(({ cache_control: _, ...part }) => part);
}

// ---- usage

const UsageReply = CountsOf({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: CountsOf({ cached_tokens: Count }),
  completion_tokens_details: CountsOf({ reasoning_tokens: Count }),
  /** Perplexity counts reasoning separately from the output. */
  reasoning_tokens: Count,
  /** DeepSeek and Moonshot report cache hits here. */
  prompt_cache_hit_tokens: Count,
  cached_tokens: Count,
  /** Names of Anthropic and of the Responses API. */
  input_tokens: Count,
  output_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  input_tokens_details: CountsOf({ cached_tokens: Count }),
  output_tokens_details: CountsOf({ reasoning_tokens: Count }),
  /** Names of Gemini. */
  promptTokenCount: Count,
  candidatesTokenCount: Count,
  thoughtsTokenCount: Count,
  cachedContentTokenCount: Count,
  totalTokenCount: Count,
  /**
   * In US dollars, or parts with their total. With the caller's own upstream key, the upstream's cost is reported
   * beside it.
   */
  cost: z.unknown().optional(),
  is_byok: z.unknown().optional(),
  cost_details: z.object({ upstream_inference_cost: z.unknown().optional() }).nullish().catch(null),
});

const Places = z.object({
  usage: UsageReply,
  usageMetadata: UsageReply,
  x_groq: z.object({ usage: UsageReply }).nullish().catch(null),
  choices: z
    .array(z.object({ usage: UsageReply }).nullish().catch(null))
    .nullish()
    .catch(null),
});

/** The usage in a complete answer or a chunk, from all the places in `Places`. Null if there is none. */
export function readUsage(body: unknown): Usage | null {
  const found = Places.safeParse(body);
  if (!found.success) return null;
  const { usage, usageMetadata, x_groq, choices } = found.data;
  return [usage, usageMetadata, x_groq?.usage, ...(choices ?? []).map((choice) => choice?.usage)]
    .map(toUsage)
    .reduce(mergeUsage, null);
}

function toUsage(usage: z.output<typeof UsageReply>): Usage | null {
  if (!usage) return null;
  // Anthropic's input count excludes tokens that its cache wrote and read.
  const anthropics = isCount(usage.input_tokens)
    ? sumOf(usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    : undefined;
  const input = usage.prompt_tokens ?? anthropics ?? usage.promptTokenCount;
  const reasoning =
    usage.completion_tokens_details?.reasoning_tokens ??
    usage.output_tokens_details?.reasoning_tokens ??
    usage.reasoning_tokens ??
    usage.thoughtsTokenCount;
  const cached =
    usage.prompt_tokens_details?.cached_tokens ??
    usage.prompt_cache_hit_tokens ??
    usage.cached_tokens ??
    usage.input_tokens_details?.cached_tokens ??
    usage.cache_read_input_tokens ??
    usage.cachedContentTokenCount;
  const output = usage.completion_tokens ?? usage.output_tokens ?? usage.candidatesTokenCount;
  const reported = figures({
    inputTokens: input,
    cachedInputTokens: isCount(cached) && isCount(input) ? Math.min(cached, input) : cached,
    outputTokens: outputTokens({
      input,
      output,
      reasoning,
      total: usage.total_tokens ?? usage.totalTokenCount,
    }),
    reasoningTokens: reasoning,
    reportedCostMicros: costOf(usage),
  });
  return Object.keys(reported).length === 0 ? null : reported;
}

/**
 * The gateway's bill. The upstream's bill is added if the caller's own upstream key was used, and counts alone if the
 * gateway reports none or zero. Null if neither is reported.
 */
function costOf({ cost, is_byok, cost_details }: NonNullable<z.output<typeof UsageReply>>): number | null {
  const billed = toCostMicros(isObject(cost) ? cost.total_cost : cost);
  const upstream = toCostMicros(cost_details?.upstream_inference_cost);
  if (upstream === null) return billed;
  return is_byok === true || !billed ? (billed ?? 0) + upstream : billed;
}

// ---- complete answers

/** Reads a complete answer, for the text port and for pins. */
export function readChat(reply: HttpReply, io: ProviderIo, explain?: Explain) {
  const answer = parseAnswer(ChatReply, reply, io, explain);
  return toChatProgress({ answer, usage: readUsage(reply.body), hasEnded: true }, reply, io);
}

/**
 * Turns an answer and its usage into a call's progress. Without the protocol's end mark, its finish reason must be a
 * known one.
 */
export function toChatProgress(
  { answer, ...before }: Before & { answer: ChatReply },
  { header, status }: Pick<HttpReply, "header" | "status">,
  io: ProviderIo,
) {
  return {
    state: "done" as const,
    ...readResult(answer, before),
    providerRequestId: safeWord(header("x-request-id"), io) ?? safeWord(answer.id, io),
    providerModel: safeWord(answer.model, io),
    httpStatus: status,
  };
}

const Evidence = z.object({
  /** Fingerprint of the configuration that answered. */
  system_fingerprint: z.string().nullish(),
  /** The tier that ran, whichever was requested. */
  service_tier: z.string().nullish(),
});

/** Fields about how the answer was made; only pins store them. */
export function readEvidence(reply: HttpReply, io: ProviderIo) {
  const { system_fingerprint, service_tier } = parseReply(Evidence, reply, io);
  return { fingerprint: safeWord(system_fingerprint, io), ...toTier(service_tier) };
}
