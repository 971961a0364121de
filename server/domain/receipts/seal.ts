import type { Receipt } from "@/server/contract/receipts";
import { composeReceipt, type ReceiptFacts } from "./compose";
import { type Signed, signBody } from "./signing";

/** A receipt as its row keeps it. */
export type SealedReceipt = { id: string; body: string; hash: string } & Signed;

/** Composes a receipt, hashes its canonical body and signs it. */
export async function sealReceipt(facts: ReceiptFacts): Promise<SealedReceipt> {
  const composed = composeReceipt(facts);
  return { ...composed, ...(await signBody(composed.body)) };
}

/** A sealed receipt as it is shown: the body as it was signed, with its hash and its signature beside. */
export function toReceipt({ body, hash, keyId, signature }: Omit<SealedReceipt, "id">): Receipt {
  const sealed: Omit<Receipt, "signature"> = JSON.parse(body); // written by composeReceipt
  return {
    ...sealed,
    provenance: { ...sealed.provenance, receiptHash: hash },
    signature: { alg: "EdDSA", keyId, value: signature },
  };
}
