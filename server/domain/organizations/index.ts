export { approvalRules, setApprovalRules } from "./approval-rules";
export { auditLog, auditLogFile } from "./audit-log";
export { billedOrganization, unknownOrganization } from "./billed";
export { addressSubjects, countTry, forget, forgetSubject, guardGuesses } from "./guesses";
export { createKey, listKeys, revokeKey } from "./keys";
export { changeRole, membersOf, removeMember } from "./members";
export { nameOfCaller, namesOf } from "./names";
export { isOnboardingOpen, onboard } from "./onboarding";
export {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  listOwnOrganizations,
} from "./organizations";
export { hashPassword, isPassword, makePassword } from "./passwords";
export { patchProject } from "./patch-project";
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
export { addProject, environmentsOf, projectOf, projectsOf } from "./project-details";
export { changeProject } from "./project-settings";
export { createProject, listAllProjects, listProjects } from "./projects";
export { rotateKey } from "./rotate-key";
export { requireSeat } from "./seats";
export { readSecurity, setSecurity } from "./security";
export { sessionContext } from "./session-context";
export {
  findSignIn,
  pruneSignInFailures,
  type SignedIn,
  type SignInRefusal,
  verifySignIn,
} from "./sign-in";
