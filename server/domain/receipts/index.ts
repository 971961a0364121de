export type { ReceiptFacts } from "./facts";
export { type Sealed, type SealedReceipt, sealDocument, sealReceipt, signatureOf, toReceipt } from "./seal";
