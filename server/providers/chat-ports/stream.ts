import { z } from "zod";
import { Id, mergeUsage } from "../counts";
import type { Delivered, OnText, Usage } from "../define";
import { deliveredOf, errorIn, ReportedError, verdicts } from "../ends";
import { joinMembers } from "../opaque";
import { type EventWish, jsonIn, type ServerEvent } from "../server-events";

import { argumentsText, type Call, type ChatReply, type Content, Message, partsOf, readUsage } from "./reply";

/* Chat completions as a stream. */

const ChatChunk = z.object({
  id: Id.nullish(),
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        index: z.int().nullish(),
        finish_reason: z.string().nullish(),
        delta: Message.partial().nullish(),
        // Some servers end a stream with a whole message, or write each piece as one.
        message: Message.partial().nullish(),
      }),
    )
    .nullish(),
});

type Gathered = { id: string; name: string; arguments: string; members: Record<string, unknown> };

/** The whole answer, gathered from its chunks, in the form it has without a stream. */
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
    // Azure begins with a chunk of its filter, whose words are empty.
    id ||= chunk.id ?? null;
    model ||= chunk.model ?? null;
    // A server may stream several answers though no stream was requested; the first one is read.
    const choice = chunk.choices?.find(({ index }) => !index);
    const delta = choice?.delta ?? choice?.message;
    const { text, reasoning } = partsOf(delta?.content);
    if (text !== "") {
      delivered.text += text;
      onText(text);
    }
    delivered.reasoning += reasoning || delta?.reasoning_content || delta?.reasoning || "";
    content.take(delta?.content);
    for (const call of delta?.tool_calls ?? []) delivered.calls += calls.take(call);
    const { content: _, tool_calls: __, ...others }: Partial<Message> = delta ?? {};
    joinMembers(members, others);
    word = choice?.finish_reason || word;
    const hasContent = text !== "" || (delta?.tool_calls ?? []).length > 0;
    return verdict({ isWhole: word !== null && usage !== null, hasContent });
  };

  return {
    take,
    /** The answer so far, and whether the end of the dialect came. */
    whole(): { answer: ChatReply; usage: Usage | null; hasEnded: boolean } {
      const message = Message.parse({ ...members, content: content.whole(), tool_calls: calls.all() });
      const { refusal } = message;
      if (delivered.text === "" && refusal && delivered.calls === "") onText(refusal, "refusal");
      const choices = [{ index: 0, finish_reason: word, message }];
      return { answer: { id, model, choices }, usage, hasEnded: isDone };
    },
  };
}

/**
 * Calls of tools, gathered from their pieces: kept apart by index, id and name, whichever is missing or repeated. A new id or,
 * without ids, a name after arguments begins another call, since some servers give every call the index 0.
 */
function gatherCalls() {
  const calls: Gathered[] = [];
  const lastAt = new Map<number | null, Gathered>();
  return {
    /** The text that a piece adds. */
    take({ index = null, id, function: call, ...members }: Call): string {
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
        // The name comes whole, in pieces, or again with each piece.
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

/** The content, gathered from pieces that are texts or lists of parts: parts only where there was more than text. */
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
    take(content: Content): void {
      const given = typeof content === "string" ? (content === "" ? [] : [content]) : (content ?? []);
      for (const part of given) add(typeof part === "string" ? { type: "text", text: part } : part);
    },
    whole: (): string | Part[] => (parts.every(({ type }) => type === "text") ? partsOf(parts).text : parts),
  };
}

const JustText = z.tuple([z.strictObject({ type: z.literal("text"), text: z.string() })]);

/** Thinking is a text, or a list of texts of which each piece has the next; a list that is there is added to. */
function joinThinking(known: unknown, piece: unknown): unknown {
  if (typeof known === "string" && typeof piece === "string") return known + piece;
  if (!Array.isArray(known) || !Array.isArray(piece)) return piece ?? known;
  const [last, next] = [JustText.safeParse(known.slice(-1)).data, JustText.safeParse(piece).data];
  if (last && next) known[known.length - 1] = { type: "text", text: last[0].text + next[0].text };
  else for (const each of piece) known.push(each);
  return known;
}
