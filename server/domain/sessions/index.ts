export { decideDevice, lookAtDevice, redeemDevice, startDevice } from "./device";
export { changePassword, readAccount } from "./password";
export { pruneSessions } from "./prune";
export { BROWSER_SECONDS, endSession, listSessions, signOutEverywhere, startSession } from "./sessions";
