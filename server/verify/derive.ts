import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "../platform/text/canonical-text";
import { hashOfText } from "./ed25519";
import { isJsonRecord, type JsonRecord } from "./json";

/*
 * Documents derived from others: a manifest's line and a lockfile's body both follow from the receipt they describe. The
 * code that creates them and the code that verifies them both use this file.
 */

const member = (value: Json | undefined, name: string): Json =>
  (isJsonRecord(value) ? value[name] : undefined) ?? null;

/** The line of a manifest for a job's receipt or a pinned record. */
export function manifestEntryOf(receipt: JsonRecord): JsonRecord {
  const shared = {
    receiptId: member(receipt, "receiptId"),
    requestHash: member(receipt, "requestHash"),
    outputHash: member(receipt, "outputHash"),
    providerSubmission: member(receipt, "providerSubmission"),
  };
  if (receipt.schemaVersion === "service.pinned-record.v1") {
    const { recordHash, pin, completedAt } = receipt;
    return { ...shared, receiptHash: recordHash ?? null, pin: pin ?? null, completedAt: completedAt ?? null };
  }
  const { route } = receipt;
  const pin = {
    provider: member(route, "provider"),
    model: member(route, "model"),
    api: member(route, "api"),
  };
  return {
    ...shared,
    receiptHash: member(receipt.provenance, "receiptHash"),
    // Null for work that used no provider.
    pin: Object.values(pin).includes(null) ? null : pin,
    completedAt: member(receipt.timestamps, "completedAt"),
  };
}

/** The body of the lockfile of a pinned record, without its integrity and signature. */
export async function lockfileBodyOf(record: JsonRecord): Promise<JsonRecord> {
  const copied = [
    "projectId",
    "pin",
    "isolation",
    "processing",
    "settings",
    "requestHash",
    "toolsHash",
    "responseFormatHash",
    "providerModel",
    "providerFingerprint",
    "receiptId",
  ].map((name) => [name, member(record, name)] as const);
  return {
    ...Object.fromEntries(copied),
    schemaVersion: "service.lockfile.v1",
    promptHash: await promptHashOf(record),
    // The time of the record, not the current time: a record has exactly one lockfile, byte for byte.
    createdAt: member(record, "completedAt"),
  };
}

/** One hash over the hashes of instructions and input. */
export const promptHashOf = (hashes: { instructionsHash?: Json; inputHash?: Json }): Promise<string> =>
  hashOfText(
    canonicalText({
      instructionsHash: hashes.instructionsHash ?? null,
      inputHash: hashes.inputHash ?? null,
    }),
  );
