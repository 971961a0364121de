export {
  cancelBulk,
  getBulk,
  listBulks,
  retrySafely,
  runBulk,
  stopClaiming,
  submitBulk,
} from "./bulk";
export { choices } from "./choices";
export { content } from "./content";
export { type Planned, planPinned } from "./plan";
export { get, list } from "./read";
export { toRecord } from "./record";
export type {
  PinnedAttemptRow,
  PinnedContent,
  PinnedPlan,
  PinnedRow,
  PinnedRowStatus,
  SharedContent,
} from "./rows";
export { run } from "./single";
export { sweep } from "./sweep";
export { type Answer, type PinToday, pinToday, type RequestToday, requestToday } from "./today";
