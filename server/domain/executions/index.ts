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
  LOST,
  lostAfter,
  type NewEnding,
  type NoAnswer,
  nothingSent,
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
export { CANCELED, decideAbandoned, decideTurn, decideUnstored, endingFound, type Found } from "./decide";
export { finishOnce, writeSurely } from "./end";
export { askedOf, estimatedUsage } from "./estimated-usage";
export {
  goodFrom,
  jobLeases,
  LEASE_MS,
  type Lease,
  leaseOwner,
  pinLeases,
  releaseAllLeases,
} from "./leases";
export { type Books, booksOf, type CallMoney, type ExecutionMoney, moneyOf, usageOf } from "./money";
export { type OutcomeKind, rowOf, type Settlement } from "./outcomes";
export { accountOf, DIFFERS, pollCall, streamCall, submitCall, type Work } from "./port-sender";
export { type Pass, reapsUntil } from "./reaping";
export { apply, type Driver } from "./turn";
export { correctUnsent, forgetUnsent, isKnownUnsent } from "./unsent";
