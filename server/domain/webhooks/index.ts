export { adoptLate } from "./adopt";
export { type Announcement, announce } from "./announce";
export { attempt, deliver, WAITS_MS } from "./deliver";
export { deliveries, delivery, replay } from "./deliveries";
export { dispatchDue } from "./dispatch";
export { createEndpoint, disableEndpoint, listEndpoints, updateEndpoint } from "./endpoints";
export { weakEndpoints } from "./secrets";
