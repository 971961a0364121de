export { composeReceipt, type ReceiptFacts } from "./compose";
