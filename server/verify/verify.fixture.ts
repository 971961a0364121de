import { expect } from "vitest";
import { type KeySet, lockfileBodyOf, manifestEntryOf, verifyDocument } from "@/server/verify";
import {
  type Document,
  makeLockfile,
  makeManifest,
  makeReceipt,
  makeRecord,
  makeSigner,
  type Signer,
} from "@/testing/evidence";

export let signer: Signer;
export let receipt: Document;
export let record: Document;
export let manifest: Document;
export let lockfile: Document;

export async function sealDocuments(): Promise<void> {
  signer = makeSigner();
  receipt = makeReceipt(signer);
  record = makeRecord(signer);
  manifest = makeManifest(signer, [manifestEntryOf(receipt), manifestEntryOf(record)]);
  lockfile = makeLockfile(signer, await lockfileBodyOf(record));
}

/** Expects the document to be invalid, and returns the names of the checks that fail. */
export const failed = async (value: unknown, keys: KeySet = signer.keys) => {
  const { verified, checks } = await verifyDocument(value, keys);
  expect(verified).toBe(false);
  return checks.filter((check) => !check.ok).map((check) => check.name);
};
