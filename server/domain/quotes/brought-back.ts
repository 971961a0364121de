import { InputFault } from "@/server/capabilities/define";
import type { AnyCall, Opaque, TextMessage, ToolCall } from "@/server/providers/define";
import { hashOfMaker, type Maker, type Tag, tagOf } from "@/server/providers/maker-tag";
import { isReserved } from "@/server/providers/opaque";
import type { Estimate } from "./estimate";

/*
 * A conversation returns opaque members and call ids of earlier answers. Members are sent only to the
 * server that made them, with its own ids; any other route drops them, and the receipt records that.
 */

/** Limit for all opaque members of a request together, as JSON in UTF-8. */
export const MOST_OPAQUE_BYTES = 256 * 1024;

type Assistant = Extract<TextMessage, { role: "assistant" }>;
type Rewrites = Estimate["rewrites"];

/**
 * Returns the call in the form for this maker, and the messages that lost members. Throws InputFault if the
 * members have reserved names or are too large.
 */
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

/** Refuses opaque members with a reserved name, and more bytes than a request may return. */
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

/**
 * Restores the members and ids that the maker itself used. `isWhole` is false if any member was dropped.
 */
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

/**
 * Removes the tag from the id of a call that another server made; an id that its answer repeats gets a
 * number. Keeps the whole id if an earlier call already has the bare one.
 */
function elsewhere(id: string, tag: Tag | null, taken: ReadonlySet<string>): string {
  if (!tag) return id;
  const bare = tag.number > 1 ? `${tag.id}-${tag.number}` : tag.id;
  return bare === "" || taken.has(bare) ? id : bare;
}

const written = (member: [string, Opaque[string]]): string => JSON.stringify(member);

/**
 * Restores members as their server made them. OpenAI's Agents SDK copies the members of a call to its
 * message. That SDK and the AI SDK each use one name for all reasoning, and a server rejects or ignores
 * reasoning under another name than its own.
 */
function asMade(opaque: Opaque, { reasoning }: Tag, calls: readonly ToolCall[]): Opaque {
  // The members are serialized once, so the cost stays linear in their number.
  const ofCalls = new Set(calls.flatMap((call) => Object.entries(call.opaque ?? {}).map(written)));
  const isCopy = (name: string, value: Opaque[string]) => ofCalls.has(written([name, value]));
  const own = Object.fromEntries(Object.entries(opaque).filter(([name, value]) => !isCopy(name, value)));
  if (reasoning === null) return own;
  const { reasoning: one, reasoning_content: other, ...others } = own;
  const [named, renamed] = reasoning === "reasoning" ? [one, other] : [other, one];
  const said = named ?? renamed;
  return said === undefined ? others : { ...others, [reasoning]: said };
}
