import { PREFIXES } from "@/server/platform/ids";
import type { Opaque, ToolCall } from "@/server/providers/define";
import { tagOf } from "@/server/providers/maker-tag";
import { opaqueOfCall, opaqueOfMessage } from "@/server/providers/opaque";

/*
 * Messages of the assistant as the doors of OpenAI's interfaces receive them: their opaque members are beside all others. Only
 * of an answer of this service, which its tags tell, are they read; what another service made is no part of the request.
 */

/** Members that a message brings back beside its text and calls. */
export type Brought = { id?: string | undefined; members: Opaque };

/** The opaque members of a message. Its own id or that of one of its calls has the tag. */
export function broughtMessage(
  { id, ...members }: Record<string, unknown>,
  calls: readonly { id: string }[],
): Brought | undefined {
  const own = typeof id === "string" && tagOf(id) !== null ? id : undefined;
  if (own === undefined && !calls.some((call) => tagOf(call.id) !== null)) return undefined;
  const opaque = opaqueOfMessage(members);
  return opaque && { ...(own === undefined ? {} : { id: own }), members: opaque };
}

/** A call of a tool with its opaque members. */
export function broughtCall(call: ToolCall, members: Record<string, unknown>): ToolCall {
  const opaque = tagOf(call.id) === null ? undefined : opaqueOfCall(members);
  return opaque ? { ...call, opaque } : call;
}

/** The execution whose answer has a call of this id; null: the id names none. */
export function answerNamed(id: string): string | null {
  const tag = tagOf(id);
  return tag && `${PREFIXES.job}_${tag.execution}`;
}
