import { z } from "zod";
import { Id, mergeUsage } from "../counts";
import type { Delivered, OnText, Usage } from "../define";
import { deliveredOf, errorIn, ReportedError, verdicts } from "../ends";
import { type EventWish, jsonIn, type ServerEvent } from "../server-events";

import { argumentsText, type Call, type ChatReply, Message, partsOf, readUsage } from "./reply";

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

type Gathered = { id: string; name: string; arguments: string };

/** The whole answer, gathered from its chunks, in the form it has without a stream. */
export function gatherChat(onText: OnText = () => {}) {
  let [id, model, word]: (string | null)[] = [null, null, null];
  let usage: Usage | null = null;
  let refusal = "";
  let isDone = false;
  const delivered: Delivered = { text: "", reasoning: "", calls: "" };
  const calls = gatherCalls();

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
    refusal += delta?.refusal ?? "";
    for (const call of delta?.tool_calls ?? []) delivered.calls += calls.take(call);
    word = choice?.finish_reason || word;
    const hasContent = text !== "" || (delta?.tool_calls ?? []).length > 0;
    return verdict({ isWhole: word !== null && usage !== null, hasContent });
  };

  return {
    take,
    /** The answer so far, and whether the end of the dialect came. */
    whole(): { answer: ChatReply; usage: Usage | null; hasEnded: boolean } {
      const { text: content, reasoning } = delivered;
      if (content === "" && refusal !== "" && delivered.calls === "") onText(refusal, "refusal");
      const message = {
        content,
        refusal,
        reasoning_content: reasoning,
        reasoning: null,
        tool_calls: calls.all(),
      };
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
  const calls: (Gathered & { index: number | null; object?: unknown })[] = [];
  return {
    /** The text that a piece adds. */
    take({ index = null, id, function: call }: Call): string {
      const name = call?.name ?? "";
      const given = call?.arguments ?? "";
      const text = typeof given === "string" ? given : argumentsText(given);
      const known = calls.findLast((each) => (index === null ? true : each.index === index));
      const isOther =
        !known ||
        (id ? known.id !== "" && known.id !== id : false) ||
        (!id && name !== "" && known.name !== "" && known.name !== name && known.arguments !== "");
      if (isOther || !known) calls.push({ index, id: id ?? "", name, arguments: text });
      else {
        known.id ||= id ?? "";
        // The name comes whole, in pieces, or again with each piece.
        if (name !== "" && name !== known.name) known.name += name;
        known.arguments += text;
      }
      return name + text;
    },
    all: () =>
      calls.map(({ id, name, arguments: text }) => ({
        id,
        function: { name, arguments: argumentsText(text) },
      })),
  };
}
