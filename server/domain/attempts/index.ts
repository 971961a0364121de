export {
  type AbortReason,
  type CallOutcome,
  LOST,
  type Observed,
  pollCall,
  type Settlement,
  streamCall,
  submitCall,
  type Work,
} from "./call";
