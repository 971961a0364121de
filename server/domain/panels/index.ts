export { bootstrap, framersOf } from "./bootstrap";
export { createLaunchCode, exchangeLaunchCode, type Page, prune } from "./codes";
export { changeDefinition, createDefinition, getDefinition, listDefinitions } from "./definitions";
export { createSession, getSession, listSessions, revokeSession } from "./sessions";
export { checkSpendPerJob, inputOf, ownKeyOf } from "./terms";
