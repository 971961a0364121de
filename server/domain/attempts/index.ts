export {
  type AbortReason,
  type CallOutcome,
  LOST,
  type Observed,
  pollCall,
  type Settlement,
  submitCall,
  type Work,
} from "./call";
