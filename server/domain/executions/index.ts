export { DIFFERS, gaveUp, pollCall, streamCall, submitCall } from "./call";
export { CHARGED, type Chargeable, chargeOf, FEE, holdFor, PROVIDER_COST } from "./charge";
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
  type AbortReason,
  type CallOutcome,
  type Failed,
  failed,
  LOST,
  nothingSent,
  type Observed,
  type ProviderSaid,
  saidBy,
  type Work,
} from "./outcome";
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
