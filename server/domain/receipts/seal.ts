import type { Receipt } from "@/server/contract/receipts";
import { type Signed, signBody } from "@/server/domain/signing";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { composeReceipt } from "./compose";
import type { ReceiptFacts } from "./facts";

/** A document of evidence as its row stores it: the canonical text, its SHA-256 in hex, and the key and signature. */
export type Sealed = { body: string; hash: string } & Signed;
export type SealedReceipt = { id: string } & Sealed;

/**
 * Seals a receipt, record, manifest or lockfile: converts the document to canonical text, hashes the text and signs it.
 */
export async function sealDocument(document: { [member: string]: Json }): Promise<Sealed> {
  const body = canonicalText(document);
  return { body, hash: sha256Hex(body), ...(await signBody(body)) };
}

/** Composes a receipt and seals it. */
export async function sealReceipt(facts: ReceiptFacts): Promise<SealedReceipt> {
  const receipt = composeReceipt(facts);
  // Safe: every member is a string, a number, a boolean, null, or JSON that was parsed before.
  return { id: receipt.receiptId, ...(await sealDocument(plainJson(receipt) as { [member: string]: Json })) };
}

/** Returns a signature in the form that documents carry. */
export const signatureOf = ({ keyId, signature }: Signed): Receipt["signature"] => ({
  alg: "EdDSA",
  keyId,
  value: signature,
});

/** Returns a sealed receipt as clients see it: the signed body with its hash and its signature added. */
export function toReceipt({ body, hash, ...signed }: Sealed): Receipt {
  const sealed: Omit<Receipt, "signature"> = JSON.parse(body); // the body was written by `composeReceipt`
  return {
    ...sealed,
    provenance: { ...sealed.provenance, receiptHash: hash },
    signature: signatureOf(signed),
  };
}
