export { approvalRules, setApprovalRules } from "./approval-rules";
export { billedOrganization, unknownOrganization } from "./billed";
export { createKey, listKeys, revokeKey } from "./keys";
export { namesOf } from "./names";
export { createOrganization, listOrganizations } from "./organizations";
export { makePassword } from "./passwords";
export {
  changePassword,
  createUser,
  grantOperator,
  listOperators,
  listUsers,
  type NewPerson,
  signOutEverywhere,
} from "./people";
export { changeProject } from "./project-settings";
export { createProject, listProjects } from "./projects";
export { requireRoleIn, roleIn, visibleOrganizations } from "./rights";
export { sessionContext } from "./session-context";
export { findSignIn, pruneSignInFailures, type SignedIn, type SignInRefusal, verifySignIn } from "./sign-in";
