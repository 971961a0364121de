import { z } from "zod";
import type { AudioResult, Progress, ProviderIo, Usage } from "../define";
import { requireFile } from "../file-answer";
import { type Explanation, type FileReply, postForFile, safeWord } from "../http";
import { addUsages, inTurn } from "../takes";

/* Parts that ElevenLabs' three ports share: one request makes one take, and the answer is the file. */

const Word = z.string().nullish();
const ErrorReply = z.object({ detail: z.object({ status: Word, code: Word, type: Word }) });

/** Our texts for the vendor's error codes; its own text may quote the request. */
const REASONS: Record<string, Explanation> = {
  invalid_api_key: { message: "ElevenLabs does not accept the API key." },
  missing_permissions: { message: "The ElevenLabs API key lacks a permission that this needs." },
  quota_exceeded: { kind: "refused", message: "The ElevenLabs account has no credits left." },
  payment_required: { kind: "refused", message: "The ElevenLabs account's plan does not include this." },
  voice_not_found: { message: "The ElevenLabs account has no voice with this id." },
  model_not_found: { message: "The ElevenLabs account has no access to this model." },
  max_character_limit_exceeded: { message: "The text is longer than the model allows." },
  content_policy_violation: { message: "ElevenLabs rejected the prompt under its content policy." },
  bad_prompt: { message: "ElevenLabs rejected the prompt under its content policy." },
  too_many_concurrent_requests: {
    kind: "capacity",
    message: "The ElevenLabs account has reached its limit of concurrent requests.",
  },
  concurrent_limit_exceeded: {
    kind: "capacity",
    message: "The ElevenLabs account has reached its limit of concurrent requests.",
  },
  rate_limit_exceeded: { kind: "capacity", message: "ElevenLabs' rate limit is reached." },
  system_busy: { kind: "capacity", message: "ElevenLabs is overloaded." },
};

export function explainElevenLabsError({ body }: { body: unknown }): Explanation | undefined {
  const parsed = ErrorReply.safeParse(body);
  if (!parsed.success) return undefined;
  const { status, code, type } = parsed.data.detail;
  return [status, code, type].flatMap((word) => REASONS[word ?? ""] ?? [])[0];
}

export const elevenLabsHeaders = (io: Pick<ProviderIo, "credentials">) => ({
  "xi-api-key": io.credentials.apiKey?.reveal() ?? "",
});

const MOST_FILE_BYTES = 96 * 1024 * 1024;

/** Makes one request per take; the body of each is built when its turn comes. */
export function requestTakes(
  io: ProviderIo,
  path: string,
  {
    count,
    bodyOf,
    usageOf,
  }: { count: number; bodyOf: (take: number) => object; usageOf: (reply: FileReply) => Usage | null },
): Promise<Progress<AudioResult>> {
  let next = 0;
  const take = async () => {
    const answer = await postForFile(io, path, {
      body: bodyOf(next++),
      headers: elevenLabsHeaders(io),
      explain: explainElevenLabsError,
      maxResponseBytes: MOST_FILE_BYTES,
    });
    const reply = requireFile(answer, io, { vendor: "ElevenLabs", explain: explainElevenLabsError });
    const { bytes, mediaType } = reply;
    return {
      state: "done" as const,
      result: { takes: [{ bytes, mediaType }] },
      usage: usageOf(reply),
      providerRequestId: safeWord(reply.header("request-id"), io),
      providerModel: null,
      httpStatus: reply.status,
    };
  };
  const join = (results: AudioResult[]) => ({ takes: results.flatMap(({ takes }) => takes) });
  return inTurn(count, take, join, addUsages);
}

/** Cost of a take in the vendor's credits; null if the answer does not report it. */
export function creditsOf(reply: FileReply): number | null {
  const credits = Number(reply.header("character-cost") ?? Number.NaN);
  return Number.isFinite(credits) && credits >= 0 ? credits : null;
}
