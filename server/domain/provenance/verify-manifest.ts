import { canonicalText } from "@/server/canonical";
import type { SealedPinned } from "@/server/contract/pinned";
import type { Manifest, ManifestVerification } from "@/server/contract/provenance";
import type { Receipt } from "@/server/contract/receipts";
import type { Ctx } from "@/server/domain/ctx";
import { publicKeys } from "@/server/domain/signing";
import { type Micros, toMoney } from "@/server/money";
import type { Json } from "@/server/step";
import { type KeySet, manifestEntryOf, type Verification, verifyDocument } from "@/server/verify";
import { getManifest } from "./manifests";
import { AT_ONCE, type FoundReceipt, receiptsOf } from "./receipts";

type Line = Manifest["receipts"][number];

/**
 * Holds a manifest against the receipts as they lie here today: each is hashed and its signature checked anew, and what it
 * says is compared with what the manifest says of it. It is the project's, and whole to whoever may read it.
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

/** The line against the receipt as it is sealed, and against the row of the execution. */
async function compare(line: Line, { document, requestHash }: FoundReceipt, keys: KeySet) {
  const now = manifestEntryOf(document);
  const { verified } = await verifyDocument(document, keys);
  return {
    isSamePin: canonicalText(line.pin) === canonicalText(now.pin ?? null),
    isSameRequest: line.requestHash === now.requestHash && line.requestHash === requestHash,
    isWhole: verified && line.receiptHash === now.receiptHash,
  };
}

/** What a receipt tells of fallbacks, of requests beyond the first, and of what the provider's work cost; null: unknown. */
function figuresOf(document: { [member: string]: Json }) {
  const isPinned = document.schemaVersion === "service.pinned-record.v1";
  const { providerSubmissions, logicalAttempts, isTest } = document as unknown as SealedPinned | Receipt; // sealed here
  return {
    fallbacks: isPinned ? 0 : (document as unknown as Receipt).fallbacks.length,
    retries: Math.max(0, providerSubmissions - logicalAttempts),
    // The sandbox is nobody's bill, and what never left cost nothing.
    spentMicros: isTest || providerSubmissions === 0 ? 0 : costOf(document),
  };
}

function costOf(document: { [member: string]: Json }): Micros | null {
  const { cost, costStatus } = document as unknown as SealedPinned;
  if (costStatus !== undefined) return costStatus === "none" ? 0 : (cost?.amountMicros ?? null);
  return (document as unknown as Receipt).pricing.providerCost?.amount?.amountMicros ?? null;
}
