import type { OutputItem } from "@/server/contract/openai-responses";
import { type ReturnedMembers, readReturnedMembers } from "@/server/domain/quotes";
import { isObject } from "@/server/platform/text/json";
import { wholeValue } from "@/server/platform/text/whole-text";
import type { Said } from "./result";

/*
 * The opaque members that a message's server needs back, as a reasoning item: clients of the Responses API carry its
 * encrypted_content from turn to turn without reading it. The content is our id of the message, a point, and the members as
 * JSON in base64url.
 */

type Item = Extract<OutputItem, { type: "reasoning" }>;

/** Null if the server needs nothing back. */
export function toReasoning(id: string, { id: message, opaque }: Said): Item | null {
  if (message === undefined || !opaque) return null;
  const members = Buffer.from(JSON.stringify(opaque)).toString("base64url");
  return { type: "reasoning", id, summary: [], encrypted_content: `${message}.${members}` };
}

const CONTENT = /^(msg_\w+)\.([\w-]+)$/;

/** The opaque members that an item brings back; undefined if the item is not ours. */
export function readReasoning(item: Record<string, unknown>): ReturnedMembers | undefined {
  const [, id, encoded] = CONTENT.exec(String(item.encrypted_content ?? "")) ?? [];
  if (id === undefined || encoded === undefined) return undefined;
  try {
    const members: unknown = wholeValue(JSON.parse(Buffer.from(encoded, "base64url").toString()));
    return isObject(members) ? readReturnedMembers({ ...members, id }, []) : undefined;
  } catch {
    return undefined;
  }
}
