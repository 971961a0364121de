import { z } from "zod";
import { TextOutput } from "@/server/contract/inputs";
import type { InvocationResult } from "@/server/contract/jobs";
import type { FinishReason } from "@/server/contract/openai";
import { OUTPUT_REMOVED } from "@/server/domain/content";
import type * as jobs from "@/server/domain/jobs";
import type { Json } from "@/server/platform/durable/step";
import { Fault } from "@/server/platform/errors/errors";
import { madeAt, receiptIdOf } from "@/server/platform/ids";

/* The parts of an execution that both OpenAI responses have. */

export type Said = {
  text: string | null;
  /** The refusal's text; `text` is null if there is one. */
  refusal: string | null;
  toolCalls: NonNullable<TextOutput["toolCalls"]>;
  /** Members that the message's server needs back, and the id that names that server. */
  id?: string | undefined;
  opaque?: TextOutput["opaque"];
  finish: z.output<typeof FinishReason>;
};

/** Several choices for one request. */
const Several = z.object({ choices: z.array(TextOutput.extend({ finishReason: z.string() })).min(2) });

/** The text and tool calls of each choice; an object output is given as JSON. */
export function saidIn(
  { typedOutput, terminationReason }: { typedOutput: unknown; terminationReason: unknown },
  head: Pick<Head, "id">,
): [Said, ...Said[]] {
  const words = TextOutput.safeParse(typedOutput);
  const isCut = terminationReason === "length";
  if (!words.success)
    return [
      { text: JSON.stringify(typedOutput), refusal: null, toolCalls: [], finish: isCut ? "length" : "stop" },
    ];
  const several = Several.safeParse(typedOutput);
  if (!several.success) return [toSaid(words.data, isCut, `call_${ulidOf(head)}`)];
  const [first, ...others] = several.data.choices.map((each, place) =>
    toSaid(each, each.finishReason === "length", `call_${ulidOf(head)}_${place}`),
  );
  return [first!, ...others]; // the schema requires at least two
}

function toSaid(
  { content, refusal, toolCalls = [], id, opaque }: TextOutput,
  isCut: boolean,
  callId: string,
): Said {
  return {
    text: refusal !== undefined || (content === "" && toolCalls.length > 0) ? null : content,
    refusal: refusal ?? null,
    // A tool result names its call, so a call needs an id even if its vendor gave none.
    toolCalls: toolCalls.map((call, place) => ({ ...call, id: call.id || `${callId}_${place}` })),
    ...(opaque ? { id, opaque } : {}),
    finish: isCut ? "length" : toolCalls.length > 0 ? "tool_calls" : "stop",
  };
}

/** The part of an execution's id from which the ids of its items are derived. */
export const ulidOf = ({ id }: Pick<Head, "id">) => id.slice(id.indexOf("_") + 1);

type Usage = { inputTokens?: Json | undefined; outputTokens?: Json | undefined } | null;

/** The provider's token counts; null unless it reported those of input and output. */
export function tokensOf(usage: Usage | undefined): { input: number; output: number; total: number } | null {
  const { inputTokens: input, outputTokens: output } = usage ?? {};
  return typeof input === "number" && typeof output === "number"
    ? { input, output, total: input + output }
    : null;
}

/** The fields of every response, and of every chunk of a streamed one. */
export function responseHead(
  result: Pick<InvocationResult, "executionId" | "resolvedProvider" | "resolvedModel">,
) {
  const { executionId, resolvedProvider, resolvedModel } = result;
  return {
    id: executionId,
    madeAt: Math.floor(madeAt(executionId) / 1000),
    model: `${resolvedProvider}/${resolvedModel}`,
    receiptId: receiptIdOf(executionId),
  };
}
export type Head = ReturnType<typeof responseHead>;

export const withReceipt = (metadata: Record<string, string> | null | undefined, { receiptId }: Head) => ({
  ...metadata,
  capstan_receipt_id: receiptId,
});

export const responseHeaders = ({ id, receiptId }: Head) => ({
  "x-execution-id": id,
  "x-capstan-receipt-id": receiptId,
});

const recordOf = ({ id, receiptId }: Head) => ({ executionId: id, receiptId });

/** The error of a replay whose output is no longer kept. */
export const removed = (head: Head) => new Fault(OUTPUT_REMOVED.code, OUTPUT_REMOVED.message, recordOf(head));

/** The members of a JobError that are read here. */
type Failure = { code: string; message: string; details?: Record<string, unknown> };

/** The events of a streaming execution, in order: text, then its end. */
export type Heard =
  | { type: "quiet" }
  | { type: "text"; text: string }
  | { type: "succeeded"; said: [Said, ...Said[]]; tokens: ReturnType<typeof tokensOf> }
  | { type: "failed"; code: string; message: string; details: Record<string, unknown> };

/** The frames of an execution as events. Always yields a final event, even if the caller may no longer read. */
export async function* heard(
  frames: AsyncIterable<jobs.Page<jobs.JobFrame>>,
  head: Head,
): AsyncGenerator<Heard> {
  const record = recordOf(head);
  for await (const { items } of frames) {
    if (items.length === 0) yield { type: "quiet" };
    for (const { event, data } of items) {
      // A refusal is not sent as text: the execution's end has it.
      if (event === "token" && typeof data.text === "string" && data.refusal !== true)
        yield { type: "text", text: data.text };
      if (event === "execution.succeeded") {
        if (data.typedOutput === null) {
          const { code, message, details } = removed(head);
          yield { type: "failed", code, message, details };
        } else
          yield {
            type: "succeeded",
            said: saidIn({ typedOutput: data.typedOutput, terminationReason: data.terminationReason }, head),
            tokens: tokensOf(data.usage as Usage),
          };
        return;
      }
      if (event === "execution.failed") {
        const { code, message, details } = data.error as Failure;
        yield { type: "failed", code, message, details: { ...details, ...record } };
        return;
      }
    }
  }
  const { code, message } = NO_LONGER;
  yield { type: "failed", code, message, details: record };
}

/** Ends a stream without a final frame: its reader disconnected or may no longer read. */
const NO_LONGER = new Fault(
  "AuthorizationFailed",
  "This key may no longer read this execution. The execution continues.",
  {},
);
