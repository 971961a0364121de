import type { z } from "zod";
import { PinnedRecord } from "@/server/contract/pinned-records";
import { Lockfile, Manifest } from "@/server/contract/provenance";
import { Receipt } from "@/server/contract/receipts";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText } from "@/server/platform/text/canonical-text";
import {
  type DocumentKind,
  differencesOf,
  formOf,
  readJson,
  sealedText,
  shownValue,
  type Verification,
} from "@/server/verify";
import { beforeOneChange } from "@/server/verify/find-change";

/*
 * Explains why a document does not verify: which of its members do not match the published form and, if a single byte was
 * changed, which one; the hash identifies the original text.
 */

const CONTRACTS: Record<DocumentKind, z.ZodType> = {
  receipt: Receipt,
  "pinned record": PinnedRecord,
  manifest: Manifest,
  lockfile: Lockfile,
};

type Document = { [member: string]: Json };

/** Returns sentences about what was changed in this text, or none if that cannot be determined. */
export function explainVerification(text: string, { kind, checks }: Verification): string[] {
  const read = readJson(text);
  if ("unreadable" in read || kind === null) return [];
  const document = read.value as Document; // it has a kind, so it is an object
  const failed = new Set(checks.filter(({ ok }) => !ok).map(({ name }) => name));
  const said = formIssues(document, CONTRACTS[kind]);
  const isSealBroken = failed.has("hash_matches") && failed.has("signature_valid");
  if (isSealBroken) said.push(...changeIn(sealedText(document), statedHash(document), ""));
  for (const [check, member] of [
    ["output_matches", "output"],
    ["native_response_matches", "nativeResponse"],
  ] as const) {
    const hash = document[`${member}Hash`];
    if (!failed.has(check) || isSealBroken || typeof hash !== "string") continue;
    said.push(...changeIn(canonicalText(document[member] ?? null), Buffer.from(hash, "hex"), `${member}.`));
  }
  return said;
}

function formIssues(document: Document, contract: z.ZodType): string[] {
  const parsed = contract.safeParse(document);
  if (!parsed.success)
    return parsed.error.issues.map(
      ({ path, message }) =>
        `${path.join(".") || "the document"} does not match the published form: ${message}`,
    );
  // Parsing removes members that the contract does not have.
  return differencesOf(document, parsed.data as Json).map(
    ({ path, here }) => `${path} (${shownValue(here)}) is not a member of the published form`,
  );
}

function statedHash(document: Document): Buffer {
  const hash = formOf(document)?.hashOf(document) ?? "";
  return hash.startsWith("sha256-") ? Buffer.from(hash.slice(7), "base64") : Buffer.from(hash, "hex");
}

function changeIn(text: string, hash: Buffer, prefix: string): string[] {
  const before = beforeOneChange(text, hash);
  if (before === null) return [];
  return differencesOf(JSON.parse(text), JSON.parse(before)).map(
    ({ path, here, there }) =>
      `one byte was changed: ${prefix}${path} is ${shownValue(here)} and was ${shownValue(there)} when it was hashed`,
  );
}
