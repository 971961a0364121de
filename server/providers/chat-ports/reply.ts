import { z } from "zod";
import { Count, CountsOf, figures, toCostMicros } from "../counts";
import type { ProviderIo, TextChoice, TextResult } from "../define";
import { type HttpReply, parseReply, safeWord } from "../http";
import { toTier } from "../openai-ports/common";

/* What a server that speaks chat completions answers; unknown fields are passed over. */

export const ChatReply = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({
                id: z.string().nullish(),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: CountsOf({
    prompt_tokens: Count,
    prompt_tokens_details: CountsOf({ cached_tokens: Count }),
    completion_tokens: Count,
    completion_tokens_details: CountsOf({ reasoning_tokens: Count }),
    /** Where DeepSeek says what came from its cache. */
    prompt_cache_hit_tokens: Count,
    /** In US dollars; gateways name it. */
    cost: z.unknown().optional(),
  }),
});
export type ChatReply = z.output<typeof ChatReply>;

const FINISH_REASONS: Record<string, TextResult["finishReason"]> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

function toTextResult({ choices: [first, ...others] }: ChatReply): TextResult {
  return { ...toChoice(first), ...(others.length > 0 ? { others: others.map(toChoice) } : {}) };
}

function toChoice(choice: ChatReply["choices"][number] | undefined): TextChoice {
  const toolCalls = (choice?.message.tool_calls ?? []).map((call) => ({
    id: call.id ?? "",
    name: call.function.name,
    arguments: call.function.arguments,
  }));
  return {
    text: choice?.message.content || choice?.message.refusal || "",
    // Some servers leave the reason out of a whole answer.
    finishReason: FINISH_REASONS[choice?.finish_reason ?? "stop"] ?? "other",
    toolCalls,
  };
}

function toUsage(usage: ChatReply["usage"]) {
  if (!usage) return null;
  const reportedCostMicros = toCostMicros(usage.cost);
  return {
    ...figures({
      inputTokens: usage.prompt_tokens,
      cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens,
      outputTokens: usage.completion_tokens,
      reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
    }),
    ...(reportedCostMicros === null ? {} : { reportedCostMicros }),
  };
}

/** Reads an answer, for the text port and for pins. */
export function readChat(reply: HttpReply, io: ProviderIo) {
  const answer = parseReply(ChatReply, reply, io);
  return {
    state: "done" as const,
    result: toTextResult(answer),
    usage: toUsage(answer.usage),
    providerRequestId: safeWord(reply.header("x-request-id"), io) ?? safeWord(answer.id, io),
    providerModel: safeWord(answer.model, io),
    httpStatus: reply.status,
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
