export { revise, submit } from "./change";
export { create } from "./create";
export { issueQuote, quote } from "./quotes";
export { events, get, list, queue, revisions } from "./read";
export { askForInformation, decline, fulfil, openForReview } from "./review";
export { countPayable, listPayable } from "./waiting";
