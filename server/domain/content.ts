import { isPrivate } from "@/server/contract/envelope";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import type { ErrorCode } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { sha256Hex } from "@/server/platform/text/canonical";

/** Content as stored in its row; null if it was removed. */
export type StoredContent = { id: string; content: string | null; is_sealed: boolean };

/** Content for a new row: plain text here, encrypted in the row if `is_sealed`. */
export type KeptContent = {
  id: string;
  content: string;
  is_sealed: boolean;
  sha256: string;
  byte_length: number;
  /** Null keeps the content until it is deleted. */
  expires_at: Date | null;
};

export const toContentRow = (content: string, is_sealed: boolean, expires_at: Date | null): KeptContent => ({
  id: newId("payload"),
  content,
  is_sealed,
  sha256: sha256Hex(content),
  byte_length: Buffer.byteLength(content),
  expires_at,
});

/** True if the job's input and output must be stored encrypted. */
export const isKeptSealed = (dataClassification: string, retentionRequirement: string) =>
  isPrivate(dataClassification) || retentionRequirement === "EncryptedShortTerm";

/** Encrypts the text of a payload row under the vault key, bound to the id of the row. */
export const sealContent = (content: string, payloadId: string) =>
  sealSecret(content, `payload|${payloadId}|content`);

/** Returns the plain text of a payload row; null if the content was removed. */
export function openContent({ id, content, is_sealed }: StoredContent): string | null {
  if (content === null || !is_sealed) return content;
  return openSecret(content, `payload|${id}|content`).toString("utf8");
}

/** Warning of a response whose output was removed. It distinguishes that output from an empty one. */
export const OUTPUT_REMOVED = {
  code: "PayloadUnavailable" as const satisfies ErrorCode,
  message: "The output of this execution was removed when its retention ended; its hash is on the receipt.",
};
