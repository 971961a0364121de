import { PREFIXES } from "@/server/platform/ids";
import type { Opaque, ToolCall } from "@/server/providers/define";
import { tagOf } from "@/server/providers/maker-tag";
import { opaqueOfCall, opaqueOfMessage } from "@/server/providers/opaque";

/*
 * OpenAI's interfaces send opaque members beside the other members of an assistant message. They are read
 * only if a tag shows that this service made the message; others are not part of the request.
 */

/** Members that a message returns to us besides its text and calls. */
export type ReturnedMembers = { id?: string | undefined; members: Opaque };

/**
 * Reads the opaque members of a message. Undefined unless its own id or that of one of its calls has a tag.
 */
export function readReturnedMembers(
  { id, ...members }: Record<string, unknown>,
  calls: readonly { id: string }[],
): ReturnedMembers | undefined {
  const own = typeof id === "string" && tagOf(id) !== null ? id : undefined;
  if (own === undefined && !calls.some((call) => tagOf(call.id) !== null)) return undefined;
  const opaque = opaqueOfMessage(members);
  return opaque && { ...(own === undefined ? {} : { id: own }), members: opaque };
}

/** Adds the opaque members to a tool call whose id has a tag. */
export function withReturnedMembers(call: ToolCall, members: Record<string, unknown>): ToolCall {
  const opaque = tagOf(call.id) === null ? undefined : opaqueOfCall(members);
  return opaque ? { ...call, opaque } : call;
}

/** Returns the execution whose answer contains a call with this id; null if the id has no tag. */
export function executionOfCall(id: string): string | null {
  const tag = tagOf(id);
  return tag && `${PREFIXES.job}_${tag.execution}`;
}
