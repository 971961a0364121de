export type { ReceiptFacts } from "./compose";
export { type SealedReceipt, sealReceipt, toReceipt } from "./seal";
export { forgetKeys, listSigningKeys, publicKeys, rotateSigningKey } from "./signing";
