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
