export { book, moveBalance, type WalletPosting, walletAccount } from "./book";
export { checkLedger, type LedgerCheck } from "./check-ledger";
export { type Credit, credit } from "./credit";
export {
  billingSettings,
  convertUp,
  payableIn,
  presentationFor,
  rateTo,
  setBillingCurrency,
  toPresentationMoney,
} from "./currency";
export { type Funds, isFunded, recentFunds } from "./funded";
export { plans } from "./plans";
export { fundsOf, wallet, walletTransactions } from "./wallet";
