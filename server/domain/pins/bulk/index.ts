export { cancelBulk } from "./cancel";
export { wakeAgain } from "./dispatch";
export { getBulk, listBulks } from "./read";
export { retrySafely } from "./retry";
export { runBulk, stopClaiming } from "./run";
export { submitBulk } from "./submit";
