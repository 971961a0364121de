export type { Conversation } from "@/server/capabilities/conversation";
export { submit } from "./admission/admit";
export { preview } from "./admission/preview";
export { holdProcessLock } from "./admission/process-lock";
export { retry } from "./admission/retry";
export { requireDurable } from "./admission/submission";
export {
  type AdmittedTogether,
  estimateTogether,
  submitTogether,
  type Together,
} from "./admission/submit-together";
export { approve, pauseForApproval, reject } from "./decisions/approvals";
export { acceptAsIs, failWaiting, listAttention, retryStep } from "./decisions/attention";
export { rights } from "./decisions/rights";
export { selectVariant } from "./decisions/select-variant";
export { countWaiting, listWaiting } from "./decisions/waiting-approvals";
export { cancel } from "./ending/cancel";
export { withoutVendorWords } from "./ending/provider-said";
export { prune } from "./ending/prune";
export { writeOff } from "./ending/write-off";
export { events, followEvents, hasLastEvent } from "./following/events";
export { announce } from "./following/fan-out";
export { followFrames, hasLastFrame, type JobFrame } from "./following/frames";
export type { Page } from "./following/hub";
export { waitFor } from "./following/wait-for";
export { get, idOfKey } from "./reading/get";
export { history, mine, namedHistory } from "./reading/history";
export { artifact, receipt, refuseUnjudged, request, result } from "./reading/reads";
export { references } from "./reading/references";
export { usualRun } from "./reading/usual-run";
export { MOST_INLINE_PICTURE_BYTES, PICTURES, works } from "./reading/works";
export { type Door, invoke } from "./running/invoke";
export { run } from "./running/run";
export { sweep } from "./running/sweep";
