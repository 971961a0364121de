export { approvalRules, setApprovalRules } from "./approval-rules";
export { auditLog, auditLogFile } from "./audit-log";
export { billedOrganization, unknownOrganization } from "./billed";
export {
  auditedFields,
  createKey,
  insertKey,
  keyAuditSubject,
  listKeys,
  listKeysOfProject,
  requireRoomForKey,
  revokeKey,
  toKey,
} from "./keys";
export { changeRole, membersOf, removeMember } from "./members";
export { nameOfCaller, principalNameSql, principalNames } from "./names";
export { isOnboardingOpen, onboard } from "./onboarding";
export {
  changeOrganization,
  createOrganization,
  getOrganization,
  listJoinedOrganizations,
  listOrganizations,
  listOwnOrganizations,
} from "./organizations";
export {
  createUser,
  grantOperator,
  listOperators,
  listUsers,
  type NewPerson,
} from "./people";
export {
  changePlan,
  listPlanSettings,
  offeredPlans,
  planSettings,
  setExternalActions,
} from "./plan-settings";
export { addProject, environmentsOf, projectOf, projectsOf } from "./projects/details";
export { patchProject } from "./projects/patch";
export { createProject, listJoinedProjects, listProjects } from "./projects/projects";
export { changeProject } from "./projects/settings";
export { rotateKey } from "./rotate-key";
export { requireSeat } from "./seats";
export {
  addressSubjects,
  countTry,
  deleteSignInFailures,
  enforceBruteForceLimit,
  forgetSubject,
} from "./sign-in/brute-force-limit";
export { hashPassword, isPassword, makePassword } from "./sign-in/passwords";
export { readSecurity, setSecurity } from "./sign-in/security";
export { sessionContext } from "./sign-in/session-context";
export {
  findSignIn,
  pruneSignInFailures,
  type SignedIn,
  type SignInRefusal,
  verifySignIn,
} from "./sign-in/sign-in";
