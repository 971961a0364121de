import { z } from "zod";
import { Count, CountsOf, figures, outputTokens } from "../counts";
import type { ProviderIo, Tier } from "../define";
import { bearer, type Explanation, type HttpReply, safeWord } from "../http";

/* Parts that OpenAI's ports share: headers, errors and usage. */

export const TokenUsage = CountsOf({
  input_tokens: Count,
  input_tokens_details: CountsOf({ cached_tokens: Count }),
  output_tokens: Count,
  output_tokens_details: CountsOf({ reasoning_tokens: Count }),
  total_tokens: Count,
});
type TokenUsage = z.output<typeof TokenUsage>;

const ErrorReply = z.object({
  error: z.object({ code: z.string().nullish(), type: z.string().nullish() }),
});

/** Our texts for the error codes of a server with OpenAI's format; its own text may quote the request or the key. */
function reasonsOf(server: string, account: string): Record<string, Explanation> {
  return {
    invalid_api_key: { message: `${server} does not accept the API key.` },
    insufficient_quota: { kind: "refused", message: `${account} has no credit left.` },
    billing_hard_limit_reached: { kind: "refused", message: `${account} has reached its billing limit.` },
    rate_limit_exceeded: { message: `${server}'s rate limit is reached.` },
    model_not_found: { message: `${account} has no access to this model.` },
    context_length_exceeded: { message: "The request is longer than the model's context window." },
    invalid_json_schema: { message: `${server} does not accept the response schema.` },
    invalid_prompt: { message: `${server} rejected the prompt.` },
    content_policy_violation: { message: `${server} rejected the prompt under its content policy.` },
    moderation_blocked: { message: `${server} rejected the prompt under its content policy.` },
    unsupported_parameter: { message: "The model does not support one of the parameters." },
    unsupported_value: { message: "The model does not support the value of one of the parameters." },
  };
}

const REASONS = reasonsOf("OpenAI", "The OpenAI account");

const explainBy =
  (reasons: Record<string, Explanation>) =>
  ({ body }: { body: unknown }): Explanation | undefined => {
    const parsed = ErrorReply.safeParse(body);
    if (!parsed.success) return undefined;
    const { code, type } = parsed.data.error;
    return reasons[code ?? ""] ?? reasons[type ?? ""];
  };

export const explainOpenAiError = explainBy(REASONS);

/** The same for a server whose name is unknown. */
export const explainCompatibleError = explainBy(reasonsOf("The provider", "The provider's account"));

export const openAiHeaders = (io: ProviderIo) => ({
  ...bearer(io),
  "x-client-request-id": io.attemptId,
});

/** The figures that the vendor reported. Cached tokens are part of input, reasoning tokens part of output. */
export function toOpenAiUsage(usage: TokenUsage) {
  if (!usage) return null;
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage;
  const reasoning = usage.output_tokens_details?.reasoning_tokens;
  return figures({
    inputTokens: input,
    cachedInputTokens: usage.input_tokens_details?.cached_tokens,
    outputTokens: outputTokens({ input, output, reasoning, total }),
    reasoningTokens: reasoning,
  });
}

export const openAiRequestId = (reply: HttpReply, io: ProviderIo) =>
  safeWord(reply.header("x-request-id"), io);

/** The tier that ran. Only the vendor's word `flex` means the flex price; `auto` or no word means unknown. */
export function toTier(word: string | null | undefined): { tier?: Tier } {
  if (!word || word === "auto") return {};
  return { tier: word === "flex" ? "flex" : "standard" };
}

/** Reasoning efforts as OpenAI spells them. */
export const EFFORTS = { economy: "low", balanced: "medium", deep: "high", maximum: "xhigh" } as const;
