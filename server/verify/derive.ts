import { canonicalText } from "../canonical-text";
import type { Json } from "../step";
import { hashOfText } from "./ed25519";
import { isObject, type JsonObject } from "./json";

/*
 * What one document says of another: the line of a manifest and the body of a lockfile both follow from the receipt they
 * stand for. Whoever makes them and whoever checks them takes them from here.
 */

const member = (value: Json | undefined, name: string): Json =>
  (isObject(value) ? value[name] : undefined) ?? null;

/** The line of a manifest for a job's receipt or a pinned record. */
export function manifestEntryOf(receipt: JsonObject): JsonObject {
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
    // Of work that no provider was asked for: none.
    pin: Object.values(pin).includes(null) ? null : pin,
    completedAt: member(receipt.timestamps, "completedAt"),
  };
}

/** What a lockfile says of a pinned record; all but its integrity and signature. */
export async function lockfileBodyOf(record: JsonObject): Promise<JsonObject> {
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
    // Of the record and not of today: one record has one lockfile, byte for byte.
    createdAt: member(record, "completedAt"),
  };
}

/** Of instructions and input together, each by its own hash. */
export const promptHashOf = (hashes: { instructionsHash?: Json; inputHash?: Json }): Promise<string> =>
  hashOfText(
    canonicalText({
      instructionsHash: hashes.instructionsHash ?? null,
      inputHash: hashes.inputHash ?? null,
    }),
  );
