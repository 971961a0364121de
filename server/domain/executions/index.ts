export { apply, end, type Next, type Store } from "./apply";
export { refuseInternally, send } from "./call";
export {
  type AbortReason,
  type CallAnswer,
  type CallFailed,
  type CallOutcome,
  type CallPending,
  type Content,
  type Ending,
  ending,
  failed,
  freesKey,
  type Gate,
  isCancel,
  LOST,
  lostAfter,
  type NewEnding,
  nothingSent,
  type ProviderMessage,
  resultOf,
  unavailable,
  unseen,
  unusable,
} from "./call-outcome";
export {
  awaitFirst,
  failUnknown,
  faultOf,
  nextStepOf,
  unsentFault,
  visibleProviderMessage,
  withSaid,
} from "./caller";
export { CHARGED, type Chargeable, chargeOf, holdFor, PROVIDER_COST } from "./charge";
export type { CallTerms } from "./classify";
export { type Clock, clockOf, sleep } from "./clock";
export {
  CANCELED,
  decide,
  decideAbandoned,
  decideTurn,
  decideUnstored,
  type ExecutionFacts,
  endingFound,
  type FoundEnding,
  STOPPED,
} from "./decide";
export { estimatedUsage, requestSizeOf } from "./estimated-usage";
export {
  goodFrom,
  jobLeases,
  LEASE_MS,
  type Lease,
  leaseOwner,
  type Pass,
  pinLeases,
  reapsUntil,
  releaseAllLeases,
} from "./leases";
export { booksOf, type CallMoney, callMoneyOf, type ExecutionMoney, moneyOf, usageOf } from "./money";
export { backoffOf, type OutcomeKind, rowOf, type Settlement } from "./outcomes";
export { accountOf, DIFFERS, type PortCall, pollCall, streamCall, submitCall } from "./port-sender";
export { correctUnsent, forgetUnsent, isKnownUnsent } from "./unsent";
