import type { SealedPinned } from "@/server/contract/pinned-records";
import type { Manifest, ManifestVerification } from "@/server/contract/provenance";
import type { Receipt } from "@/server/contract/receipts";
import type { Ctx } from "@/server/domain/ctx";
import { publicKeys } from "@/server/domain/signing";
import { type Micros, toMoney } from "@/server/platform/money";
import { canonicalText } from "@/server/platform/text/canonical";
import {
  isSameDigest,
  type KeySet,
  manifestEntryOf,
  type Verification,
  verifyDocument,
} from "@/server/verify";
import { getManifest } from "./manifests";
import { AT_ONCE, type FoundReceipt, receiptsOf } from "./receipts";

type Line = Manifest["receipts"][number];

/**
 * Compares a manifest with the stored receipts: each is hashed, its signature is checked again, and its
 * entry is compared with the manifest. Everyone who may read the manifest gets the same complete answer,
 * whatever environment their key has.
 */
export async function verifyManifest(ctx: Ctx, manifestId: string): Promise<ManifestVerification> {
  const manifest = await getManifest(ctx, manifestId);
  const keys = await publicKeys();
  const own = await verifyDocument(manifest, keys);
  const tally = {
    receiptsFound: 0,
    pinsMatching: 0,
    requestHashDrift: [] as string[],
    receiptsInvalid: [] as string[],
    fallbacks: 0,
    providerRetries: 0,
    costUnknown: 0,
  };
  let spent: Micros = 0;
  for (let from = 0; from < manifest.receipts.length; from += AT_ONCE) {
    const lines = manifest.receipts.slice(from, from + AT_ONCE);
    const ids = lines.map(({ receiptId }) => receiptId);
    const found = await receiptsOf(manifest.projectId, null, ids);
    for (const line of lines) {
      const receipt = found.get(line.receiptId);
      if (!receipt) continue;
      const { isSamePin, isSameRequest, isWhole } = await compare(line, receipt, keys);
      const { fallbacks, retries, spentMicros } = figuresOf(receipt.document);
      tally.receiptsFound++;
      if (isSamePin) tally.pinsMatching++;
      if (!isSameRequest) tally.requestHashDrift.push(line.receiptId);
      if (!isWhole) tally.receiptsInvalid.push(line.receiptId);
      tally.fallbacks += fallbacks;
      tally.providerRetries += retries;
      if (spentMicros === null) tally.costUnknown++;
      else spent += spentMicros;
    }
  }
  const receiptsExpected = manifest.receipts.length;
  const manifestHashMatches = holds(own, "hash_matches");
  const signatureValid = holds(own, "key_known") && holds(own, "signature_valid");
  return {
    manifestId,
    verified:
      manifestHashMatches &&
      signatureValid &&
      tally.receiptsFound === receiptsExpected &&
      tally.pinsMatching === receiptsExpected &&
      tally.requestHashDrift.length === 0 &&
      tally.receiptsInvalid.length === 0,
    receiptsExpected,
    ...tally,
    providerSpend: toMoney(spent),
    manifestHashMatches,
    signatureValid,
  };
}

const holds = ({ checks }: Verification, name: Verification["checks"][number]["name"]) =>
  checks.some((check) => check.name === name && check.ok);

/** Compares an entry with the sealed receipt and with the row of the execution. */
async function compare(line: Line, { document, requestHash }: FoundReceipt, keys: KeySet) {
  const now = manifestEntryOf(document);
  const { verified } = await verifyDocument(document, keys);
  return {
    isSamePin: canonicalText(line.pin) === canonicalText(now.pin ?? null),
    isSameRequest:
      isSameDigest(line.requestHash, now.requestHash) && isSameDigest(line.requestHash, requestHash),
    isWhole: verified && line.receiptHash === now.receiptHash,
  };
}

/**
 * Returns a receipt's fallbacks, its requests beyond one per attempt, and the cost of the provider's work;
 * `spentMicros` is null if the cost is unknown.
 */
function figuresOf(sealed: object) {
  const document = sealed as SealedPinned | Receipt; // this installation sealed it
  const { providerSubmissions, logicalAttempts, isTest } = document;
  return {
    fallbacks: "fallbacks" in document ? document.fallbacks.length : 0,
    retries: Math.max(0, providerSubmissions - logicalAttempts),
    // The sandbox costs nothing, and neither does an execution that sent no request.
    spentMicros: isTest || providerSubmissions === 0 ? 0 : costOf(document),
  };
}

function costOf(document: SealedPinned | Receipt): Micros | null {
  if ("pricing" in document) return document.pricing.providerCost?.amount?.amountMicros ?? null;
  return document.costStatus === "none" ? 0 : (document.cost?.amountMicros ?? null);
}
