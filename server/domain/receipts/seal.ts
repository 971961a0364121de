import type { Receipt } from "@/server/contract/receipts";
import { type Signed, signBody } from "@/server/domain/signing";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { composeReceipt } from "./compose";
import type { ReceiptFacts } from "./facts";

/** A document of evidence as its row keeps it: canonical text, its SHA-256, and who signed it. */
export type Sealed = { body: string; hash: string } & Signed;
export type SealedReceipt = { id: string } & Sealed;

/** Brings a document into canonical form, hashes that and signs it: receipts, records, manifests, lockfiles alike. */
export async function sealDocument(document: { [member: string]: Json }): Promise<Sealed> {
  const body = canonicalText(document);
  return { body, hash: sha256Hex(body), ...(await signBody(body)) };
}

/** Composes a receipt and seals it. */
export async function sealReceipt(facts: ReceiptFacts): Promise<SealedReceipt> {
  const receipt = composeReceipt(facts);
  // Sound: every member is a string, a number, a list of them, or JSON that was parsed before.
  return { id: receipt.receiptId, ...(await sealDocument(plainJson(receipt) as { [member: string]: Json })) };
}

/** A signature as documents carry it. */
export const signatureOf = ({ keyId, signature }: Signed): Receipt["signature"] => ({
  alg: "EdDSA",
  keyId,
  value: signature,
});

/** A sealed receipt as it is shown: the body as it was signed, with its hash and its signature beside. */
export function toReceipt({ body, hash, ...signed }: Sealed): Receipt {
  const sealed: Omit<Receipt, "signature"> = JSON.parse(body); // written by composeReceipt
  return {
    ...sealed,
    provenance: { ...sealed.provenance, receiptHash: hash },
    signature: signatureOf(signed),
  };
}
