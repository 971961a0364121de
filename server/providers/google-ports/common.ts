import { z } from "zod";
import { Count, CountsOf, figures, Id, outputTokens, sumOf } from "../counts";
import type { Opaque, ProviderIo, Usage } from "../define";
import { type Explanation, type HttpReply, parseAnswer, safeWord } from "../http";

/* Parts that Google's ports share: headers, answers, usage and errors. */

const Part = z.object({
  text: z.string().nullish(),
  /** True for the model's reasoning, which is not part of the answer. */
  thought: z.boolean().nullish(),
  /** Google requires the signature again, in the part that it came with. */
  thoughtSignature: z.string().nullish(),
  functionCall: z
    .object({ id: Id.nullish(), name: z.string().nullish(), args: z.unknown().optional() })
    .nullish(),
  inlineData: z.object({ mimeType: z.string().nullish(), data: z.string().nullish() }).nullish(),
});

export const Generated = z.object({
  responseId: Id.nullish(),
  modelVersion: z.string().nullish(),
  candidates: z
    .array(
      z.object({
        content: z.object({ parts: z.array(Part).nullish() }).nullish(),
        finishReason: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: CountsOf({
    promptTokenCount: Count,
    cachedContentTokenCount: Count,
    candidatesTokenCount: Count,
    thoughtsTokenCount: Count,
    toolUsePromptTokenCount: Count,
    totalTokenCount: Count,
  }),
});
export type Generated = z.output<typeof Generated>;

/** Reads an answer. It must have candidates, or a reason for having none, or a usage. */
export function parseGenerated(reply: HttpReply, io: ProviderIo): Generated {
  const Answer = Generated.refine(
    ({ candidates, promptFeedback, usageMetadata }) => candidates ?? promptFeedback ?? usageMetadata,
    { path: ["candidates"] },
  );
  return parseAnswer(Answer, reply, io, explainGoogleError);
}

export const isBlocked = ({ promptFeedback }: Generated) =>
  Boolean(promptFeedback?.blockReason) && promptFeedback?.blockReason !== "BLOCK_REASON_UNSPECIFIED";

/** Sends the key in a header, because URLs are written into logs on the way. */
export const googleHeaders = ({ credentials }: Pick<ProviderIo, "credentials">) => ({
  "x-goog-api-key": credentials.apiKey?.reveal() ?? "",
});

export const modelPath = ({ model }: Pick<ProviderIo, "model">, verb: string) =>
  `/v1beta/models/${encodeURIComponent(model.id)}:${verb}`;

/** Reasoning counts as output, as for every provider here. Google omits counts of zero, so the total completes them. */
export function toGoogleUsage(usage: Generated["usageMetadata"]): Usage | null {
  if (!usage) return null;
  const input = sumOf(usage.promptTokenCount, usage.toolUsePromptTokenCount);
  const output = sumOf(usage.candidatesTokenCount, usage.thoughtsTokenCount);
  return figures({
    inputTokens: input,
    cachedInputTokens: usage.cachedContentTokenCount,
    outputTokens: outputTokens({ input, output, total: usage.totalTokenCount }),
    reasoningTokens: usage.thoughtsTokenCount,
  });
}

/** A thought signature as opaque member, where Google's own chat completions put it. */
export const toOpaque = (signature: string | null | undefined): { opaque?: Opaque } =>
  signature ? { opaque: { extra_content: { google: { thought_signature: signature } } } } : {};

const Signed = z.object({ extra_content: z.object({ google: z.object({ thought_signature: z.string() }) }) });

export const signatureIn = (opaque: Opaque | undefined): string | undefined =>
  Signed.safeParse(opaque).data?.extra_content.google.thought_signature;

export const googleReplyIds = (answer: Generated, io: ProviderIo) => ({
  providerRequestId: safeWord(answer.responseId, io),
  providerModel: safeWord(answer.modelVersion, io),
});

const ErrorReply = z.object({
  error: z.object({
    status: z.string().nullish(),
    details: z.array(z.object({ reason: z.string().nullish() })).nullish(),
  }),
});

const REASONS: Record<string, Explanation> = {
  API_KEY_INVALID: { kind: "refused", message: "Google does not accept the API key." },
  PERMISSION_DENIED: { message: "The Google API key does not have permission for this." },
  RESOURCE_EXHAUSTED: { message: "Google's rate limit or quota is reached." },
  UNAVAILABLE: { kind: "capacity", message: "Google has no capacity for this model right now." },
  NOT_FOUND: { message: "This Google account has no such model." },
  FAILED_PRECONDITION: { message: "The Google account is not set up for this (region or billing)." },
};

/** Our texts for the vendor's codes; the vendor's own text may quote the request. */
export function explainGoogleError({ body }: { body: unknown }): Explanation | undefined {
  const parsed = ErrorReply.safeParse(body);
  if (!parsed.success) return undefined;
  const { status, details } = parsed.data.error;
  const words = [...(details ?? []).map(({ reason }) => reason), status];
  return words.map((word) => REASONS[word ?? ""]).find((reason) => reason !== undefined);
}
