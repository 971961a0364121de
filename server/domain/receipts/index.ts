export type { ReceiptFacts } from "./compose";
export { type Sealed, type SealedReceipt, sealDocument, sealReceipt, signatureOf, toReceipt } from "./seal";
