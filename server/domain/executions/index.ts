export { type Call, noteExhausted, send } from "./call";
export { CHARGED, type Chargeable, chargeOf, FEE, holdFor, PROVIDER_COST } from "./charge";
export {
  type Aborted,
  type AbortReason,
  type CallOutcome,
  type Content,
  type Failed,
  failed,
  LOST,
  lostAfter,
  type NoAnswer,
  nothingSent,
  type Observed,
  type Pending,
  type ProviderSaid,
  type Refused,
} from "./classify";
export {
  type Claimed,
  LEASE_MS,
  type Lease,
  type LeaseKeeper,
  leaseKeeper,
  leaseOwner,
  releaseAllLeases,
} from "./leases";
export { type CallMoney, type ExecutionMoney, moneyOf, usageOf } from "./money";
export { nextStepOf } from "./next-step";
export {
  backoffOf,
  healthOf,
  kindOfFault,
  kindOfResult,
  kindOfUnusable,
  type OutcomeKind,
  rowOf,
  type Settlement,
} from "./outcomes";
export { accountOf, DIFFERS, pollCall, streamCall, submitCall, type Work } from "./port-sender";
export { apply, type Driver } from "./turn";
