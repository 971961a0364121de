import { z } from "zod";
import { Id } from "../counts";
import { type Delivered, ProviderFault, type ProviderIo, type TextResult, type Usage } from "../define";
import { deliveredOf, errorIn, finishOf, type Reported, reported, saysFailure } from "../ends";
import { type Explain, faultOfSaid } from "../faults";

import { type HttpReply, parseAnswer, parseReply, safeWord } from "../http";
import { wordsOrRefusal } from "../text-call";
import { vendorWords } from "../vendor-words";
import { openAiRequestId, TokenUsage, toOpenAiUsage, toTier } from "./common";

/* Reads answers of the Responses API; unknown fields are ignored. */

const ResponsesReply = z.object({
  id: Id,
  model: z.string().nullish(),
  status: z.string().nullish(),
  /** The tier that ran, whichever was requested. */
  service_tier: z.string().nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  error: z.unknown().optional(),
  output: z.array(
    z.object({
      type: z.string(),
      content: z
        .array(z.object({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() }))
        .nullish(),
      /** Summary of the reasoning, as text. */
      summary: z.array(z.looseObject({ text: z.string().nullish() })).nullish(),
      id: z.unknown().optional(),
      encrypted_content: z.unknown().optional(),
      call_id: Id.nullish(),
      name: z.string().nullish(),
      arguments: z.string().nullish(),
    }),
  ),
  usage: TokenUsage,
});
type ResponsesReply = z.output<typeof ResponsesReply>;

function readResult(reply: ResponsesReply, { delivered: streamed }: Reading, usage: Usage | null): Reported {
  const parts = reply.output.flatMap((item) => (item.type === "message" ? (item.content ?? []) : []));
  const written = parts.map(({ type, text }) => (type === "output_text" ? (text ?? "") : "")).join("");
  const refusal = parts.map((part) => part.refusal ?? "").join("");
  const toolCalls = reply.output
    .filter(({ type }) => type === "function_call")
    .map((item) => ({ id: item.call_id ?? "", name: item.name ?? "", arguments: item.arguments ?? "" }));
  const calls = toolCalls.map((call) => call.name + call.arguments).join("");
  const summary = reply.output.flatMap(({ summary: parts }) => (parts ?? []).map(({ text }) => text ?? ""));
  const items = reasoningIn(reply.output);
  const reasoning = streamed?.reasoning || summary.join("");
  const before = {
    usage,
    delivered: deliveredOf({ text: written + refusal, reasoning, calls }),
    ...toTier(reply.service_tier),
  };
  const hasContent = written !== "" || calls !== "";
  const finish = finishOf({ word: wordOf(reply, calls !== ""), hasEnded: true, hasContent }, before);
  const result: TextResult = {
    ...wordsOrRefusal(written, refusal, toolCalls),
    ...finish,
    toolCalls,
    ...(items.length > 0 ? { opaque: { reasoning_items: items } } : {}),
  };
  return { result, ...reported(before) };
}

/** Reasoning in the form that the vendor wants back when it stores nothing. */
const Reasoning = z.object({
  type: z.literal("reasoning"),
  id: z.string().optional(),
  summary: z.array(z.record(z.string(), z.json())).default([]),
  encrypted_content: z.string().min(1),
});

/** The reasoning items with encrypted content; none if `items` is not a list. */
export const reasoningIn = (items: unknown): z.output<typeof Reasoning>[] =>
  (Array.isArray(items) ? items : []).flatMap((item) => Reasoning.safeParse(item).data ?? []);

/** The reason why a response ended: its status, or why it is incomplete. Null if it has neither. */
function wordOf({ status, incomplete_details }: ResponsesReply, calledTools: boolean): string | null {
  if (status === "completed") return calledTools ? "tool_calls" : "stop";
  return incomplete_details?.reason || (status ?? null);
}

/** States of a response that is not finished, which are an error for a request that waits for it. */
const UNMADE = ["queued", "in_progress"];

type Reading = {
  /** Name of the vendor in error messages. */
  vendor?: string;
  explain?: Explain;
  /** Output of a stream before its end. */
  delivered?: Delivered | null;
};

/**
 * Reads an answer of the Responses API, for the text port and for pins. Throws ProviderFault if it reports an error.
 */
export function readResponse(reply: HttpReply, io: ProviderIo, reading: Reading) {
  const { vendor = "OpenAI", explain, delivered = null } = reading;
  // A response reports its own error next to its usage; `parseAnswer` would throw before the usage is read.
  const isResponse = typeof reply.body === "object" && reply.body !== null && "output" in reply.body;
  const read = isResponse ? parseReply : parseAnswer;
  const answer = read(ResponsesReply, reply, io, explain);
  const usage = toOpenAiUsage(answer.usage);
  const providerRequestId = openAiRequestId(reply, io) ?? safeWord(answer.id, io);
  const said = errorIn(reply.body);
  const fault = said && faultOfSaid(said, reply, io, { explain, usage, delivered });
  // Without any output, the fault is the one that the error's code means, such as a lack of capacity.
  if (fault && fault.kind !== "failed" && !usage?.outputTokens) throw fault;
  if (said || UNMADE.includes(answer.status ?? "") || saysFailure(answer.status ?? ""))
    throw new ProviderFault("failed", "attempted", `${vendor} could not complete the response.`, {
      status: reply.status,
      usage,
      ...toTier(answer.service_tier),
      ...(delivered ? { delivered } : {}),
      vendor: vendorWords({ error: answer.error }, io),
      ...(providerRequestId ? { providerRequestId } : {}),
    });
  return {
    state: "done" as const,
    ...readResult(answer, reading, usage),
    providerRequestId,
    providerModel: safeWord(answer.model, io),
    ...toTier(answer.service_tier),
    httpStatus: reply.status,
  };
}
