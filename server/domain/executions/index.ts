export { apply, end, type Next, type Store } from "./apply";
export { refuseInternally, send } from "./call";
export {
  type AbortReason,
  type Answer,
  type CallOutcome,
  type Content,
  type Ending,
  ending,
  type Failed,
  failed,
  freesKey,
  type Gate,
  isCancel,
  LOST,
  lostAfter,
  type NewEnding,
  nothingSent,
  type Pending,
  type ProviderSaid,
  resultOf,
  unavailable,
  unseen,
  unusable,
} from "./call-outcome";
export { awaitFirst, failUnknown, faultOf, nextStepOf, saidUnasked, unsentFault, withSaid } from "./caller";
export { CHARGED, type Chargeable, chargeOf, holdFor, PROVIDER_COST } from "./charge";
export type { Call } from "./classify";
export { type Clock, clockOf, sleep } from "./clock";
export {
  CANCELED,
  decide,
  decideAbandoned,
  decideTurn,
  decideUnstored,
  endingFound,
  type Facts,
  type Found,
  STOPPED,
} from "./decide";
export { askedOf, estimatedUsage } from "./estimated-usage";
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
export { accountOf, DIFFERS, pollCall, streamCall, submitCall, type Work } from "./port-sender";
export { correctUnsent, forgetUnsent, isKnownUnsent } from "./unsent";
