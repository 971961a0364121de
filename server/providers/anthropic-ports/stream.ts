import { z } from "zod";
import { mergeUsage } from "../counts";
import type { Delivered, Usage } from "../define";
import { deliveredOf, errorIn, ReportedError, verdicts } from "../ends";
import { type EventWish, jsonIn, type ServerEvent } from "../server-events";
import {
  AnthropicReplyMessage,
  Block,
  Figures,
  type ReportedFigures,
  toAnthropicUsage,
  toReportedFigures,
} from "./reply";

/* The Messages API as a stream. */

const Text = z.string().nullish().catch(null);

/** Fields of any event type that describe the message. */
const MessageEvent = z.object({
  type: Text,
  index: z.int().nullish().catch(null),
  message: AnthropicReplyMessage.partial().nullish().catch(null),
  content_block: Block.nullish().catch(null),
  delta: z
    .object({
      type: Text,
      text: Text,
      thinking: Text,
      signature: Text,
      partial_json: Text,
      stop_reason: Text,
    })
    .nullish()
    .catch(null),
  usage: Figures,
});
type Delta = NonNullable<z.output<typeof MessageEvent>["delta"]>;
type Gathered = z.output<typeof Block> & { json: string };

/**
 * The type of block that each type of piece belongs to; pieces of other types are ignored. A server that does not
 * announce its blocks reveals their types only by their pieces.
 */
const BLOCK_OF: Record<string, string> = {
  text_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "thinking",
  input_json_delta: "tool_use",
};
const KINDS = new Set(Object.values(BLOCK_OF));

/** Gathers a message from its events, in the form that it has without a stream. */
export function gatherMessage(onText: (text: string) => void = () => {}) {
  const blocks = gatherBlocks(onText);
  const verdict = verdicts();
  let message: Partial<AnthropicReplyMessage> = {};
  let soFar: ReportedFigures | null = null;
  let isReported = false;
  let hasEnded = false;
  // The output count of the first event is made before any output, so alone it does not tell how much was written.
  const usage = (): Usage | null => {
    const reported = toAnthropicUsage(soFar);
    if (isReported || !reported) return reported;
    const { outputTokens: _, ...input } = reported;
    return input;
  };

  return {
    /** Takes one event. Citations and pings have no effect on the text. */
    take(each: ServerEvent): EventWish {
      const body = jsonIn(each);
      if (body === undefined) return "more";
      const said = errorIn(body, each.event);
      if (said) throw new ReportedError(said, { usage: usage(), delivered: deliveredOf(blocks.delivered) });
      const { delta, ...event } = MessageEvent.parse(body);
      const type = event.type ?? each.event;
      const figures = toReportedFigures(event.usage);
      soFar = mergeUsage(mergeUsage(soFar, toReportedFigures(event.message?.usage ?? null)), figures);
      if (figures?.output !== undefined) isReported = true;
      if (type === "message_start") message = event.message ?? {};
      if (delta?.stop_reason) message = { ...message, stop_reason: delta.stop_reason };
      if (type === "message_stop") hasEnded = true;
      if (type === "content_block_start" && event.content_block)
        blocks.begin(event.index ?? null, event.content_block);
      if (type === "content_block_delta" && delta) blocks.add(event.index ?? null, delta);
      if (hasEnded) {
        blocks.beginUnannounced(message.content);
        return "enough";
      }
      const isWhole = Boolean(message.stop_reason) && isReported;
      return verdict({ isWhole, hasContent: type === "content_block_delta" });
    },
    /** The message so far; null if it broke off. */
    whole(): { message: AnthropicReplyMessage; usage: Usage | null; hasEnded: boolean } | null {
      if (!hasEnded && !message.stop_reason) return null;
      blocks.beginUnannounced(message.content);
      return { message: { ...message, content: blocks.all(), usage: null }, usage: usage(), hasEnded };
    },
  };
}

/** Gathers the blocks of a message by their index. */
function gatherBlocks(onText: (text: string) => void) {
  const blocks = new Map<number, Gathered>();
  const delivered: Delivered = { text: "", reasoning: "", calls: "" };
  const tell = (text: string | null | undefined) => {
    if (!text) return;
    delivered.text += text;
    onText(text);
  };
  const put = (at: number, block: z.output<typeof Block>): Gathered => {
    const gathered = { ...block, json: "" };
    blocks.set(at, gathered);
    return gathered;
  };
  /**
   * The block that a piece belongs to: the one at its index, or the last one for a piece without an index. If there is
   * none or its type does not fit, a new one. Tool input also fits blocks of types outside `KINDS`, because the
   * vendor's own tools have such types.
   */
  const blockOf = (index: number | null, kind: string): Gathered => {
    const found = index === null ? [...blocks.values()].at(-1) : blocks.get(index);
    const fits = found?.type === kind || (kind === "tool_use" && found && !KINDS.has(found.type));
    return found && fits ? found : put(found ? blocks.size : (index ?? blocks.size), { type: kind });
  };
  const begin = (index: number | null, block: z.output<typeof Block>) => {
    put(index ?? blocks.size, block);
    delivered.calls += block.name ?? "";
    if (block.type === "text") tell(block.text);
  };
  return {
    delivered,
    begin,
    /** An answer that continues an earlier call has its whole content in the first event and announces no blocks. */
    beginUnannounced(content: AnthropicReplyMessage["content"]) {
      if (blocks.size === 0) for (const block of content ?? []) begin(null, block);
    },
    add(index: number | null, { type, text, thinking, signature, partial_json: json }: Delta) {
      const kind = BLOCK_OF[type ?? ""];
      if (!kind) return;
      const block = blockOf(index, kind);
      block.text = (block.text ?? "") + (text ?? "");
      block.thinking = (block.thinking ?? "") + (thinking ?? "");
      block.signature = (block.signature ?? "") + (signature ?? "");
      block.json += json ?? "";
      delivered.reasoning += thinking ?? "";
      delivered.calls += json ?? "";
      tell(text);
    },
    all: () =>
      [...blocks.values()].map(({ json, ...block }) =>
        json === "" ? block : { ...block, input: asWritten(json) },
      ),
  };
}

/** The parsed value, or the text of a value that broke off. */
function asWritten(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
