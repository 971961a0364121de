import { z } from "zod";
import { Id, mergeUsage } from "../counts";
import type { Delivered, OnText, Usage } from "../define";
import { deliveredOf, errorIn, ReportedError, verdicts } from "../ends";
import { joinMembers } from "../opaque";
import { type EventWish, jsonIn, type ServerEvent } from "../server-events";

import {
  argumentsText,
  type ChatReply,
  type ChatReplyContent,
  ChatReplyMessage,
  type ChatReplyToolCall,
  contentParts,
  readUsage,
} from "./reply";

/* Chat completions as a stream. */

const ChatChunk = z.object({
  id: Id.nullish(),
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        index: z.int().nullish(),
        finish_reason: z.string().nullish(),
        delta: ChatReplyMessage.partial().nullish(),
        // Some servers end a stream with a complete message, or send each piece as one.
        message: ChatReplyMessage.partial().nullish(),
      }),
    )
    .nullish(),
});

type Gathered = { id: string; name: string; arguments: string; members: Record<string, unknown> };

/** Gathers the answer from its chunks, in the form that it has without a stream. */
export function gatherChat(onText: OnText = () => {}) {
  let [id, model, word]: (string | null)[] = [null, null, null];
  let usage: Usage | null = null;
  let isDone = false;
  const delivered: Delivered = { text: "", reasoning: "", calls: "" };
  const content = gatherContent();
  const calls = gatherCalls();
  const members: Record<string, unknown> = {};

  const verdict = verdicts();
  const take = (each: ServerEvent): EventWish => {
    if (each.data.trim() === "[DONE]") {
      isDone = true;
      return "enough";
    }
    const body = jsonIn(each);
    if (body === undefined) return "more";
    usage = mergeUsage(usage, readUsage(body));
    const said = errorIn(body, each.event);
    if (said) throw new ReportedError(said, { usage, delivered: deliveredOf(delivered) });
    const chunk = ChatChunk.parse(body);
    // Azure begins with a chunk of its content filter, in which id and model are empty.
    id ||= chunk.id ?? null;
    model ||= chunk.model ?? null;
    // A server may stream several answers even to a request without streaming; the first one is read.
    const choice = chunk.choices?.find(({ index }) => !index);
    const delta = choice?.delta ?? choice?.message;
    const { text, reasoning } = contentParts(delta?.content);
    if (text !== "") {
      delivered.text += text;
      onText(text);
    }
    delivered.reasoning += reasoning || delta?.reasoning_content || delta?.reasoning || "";
    content.take(delta?.content);
    for (const call of delta?.tool_calls ?? []) delivered.calls += calls.take(call);
    const { content: _, tool_calls: __, ...others }: Partial<ChatReplyMessage> = delta ?? {};
    joinMembers(members, others);
    word = choice?.finish_reason || word;
    const hasContent = text !== "" || (delta?.tool_calls ?? []).length > 0;
    return verdict({ isWhole: word !== null && usage !== null, hasContent });
  };

  return {
    take,
    /** The answer so far, and whether the end mark arrived. */
    whole(): { answer: ChatReply; usage: Usage | null; hasEnded: boolean } {
      const message = ChatReplyMessage.parse({
        ...members,
        content: content.whole(),
        tool_calls: calls.all(),
      });
      const { refusal } = message;
      if (delivered.text === "" && refusal && delivered.calls === "") onText(refusal, "refusal");
      const choices = [{ index: 0, finish_reason: word, message }];
      return { answer: { id, model, choices }, usage, hasEnded: isDone };
    },
  };
}

/**
 * Gathers tool calls from their pieces, by index, id and name, any of which can be missing or repeated. A new id begins
 * another call; without ids a new name after arguments does, because some servers give every call the index 0.
 */
function gatherCalls() {
  const calls: Gathered[] = [];
  const lastAt = new Map<number | null, Gathered>();
  return {
    /** Adds a piece and returns the text in it: its part of the name and of the arguments. */
    take({ index = null, id, function: call, ...members }: ChatReplyToolCall): string {
      const name = call?.name ?? "";
      const given = call?.arguments ?? "";
      const text = typeof given === "string" ? given : argumentsText(given);
      const known = index === null ? calls.at(-1) : lastAt.get(index);
      const isOther =
        !known ||
        (id ? known.id !== "" && known.id !== id : false) ||
        (!id && name !== "" && known.name !== "" && known.name !== name && known.arguments !== "");
      if (isOther || !known) {
        const begun = { id: id ?? "", name, arguments: text, members };
        calls.push(begun);
        lastAt.set(index, begun);
      } else {
        known.id ||= id ?? "";
        // The name arrives whole, in pieces, or again with each piece.
        if (name !== "" && name !== known.name) known.name += name;
        known.arguments += text;
        joinMembers(known.members, members);
      }
      return name + text;
    },
    all: () =>
      calls.map(({ id, name, arguments: text, members }) => ({
        ...members,
        id,
        function: { name, arguments: argumentsText(text) },
      })),
  };
}

type Part = Record<string, unknown> & { type?: string | null | undefined };

/**
 * Gathers content from pieces that are texts or lists of parts. The result has parts only if there was more than text.
 */
function gatherContent() {
  const parts: Part[] = [];
  const add = ({ ...part }: Part): void => {
    const last = parts.at(-1);
    if (!last || last.type !== part.type) parts.push(part);
    else if (typeof last.text === "string" && typeof part.text === "string")
      Object.assign(last, part, { text: last.text + part.text });
    else if (last.type === "thinking")
      Object.assign(last, part, { thinking: joinThinking(last.thinking, part.thinking) });
    else parts.push(part);
  };
  return {
    take(content: ChatReplyContent): void {
      const given = typeof content === "string" ? (content === "" ? [] : [content]) : (content ?? []);
      for (const part of given) add(typeof part === "string" ? { type: "text", text: part } : part);
    },
    whole: (): string | Part[] =>
      parts.every(({ type }) => type === "text") ? contentParts(parts).text : parts,
  };
}

const JustText = z.tuple([z.strictObject({ type: z.literal("text"), text: z.string() })]);

/**
 * Joins reasoning, which is a text or a list of texts that continues with each piece. A known list is changed in place.
 */
function joinThinking(known: unknown, piece: unknown): unknown {
  if (typeof known === "string" && typeof piece === "string") return known + piece;
  if (!Array.isArray(known) || !Array.isArray(piece)) return piece ?? known;
  const [last, next] = [JustText.safeParse(known.slice(-1)).data, JustText.safeParse(piece).data];
  if (last && next) known[known.length - 1] = { type: "text", text: last[0].text + next[0].text };
  else for (const each of piece) known.push(each);
  return known;
}
