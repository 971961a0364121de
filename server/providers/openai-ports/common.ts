import { z } from "zod";
import { Count, CountsOf, figures } from "../counts";
import type { ProviderIo, Tier } from "../define";
import { type Explanation, type HttpReply, safeWord } from "../http";

/* What every port of OpenAI shares: who asks, what it says went wrong, what it says it used. */

export const TokenUsage = CountsOf({
  input_tokens: Count,
  input_tokens_details: CountsOf({ cached_tokens: Count }),
  output_tokens: Count,
  output_tokens_details: CountsOf({ reasoning_tokens: Count }),
});
type TokenUsage = z.output<typeof TokenUsage>;

const ErrorReply = z.object({
  error: z.object({ code: z.string().nullish(), type: z.string().nullish() }),
});

/** The vendor's error codes in our words; its own text may quote the request or the key. */
export const REASONS: Record<string, Explanation> = {
  invalid_api_key: { message: "OpenAI does not accept the API key." },
  insufficient_quota: { kind: "refused", message: "The OpenAI account has no credit left." },
  billing_hard_limit_reached: {
    kind: "refused",
    message: "The OpenAI account has reached its billing limit.",
  },
  rate_limit_exceeded: { message: "OpenAI's rate limit is reached." },
  model_not_found: { message: "The OpenAI account has no access to this model." },
  context_length_exceeded: { message: "The request is longer than the model's context." },
  invalid_json_schema: { message: "OpenAI does not accept the response schema." },
  invalid_prompt: { message: "OpenAI refused the prompt." },
  content_policy_violation: { message: "OpenAI refused the prompt under its content policy." },
  moderation_blocked: { message: "OpenAI refused the prompt under its content policy." },
  unsupported_parameter: { message: "The model does not take one of the parameters." },
  unsupported_value: { message: "The model does not take the value of one of the parameters." },
};

/** Shared with providers that speak the same error bodies. */
export function explainOpenAiError({ body }: { body: unknown }): Explanation | undefined {
  const parsed = ErrorReply.safeParse(body);
  if (!parsed.success) return undefined;
  const { code, type } = parsed.data.error;
  return REASONS[code ?? ""] ?? REASONS[type ?? ""];
}

export const headers = (io: ProviderIo) => ({
  authorization: `Bearer ${io.credentials.apiKey?.reveal() ?? ""}`,
  "x-client-request-id": io.attemptId,
});

/** Figures the vendor gave, none it did not. Cached tokens are part of input, reasoning tokens part of output. */
export function toUsage(usage: TokenUsage) {
  if (!usage) return null;
  return figures({
    inputTokens: usage.input_tokens,
    cachedInputTokens: usage.input_tokens_details?.cached_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens,
  });
}

export const requestIdOf = (reply: HttpReply, io: ProviderIo) => safeWord(reply.header("x-request-id"), io);

/** Only what the vendor calls flex has the price of flex. */
export function toTier(word: string | null | undefined): { tier?: Tier } {
  if (!word || word === "auto") return {};
  return { tier: word === "flex" ? "flex" : "standard" };
}
