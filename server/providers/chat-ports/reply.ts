import { z } from "zod";
import { isObject } from "@/server/platform/text/json";
import { Count, CountsOf, figures, Id, isCount, mergeUsage, outputOf, sumOf, toCostMicros } from "../counts";
import type { Delivered, ProviderIo, TextChoice, ToolCall, Usage } from "../define";
import { deliveredOf, finishOf, type Reported, reported } from "../ends";
import type { Explain } from "../faults";
import { type HttpReply, parseAnswer, parseReply, safeWord } from "../http";
import { opaqueOfCall, opaqueOfMessage } from "../opaque";
import { toTier } from "../openai-ports/common";
import { wordsOrRefusal } from "../text-call";

/* What a server that speaks chat completions answers; unknown fields are passed over. */

const Text = z.string().nullish();

/** Text, or a list of parts of which some are text; Mistral writes its thinking as parts, too. */
const Content = z
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
export type Content = z.output<typeof Content>;

/** A call of a tool. Its arguments are JSON text, or the value itself from some servers. */
const Call = z.looseObject({
  id: Id.nullish(),
  index: z.int().nullish(),
  function: z.object({ name: Text, arguments: z.unknown().optional() }).nullish(),
});
export type Call = z.output<typeof Call>;

/** What a model wrote, whole or as a piece of a stream. */
export const Message = z.looseObject({
  content: Content,
  refusal: Text,
  /** Reasoning under the names of DeepSeek and of OpenRouter. */
  reasoning_content: Text,
  reasoning: Text,
  tool_calls: z.array(Call).nullish(),
});
export type Message = z.output<typeof Message>;

export const ChatReply = z.object({
  id: Id.nullish(),
  model: Text,
  choices: z.array(z.object({ index: z.int().nullish(), finish_reason: Text, message: Message })).min(1),
});
export type ChatReply = z.output<typeof ChatReply>;

/** The text parts of a content, joined, and its thinking apart from them. */
export function partsOf(content: Content): { text: string; reasoning: string } {
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

/** Arguments as JSON text: an object is written as one, and none are an empty object. */
export const argumentsText = (given: unknown): string =>
  typeof given === "string" ? given.trim() || "{}" : JSON.stringify(given ?? {});

type Before = { usage: Usage | null; hasEnded: boolean };

/** The answers in their order, and all that was written in them. */
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
  if (!first) throw new Error("a reply has a choice"); // by its schema
  return { result: { ...first, ...(others.length > 0 ? { others } : {}) }, ...reported(before) };
}

function written({ message, finish_reason }: ChatReply["choices"][number]) {
  const { text, reasoning: inParts } = partsOf(message.content);
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

/** The content itself, where it is more than text: Mistral wants its thinking back inside it. */
const partsToKeep = (content: Content): { content_parts?: unknown } =>
  isWords(content) && content.some((part) => part.type === "thinking") ? { content_parts: content } : {};

/** Nothing but words: no picture, and nothing that a server would fetch. */
const isWords = (content: Content): content is Exclude<NonNullable<Content>[number], string>[] =>
  Array.isArray(content) &&
  content.every((part) => typeof part !== "string" && /^(text|thinking)$/.test(part.type ?? ""));

/**
 * The content that an answer of this text had as parts; null: it had none, or they say something else. A mark for the server's
 * cache is no part of an answer, and what it writes there is outside every bound of price.
 */
export function keptParts(parts: unknown, text: string): Content {
  const content = Content.safeParse(parts).data;
  if (!isWords(content) || partsOf(content).text !== text) return null;
  return content.map(({ cache_control: _, ...part }) => part);
}

// ---- usage

const UsageReply = CountsOf({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: CountsOf({ cached_tokens: Count }),
  completion_tokens_details: CountsOf({ reasoning_tokens: Count }),
  /** Perplexity counts it beside the output. */
  reasoning_tokens: Count,
  /** Where DeepSeek and Moonshot report what came from their caches. */
  prompt_cache_hit_tokens: Count,
  cached_tokens: Count,
  /** The names of Anthropic and of the Responses API. */
  input_tokens: Count,
  output_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  input_tokens_details: CountsOf({ cached_tokens: Count }),
  output_tokens_details: CountsOf({ reasoning_tokens: Count }),
  /** The names of Gemini. */
  promptTokenCount: Count,
  candidatesTokenCount: Count,
  thoughtsTokenCount: Count,
  cachedContentTokenCount: Count,
  totalTokenCount: Count,
  /** In US dollars, or its parts with their total. With a key of the caller's own the upstream's cost is beside it. */
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

/** The usage that a whole answer or a chunk reports, at every place where servers put it. */
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
  // Anthropic's input is without what its cache wrote and read.
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
    outputTokens: outputOf({ input, output, reasoning, total: usage.total_tokens ?? usage.totalTokenCount }),
    reasoningTokens: reasoning,
    reportedCostMicros: costOf(usage),
  });
  return Object.keys(reported).length === 0 ? null : reported;
}

/** What the gateway bills and, with a key of the caller's own, what its upstream bills the caller. */
function costOf({ cost, is_byok, cost_details }: NonNullable<z.output<typeof UsageReply>>): number | null {
  const billed = toCostMicros(isObject(cost) ? cost.total_cost : cost);
  const upstream = toCostMicros(cost_details?.upstream_inference_cost);
  if (upstream === null) return billed;
  return is_byok === true || !billed ? (billed ?? 0) + upstream : billed;
}

// ---- the whole answer

/** Reads an answer, for the text port and for pins. */
export function readChat(reply: HttpReply, io: ProviderIo, explain?: Explain) {
  const answer = parseAnswer(ChatReply, reply, io, explain);
  return toProgress({ answer, usage: readUsage(reply.body), hasEnded: true }, reply, io);
}

/** An answer with its usage as the progress of a call; without the end of its dialect its own reason has to be known. */
export function toProgress(
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
  /** The configuration that answered. */
  system_fingerprint: z.string().nullish(),
  /** The tier that was used, whatever was asked for. */
  service_tier: z.string().nullish(),
});

/** What an answer says of how it was made, which only pins keep. */
export function readEvidence(reply: HttpReply, io: ProviderIo) {
  const { system_fingerprint, service_tier } = parseReply(Evidence, reply, io);
  return { fingerprint: safeWord(system_fingerprint, io), ...toTier(service_tier) };
}
