import { InputFault } from "@/server/capabilities/define";
import type { AnyCall, Opaque, TextMessage, ToolCall } from "@/server/providers/define";
import { hashOfMaker, type Maker, type Tag, tagOf } from "@/server/providers/maker-tag";
import { isReserved } from "@/server/providers/opaque";
import type { Estimate } from "./estimate";

/*
 * What a conversation brings back of earlier answers: opaque members and ids of calls. Members reach the server that made
 * them alone, with its own ids; on any other route they are left out, and the receipt says so.
 */

/** Limit for all opaque members of a request together, as JSON in UTF-8. */
export const MOST_OPAQUE_BYTES = 256 * 1024;

type Assistant = Extract<TextMessage, { role: "assistant" }>;
type Rewrites = Estimate["rewrites"];

/** The call as this maker gets it, and which messages lost members by that. Throws InputFault where they are too large. */
export function forMaker<C extends AnyCall>(call: C, maker: Maker): { call: C; rewrites: Rewrites } {
  if (!("messages" in call) || !call.messages.some(bringsBack)) return { call, rewrites: [] };
  requireOpaque(call.messages);
  const own = hashOfMaker(maker);
  const ids = { known: new Map<string, string>(), taken: new Set<string>() };
  const rewrites: Rewrites = [];
  const messages = call.messages.map((message): TextMessage => {
    if (message.role === "tool")
      return { ...message, toolCallId: ids.known.get(message.toolCallId) ?? message.toolCallId };
    if (message.role !== "assistant" || !bringsBack(message)) return message;
    const { isWhole, ...known } = asKnown(message, own, ids);
    if (!isWhole)
      rewrites.push({
        field: `input.messages[${message.at ?? 0}].opaque`,
        from: "opaque members",
        to: "left out",
      });
    const { at: _, id: __, opaque: ___, toolCalls: ____, ...bare } = message;
    return { ...bare, ...known };
  });
  return { call: { ...call, messages }, rewrites };
}

const bringsBack = (message: TextMessage): boolean =>
  message.role === "assistant" && (message.opaque !== undefined || message.toolCalls !== undefined);

/** Refuses members that have a meaning or an effect of their own, and more of them than a request may bring. */
function requireOpaque(messages: TextMessage[]): void {
  let bytes = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const field = ["input", "messages", message.at ?? 0];
    bytes += bytesOf(message.opaque, "message", [...field, "opaque"]);
    for (const [place, { opaque }] of (message.toolCalls ?? []).entries())
      bytes += bytesOf(opaque, "call", [...field, "toolCalls", place, "opaque"]);
    if (bytes > MOST_OPAQUE_BYTES)
      throw new InputFault(
        field,
        `The opaque members of a request (such as reasoning and signatures) can have at most ${MOST_OPAQUE_BYTES} bytes. Leave out those of the oldest messages.`,
      );
  }
}

function bytesOf(opaque: Opaque | undefined, of: "message" | "call", field: (string | number)[]): number {
  if (!opaque) return 0;
  const reserved = Object.keys(opaque).find((name) => isReserved(name, of));
  if (reserved !== undefined)
    throw new InputFault([...field, reserved], "No opaque member has this name. Leave it out.");
  return Buffer.byteLength(JSON.stringify(opaque));
}

/** A message with the members and ids of its own maker. `isWhole`: nothing was left out. */
function asKnown(
  { id = "", opaque, toolCalls = [] }: Assistant,
  own: string,
  ids: { known: Map<string, string>; taken: Set<string> },
): { isWhole: boolean; opaque?: Opaque; toolCalls?: ToolCall[] } {
  const tags = toolCalls.map((call) => tagOf(call.id));
  const tag = tagOf(id) ?? tags.find((each) => each !== null) ?? null;
  const isOwn = tag?.maker === own;
  let isWhole = isOwn || opaque === undefined;
  const calls = toolCalls.map((call, place): ToolCall => {
    const itsTag = tags[place] ?? null;
    const isItsOwn = itsTag?.maker === own;
    const known = isItsOwn && itsTag ? itsTag.id : elsewhere(call.id, itsTag, ids.taken);
    ids.taken.add(known);
    ids.known.set(call.id, known);
    if (!call.opaque || isItsOwn) return { ...call, id: known };
    isWhole = false;
    const { opaque: _, ...bare } = call;
    return { ...bare, id: known };
  });
  const kept = isOwn && opaque ? asMade(opaque, tag, toolCalls) : {};
  return {
    isWhole,
    ...(Object.keys(kept).length > 0 ? { opaque: kept } : {}),
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
  };
}

/** The id of a call that another server made: without its tag, unless an earlier call of the conversation has it. */
function elsewhere(id: string, tag: Tag | null, taken: ReadonlySet<string>): string {
  if (!tag) return id;
  const bare = tag.number > 1 ? `${tag.id}-${tag.number}` : tag.id;
  return bare === "" || taken.has(bare) ? id : bare;
}

const written = (member: [string, Opaque[string]]): string => JSON.stringify(member);

/**
 * Members as their server made them. OpenAI's Agents SDK copies those of a call onto its message, and it and the AI SDK have
 * one name each for reasoning, which servers refuse or pass over under another name than theirs.
 */
function asMade(opaque: Opaque, { reasoning }: Tag, calls: readonly ToolCall[]): Opaque {
  // Each member is written once, however many there are of both.
  const ofCalls = new Set(calls.flatMap((call) => Object.entries(call.opaque ?? {}).map(written)));
  const isCopy = (name: string, value: Opaque[string]) => ofCalls.has(written([name, value]));
  const own = Object.fromEntries(Object.entries(opaque).filter(([name, value]) => !isCopy(name, value)));
  if (reasoning === null) return own;
  const { reasoning: one, reasoning_content: other, ...others } = own;
  const [named, renamed] = reasoning === "reasoning" ? [one, other] : [other, one];
  const said = named ?? renamed;
  return said === undefined ? others : { ...others, [reasoning]: said };
}
