export {
  type AbortReason,
  type CallOutcome,
  gaveUp,
  LOST,
  type Observed,
  pollCall,
  type Settlement,
  streamCall,
  submitCall,
  type Work,
} from "./call";
export {
  type Claimed,
  LEASE_MS,
  type Lease,
  type LeaseKeeper,
  leaseKeeper,
  leaseOwner,
  releaseAllLeases,
} from "./leases";
export { settle } from "./settle";
