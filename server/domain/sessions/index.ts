export { askedBy, readAccount } from "./account";
export { decideDevice, lookAtDevice, redeemDevice, startDevice } from "./device";
export {
  type Identified,
  type Identity,
  type IdentityLink,
  type IdentityRefusal,
  identify,
  linkIdentity,
} from "./identities";
export { GITHUB, GOOGLE, oidcName, type Registration, registrations } from "./issuers";
export { changePassword } from "./password";
export { pruneSessions } from "./prune";
export { resetSignIn } from "./reset";
export {
  confirmSecondFactor,
  renewRecoveryCodes,
  startSecondFactor,
  turnOffSecondFactor,
} from "./second-factor";
export { BROWSER_SECONDS, endSession, listSessions, signOutEverywhere, startSession } from "./sessions";
export { verifyCode } from "./sign-in-code";
export { unlinkIdentity } from "./unlink";
