import { z } from "zod";
import { Count, CountsOf, figures, sumOf } from "../counts";
import { ProviderFault, type ProviderIo, type TextResult } from "../define";
import { type Explanation, type HttpReply, parseReply, safeWord } from "../http";
import { toArguments } from "../text-call";

const Usage = CountsOf({
  /** Without those that were written to or read from a cache. */
  input_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  output_tokens: Count,
  output_tokens_details: CountsOf({ thinking_tokens: Count }),
});
type Usage = NonNullable<z.output<typeof Usage>>;

const Block = z.object({
  type: z.string(),
  text: z.string().nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  input: z.unknown().optional(),
});

const Message = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  content: z.array(Block),
  stop_reason: z.string().nullish(),
  usage: Usage,
});
type Message = z.output<typeof Message>;

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

/** The vendor's error types in our words; its own text may quote the request. */
export function explainAnthropicError({ body }: { body: unknown }): Explanation | undefined {
  const parsed = ErrorReply.safeParse(body);
  return parsed.success ? REASONS[parsed.data.error.type ?? ""] : undefined;
}

const FINISH_REASONS: Record<string, TextResult["finishReason"]> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

function toTextResult({ content, stop_reason }: Message): TextResult {
  return {
    text: content.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join(""),
    finishReason: FINISH_REASONS[stop_reason ?? ""] ?? "other",
    toolCalls: content
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({
        id: id ?? "",
        name: name ?? "",
        arguments: toArguments(input),
      })),
  };
}

/** Cached tokens are part of our input, as everywhere here; thinking is part of the output. */
function toUsage(usage: Usage | null | undefined) {
  if (!usage) return null;
  const { input_tokens: fresh, cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage;
  return figures({
    inputTokens: typeof fresh === "number" ? sumOf(fresh, written, read) : undefined,
    cachedInputTokens: read,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens,
  });
}

export function toProgress(reply: HttpReply, io: ProviderIo) {
  const answer = parseReply(Message, reply, io);
  return {
    state: "done" as const,
    result: toTextResult(answer),
    usage: toUsage(answer.usage),
    providerRequestId: safeWord(reply.header("request-id"), io) ?? safeWord(answer.id, io),
    providerModel: safeWord(answer.model, io),
    httpStatus: reply.status,
  };
}

// ---- streams

/** Of all kinds of events those fields that say something of the message. */
const MessageEvent = z.object({
  type: z.string(),
  index: z.int().nullish(),
  message: Message.partial().nullish(),
  content_block: Block.nullish(),
  delta: z
    .object({
      type: z.string().nullish(),
      text: z.string().nullish(),
      partial_json: z.string().nullish(),
      stop_reason: z.string().nullish(),
    })
    .nullish(),
  usage: Usage,
  error: z.object({ type: z.string().nullish() }).nullish(),
});

/** The whole message, gathered from its events, in the form it has without a stream. */
export function gatherMessage(onText: (text: string) => void) {
  const blocks = new Map<number, z.output<typeof Block> & { json: string }>();
  let message: Partial<Message> = {};
  let usage: Usage | null = null;
  let isWhole = false;
  let hasText = false;

  const tell = (text: string | null | undefined) => {
    if (!text) return;
    hasText = true;
    onText(text);
  };
  const merge = (more: Usage | null | undefined) => {
    const given = Object.entries(more ?? {}).filter(([, value]) => value !== null && value !== undefined);
    if (more) usage = { ...usage, ...Object.fromEntries(given) };
  };

  return {
    /** Takes one event; true when it was the last. Thinking, signatures, citations and pings say nothing of the text. */
    take(data: string): boolean {
      const event = MessageEvent.parse(JSON.parse(data));
      const { type, index, delta } = event;
      if (type === "error") throw faultOfEvent(event.error?.type, hasText);
      merge(event.usage ?? event.message?.usage);
      if (type === "message_start") message = event.message ?? {};
      if (type === "message_delta") message = { ...message, stop_reason: delta?.stop_reason };
      if (type === "message_stop") isWhole = true;
      if (type === "content_block_start" && event.content_block) {
        blocks.set(index ?? blocks.size, { ...event.content_block, json: "" });
        if (event.content_block.type === "text") tell(event.content_block.text);
      }
      const block = blocks.get(index ?? -1);
      if (type === "content_block_delta" && block && delta?.type === "text_delta") {
        block.text = (block.text ?? "") + (delta.text ?? "");
        tell(delta.text);
      }
      if (type === "content_block_delta" && block && delta?.type === "input_json_delta")
        block.json += delta.partial_json ?? "";
      return isWhole;
    },
    /** Null: it broke off. */
    whole(): Message | null {
      if (!isWhole) return null;
      const content = [...blocks.values()].map(({ json, ...block }) =>
        json === "" ? block : { ...block, input: asWritten(json) },
      );
      return { ...message, content, usage };
    },
  };
}

/** A value, or the text of one that broke off. */
function asWritten(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** An error that comes as an event: once text was streamed, the work was done and is no refusal any more. */
function faultOfEvent(type: string | null | undefined, hasText: boolean): ProviderFault {
  const reason = REASONS[type ?? ""];
  const isFull = type === "overloaded_error" || type === "rate_limit_error";
  const message = reason?.message ?? "Anthropic failed while working on the request.";
  return new ProviderFault(isFull && !hasText ? "capacity" : "failed", "attempted", message);
}
