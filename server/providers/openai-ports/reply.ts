import { z } from "zod";
import { ProviderFault, type ProviderIo, type ResponseFormat, type TextResult } from "../define";
import { type HttpReply, parseReply, safeWord } from "../http";
import { vendorWords } from "../vendor-words";
import { requestIdOf, TokenUsage, toTier, toUsage } from "./common";

/* What the Responses API answers; unknown fields are passed over. */

const ResponsesReply = z.object({
  id: z.string(),
  model: z.string().nullish(),
  status: z.string(),
  /** The tier that was used, whatever was asked for. */
  service_tier: z.string().nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  error: z.unknown().optional(),
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
  usage: TokenUsage,
});
type ResponsesReply = z.output<typeof ResponsesReply>;

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

/** Reads an answer of the Responses API, for the text port and for pins; `vendor` is who failed, should it say so. */
export function readResponse(reply: HttpReply, io: ProviderIo, format: ResponseFormat, vendor = "OpenAI") {
  const answer = parseReply(ResponsesReply, reply, io);
  const usage = toUsage(answer.usage);
  const providerRequestId = requestIdOf(reply, io) ?? safeWord(answer.id, io);
  if (answer.status !== "completed" && answer.status !== "incomplete") {
    throw new ProviderFault("failed", "attempted", `${vendor} could not complete the response.`, {
      status: reply.status,
      usage,
      vendor: vendorWords({ error: answer.error }, io),
      ...(providerRequestId ? { providerRequestId } : {}),
    });
  }
  return {
    state: "done" as const,
    result: toTextResult(answer, format),
    usage,
    providerRequestId,
    providerModel: safeWord(answer.model, io),
    ...toTier(answer.service_tier),
    httpStatus: reply.status,
  };
}
