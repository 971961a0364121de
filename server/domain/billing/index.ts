export { book, moveBalance, type Posting, walletAccount } from "./book";
export { checkLedger, type LedgerCheck } from "./check-ledger";
export { type Credit, credit } from "./credit";
export {
  billingSettings,
  convertUp,
  payableIn,
  present,
  presentationFor,
  rateTo,
  setBillingCurrency,
} from "./currency";
export { type Funds, isFunded, recentFunds } from "./funded";
export { plans } from "./plans";
export { fundsOf, SERVICE_FEE_BPS, wallet, walletTransactions } from "./wallet";
