import { z } from "zod";
import { Count, CountsOf, figures, Id, outputTokens, sumOf } from "../counts";
import type { ProviderIo, Usage } from "../define";
import { deliveredOf, finishOf, type Reported, reported } from "../ends";
import { type Explanation, type HttpReply, parseAnswer, safeWord } from "../http";
import { toArguments } from "../text-call";

export const Figures = CountsOf({
  /** Without tokens that were written to or read from a cache. */
  input_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_creation: CountsOf({ ephemeral_1h_input_tokens: Count }),
  cache_read_input_tokens: Count,
  output_tokens: Count,
  output_tokens_details: CountsOf({ thinking_tokens: Count }),
});
export const Block = z.object({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  /** Signature of a thinking block, and its encrypted data if the thinking is hidden. */
  signature: z.string().nullish(),
  data: z.string().nullish(),
  id: Id.nullish(),
  name: z.string().nullish(),
  input: z.unknown().optional(),
});

export const AnthropicReplyMessage = z.object({
  id: Id.nullish(),
  model: z.string().nullish(),
  /** Some gateways send plain text. */
  content: z
    .union([
      z.array(Block),
      z.string().transform((text) => [{ type: "text", text } as z.output<typeof Block>]),
    ])
    .nullish(),
  stop_reason: z.string().nullish(),
  usage: Figures,
});
export type AnthropicReplyMessage = z.output<typeof AnthropicReplyMessage>;

const REASONS: Record<string, Explanation> = {
  authentication_error: { message: "Anthropic does not accept the API key." },
  permission_error: { message: "The Anthropic API key does not have permission for this." },
  billing_error: { message: "The Anthropic account has a billing problem." },
  not_found_error: { message: "The Anthropic account has no access to this model." },
  request_too_large: { message: "The request is larger than Anthropic allows." },
  rate_limit_error: { message: "Anthropic's rate limit is reached." },
  overloaded_error: { kind: "capacity", message: "Anthropic is overloaded." },
};

const ErrorReply = z.object({ error: z.object({ type: z.string().nullish() }) });

/** Our texts for the vendor's error types; the vendor's own text may quote the request. */
export function explainAnthropicError({ body }: { body: unknown }): Explanation | undefined {
  const parsed = ErrorReply.safeParse(body);
  return parsed.success ? REASONS[parsed.data.error.type ?? ""] : undefined;
}

function readResult(
  { content: given, stop_reason }: AnthropicReplyMessage,
  usage: Usage | null,
  hasEnded: boolean,
): Reported {
  const content = given ?? [];
  const text = content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
  const reasoning = content
    .map(({ type, thinking }) => (type === "thinking" ? (thinking ?? "") : ""))
    .join("");
  const toolCalls = content
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }) => ({ id: id ?? "", name: name ?? "", arguments: toArguments(input) }));
  const calls = toolCalls.map((call) => call.name + call.arguments).join("");
  const before = { usage, delivered: deliveredOf({ text, reasoning, calls }) };
  const hasContent = text !== "" || toolCalls.length > 0;
  const finish = finishOf({ word: stop_reason ?? null, hasEnded, hasContent }, before);
  const thinking = thinkingIn(content);
  const opaque = thinking.length > 0 ? { opaque: { thinking_blocks: thinking } } : {};
  return { result: { text, ...finish, toolCalls, ...opaque }, ...reported(before) };
}

/** Thinking in the form that the vendor wants back: signed or encrypted. */
const Thinking = z.union([
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().min(1) }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
]);

/** The thinking blocks that are signed or encrypted; none if `blocks` is not a list. */
export const thinkingIn = (blocks: unknown): z.output<typeof Thinking>[] =>
  (Array.isArray(blocks) ? blocks : []).flatMap((block) => Thinking.safeParse(block).data ?? []);

/** The token counts that an answer or an event reports. */
export type ReportedFigures = {
  fresh?: number;
  written?: number;
  writtenForAnHour?: number;
  read?: number;
  output?: number;
  thinking?: number;
};

export function toReportedFigures(usage: z.output<typeof Figures>): ReportedFigures | null {
  if (!usage) return null;
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  const figures = {
    fresh: input_tokens,
    written: cache_creation_input_tokens,
    writtenForAnHour: usage.cache_creation?.ephemeral_1h_input_tokens,
    read: cache_read_input_tokens,
    output: output_tokens,
    thinking: usage.output_tokens_details?.thinking_tokens,
  };
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => typeof value === "number"));
}

/** Cached tokens count as input and thinking counts as output, as for every provider here. */
export function toAnthropicUsage(counts: ReportedFigures | null): Usage | null {
  if (!counts) return null;
  const { fresh, written, writtenForAnHour, read, output, thinking } = counts;
  return figures({
    inputTokens: fresh === undefined ? undefined : sumOf(fresh, written, read),
    cachedInputTokens: read,
    cacheWriteTokens: written || undefined,
    cacheWriteHourTokens: writtenForAnHour || undefined,
    outputTokens: outputTokens({ output, reasoning: thinking }),
    reasoningTokens: thinking,
  });
}

/**
 * Reads a complete message. For a stream, `gathered` has the usage from its events and whether the last one arrived.
 */
export function toAnthropicProgress(
  reply: HttpReply,
  io: ProviderIo,
  gathered?: { usage: Usage | null; hasEnded: boolean },
) {
  const answer = parseAnswer(AnthropicReplyMessage, reply, io, explainAnthropicError);
  const { usage, hasEnded } = gathered ?? {
    usage: toAnthropicUsage(toReportedFigures(answer.usage)),
    hasEnded: true,
  };
  return {
    state: "done" as const,
    ...readResult(answer, usage, hasEnded),
    providerRequestId: safeWord(reply.header("request-id"), io) ?? safeWord(answer.id, io),
    providerModel: safeWord(answer.model, io),
    httpStatus: reply.status,
  };
}
