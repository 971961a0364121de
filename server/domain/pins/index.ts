export { cancelBulk } from "./bulk/cancel";
export { getBulk, listBulks } from "./bulk/read";
export { retrySafely } from "./bulk/retry";
export { runBulk, stopClaiming } from "./bulk/run";
export { submitBulk } from "./bulk/submit";
export { choices } from "./planning/choices";
export { content } from "./planning/content";
export {
  checkPinStillRuns,
  type PinCheck,
  type PinCheckResult,
  type RequestToday,
  requestToday,
} from "./planning/still-runs";
export { get, list } from "./read";
export { toRecord } from "./record";
export { run } from "./single";
export { sweep } from "./sweep";
