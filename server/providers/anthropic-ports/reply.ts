import { z } from "zod";
import { Count, CountsOf, figures, mergeUsage, outputOf, sumOf } from "../counts";
import type { Delivered, ProviderIo, Usage } from "../define";
import { deliveredOf, errorIn, finishOf, knownReason, type Reported, ReportedError, reported } from "../ends";
import { type Explanation, type HttpReply, parseAnswer, safeWord } from "../http";
import type { EventWish, ServerEvent } from "../server-events";
import { toArguments } from "../text-call";

const Figures = CountsOf({
  /** Without those that were written to or read from a cache. */
  input_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  output_tokens: Count,
  output_tokens_details: CountsOf({ thinking_tokens: Count }),
});
const Block = z.object({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  input: z.unknown().optional(),
});

const Message = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  content: z.array(Block),
  stop_reason: z.string().nullish(),
  usage: Figures,
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

function readResult({ content, stop_reason }: Message, usage: Usage | null): Reported {
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
  const finish = finishOf({ word: stop_reason ?? null, hasEnded: true, hasContent }, before);
  return { result: { text, ...finish, toolCalls }, ...reported(before) };
}

/** The figures that an answer or an event gave, by short names. */
type Told = { fresh?: number; written?: number; read?: number; output?: number; thinking?: number };

function toldIn(usage: z.output<typeof Figures>): Told | null {
  if (!usage) return null;
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  const figures = {
    fresh: input_tokens,
    written: cache_creation_input_tokens,
    read: cache_read_input_tokens,
    output: output_tokens,
    thinking: usage.output_tokens_details?.thinking_tokens,
  };
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => typeof value === "number"));
}

/** Cached tokens are part of our input, as everywhere here; thinking is part of the output. */
function toUsage(told: Told | null): Usage | null {
  if (!told) return null;
  const { fresh, written, read, output, thinking } = told;
  return figures({
    inputTokens: fresh === undefined ? undefined : sumOf(fresh, written, read),
    cachedInputTokens: read,
    outputTokens: outputOf({ output, reasoning: thinking }),
    reasoningTokens: thinking,
  });
}

/** Reads a whole message; of a stream, `usage` is what its events reported. */
export function toProgress(reply: HttpReply, io: ProviderIo, gathered?: Usage | null) {
  const answer = parseAnswer(Message, reply, io, explainAnthropicError);
  const usage = gathered === undefined ? toUsage(toldIn(answer.usage)) : gathered;
  return {
    state: "done" as const,
    ...readResult(answer, usage),
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
      thinking: z.string().nullish(),
      partial_json: z.string().nullish(),
      stop_reason: z.string().nullish(),
    })
    .nullish(),
  usage: Figures,
});
type Event = z.output<typeof MessageEvent>;

/** The whole message, gathered from its events, in the form it has without a stream. */
export function gatherMessage(onText: (text: string) => void) {
  const blocks = new Map<number, z.output<typeof Block> & { json: string }>();
  let message: Partial<Message> = {};
  let told: Told | null = null;
  let isWhole = false;
  const delivered: Delivered = { text: "", reasoning: "", calls: "" };

  const tell = (text: string | null | undefined) => {
    if (!text) return;
    delivered.text += text;
    onText(text);
  };
  const takeDelta = (
    block: z.output<typeof Block> & { json: string },
    delta: NonNullable<Event["delta"]>,
  ) => {
    if (delta.type === "text_delta") {
      block.text = (block.text ?? "") + (delta.text ?? "");
      tell(delta.text);
    } else if (delta.type === "thinking_delta") {
      block.thinking = (block.thinking ?? "") + (delta.thinking ?? "");
      delivered.reasoning += delta.thinking ?? "";
    } else if (delta.type === "input_json_delta") {
      block.json += delta.partial_json ?? "";
      delivered.calls += delta.partial_json ?? "";
    }
  };

  return {
    /** Takes one event. Signatures, citations and pings say nothing of the text. */
    take({ data, event: name }: ServerEvent): EventWish {
      const body: unknown = JSON.parse(data);
      const said = errorIn(body, name);
      if (said) throw new ReportedError(said, { usage: toUsage(told), delivered: deliveredOf(delivered) });
      const event = MessageEvent.parse(body);
      const { type, index, delta } = event;
      told = mergeUsage(told, toldIn(event.usage ?? event.message?.usage));
      if (type === "message_start") message = event.message ?? {};
      if (type === "message_delta")
        message = { ...message, stop_reason: delta?.stop_reason ?? message.stop_reason };
      if (type === "message_stop") isWhole = true;
      if (type === "content_block_start" && event.content_block) {
        blocks.set(index ?? blocks.size, { ...event.content_block, json: "" });
        delivered.calls += event.content_block.name ?? "";
        if (event.content_block.type === "text") tell(event.content_block.text);
      }
      const block = blocks.get(index ?? -1);
      if (type === "content_block_delta" && block && delta) takeDelta(block, delta);
      if (isWhole) return "enough";
      return message.stop_reason && type === "message_delta" && event.usage ? "soon" : "more";
    },
    /** Null: it broke off. */
    whole(): { message: Message; usage: Usage | null } | null {
      if (!isWhole && !knownReason(message.stop_reason ?? "")) return null;
      const content = [...blocks.values()].map(({ json, ...block }) =>
        json === "" ? block : { ...block, input: asWritten(json) },
      );
      return { message: { ...message, content, usage: null }, usage: toUsage(told) };
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
