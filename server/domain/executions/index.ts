export { refuseInternally, send } from "./call";
export { awaitFirst, failUnknown, faultOf, nextStepOf, saidUnasked, withSaid } from "./caller";
export { CHARGED, type Chargeable, chargeOf, FEE, holdFor, PROVIDER_COST } from "./charge";
export {
  type AbortReason,
  type Call,
  type CallOutcome,
  type Failed,
  failed,
  LOST,
  type NoAnswer,
  nothingSent,
  type Observed,
  type ProviderSaid,
  unusable,
} from "./classify";
export { type Clock, clockOf, sleep } from "./clock";
export { finishOnce, writeSurely } from "./end";
export {
  jobLeases,
  LEASE_MS,
  type Lease,
  leaseOwner,
  pinLeases,
  releaseAllLeases,
} from "./leases";
export { type Books, booksOf, type CallMoney, type ExecutionMoney, moneyOf, usageOf } from "./money";
export { kindOfResult, type OutcomeKind, rowOf, type Settlement } from "./outcomes";
export { accountOf, DIFFERS, pollCall, streamCall, submitCall, type Work } from "./port-sender";
export { apply, type Driver } from "./turn";
