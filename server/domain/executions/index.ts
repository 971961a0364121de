export { gaveUp, pollCall, streamCall, submitCall } from "./call";
export {
  type Claimed,
  LEASE_MS,
  type Lease,
  type LeaseKeeper,
  leaseKeeper,
  leaseOwner,
  releaseAllLeases,
} from "./leases";
export { nextStepOf } from "./next-step";
export {
  type AbortReason,
  type CallOutcome,
  LOST,
  nothingSent,
  type Observed,
  type ProviderSaid,
  type Settlement,
  saidBy,
  type Work,
} from "./outcome";
export { settle } from "./settle";
