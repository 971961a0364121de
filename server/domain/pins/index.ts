export {
  cancelBulk,
  getBulk,
  listBulks,
  retrySafely,
  runBulk,
  stopClaiming,
  submitBulk,
} from "./bulk";
export { choices } from "./planning/choices";
export { content } from "./planning/content";
export {
  type Answer,
  checkPinStillRuns,
  type PinCheck,
  type RequestToday,
  requestToday,
} from "./planning/still-runs";
export { get, list } from "./read";
export { toRecord } from "./record";
export { run } from "./single";
export { sweep } from "./sweep";
