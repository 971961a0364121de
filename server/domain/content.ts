import { isPrivate } from "@/server/contract/envelope";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import type { ErrorCode } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { sha256Hex } from "@/server/platform/text/canonical";

/** Content as its row has it; null: it was removed. */
export type StoredContent = { id: string; content: string | null; is_sealed: boolean };

/** Content on its way into a row, to be kept for a while: in the clear here, encrypted in the row where it must be. */
export type KeptContent = {
  id: string;
  content: string;
  is_sealed: boolean;
  sha256: string;
  byte_length: number;
  /** Null: until it is deleted. */
  expires_at: Date | null;
};

export const toKept = (content: string, is_sealed: boolean, expires_at: Date | null): KeptContent => ({
  id: newId("payload"),
  content,
  is_sealed,
  sha256: sha256Hex(content),
  byte_length: Buffer.byteLength(content),
  expires_at,
});

/** Must what this job takes in and puts out be kept encrypted? */
export const isKeptSealed = (dataClassification: string, retentionRequirement: string) =>
  isPrivate(dataClassification) || retentionRequirement === "EncryptedShortTerm";

/** The text of a payload row: encrypted under the vault key, and bound to this row's id. */
export const sealContent = (content: string, payloadId: string) =>
  sealSecret(content, `payload|${payloadId}|content`);

/** The content of a payload row in the clear; null where it was removed. */
export function openContent({ id, content, is_sealed }: StoredContent): string | null {
  if (content === null || !is_sealed) return content;
  return openSecret(content, `payload|${id}|content`).toString("utf8");
}

/** The warning of an answer whose output is no longer there, which tells it from one that said nothing. */
export const OUTPUT_REMOVED = {
  code: "PayloadUnavailable" as const satisfies ErrorCode,
  message: "The output of this execution was removed when its retention ended; its hash is on the receipt.",
};
