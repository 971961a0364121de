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
export { get, list } from "./read";
export { toRecord } from "./record";
export { run } from "./single";
export { sweep } from "./sweep";
export { type Answer, type PinToday, pinToday, type RequestToday, requestToday } from "./today";
