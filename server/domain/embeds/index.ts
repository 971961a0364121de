export { bootstrap, framersOf } from "./bootstrap";
export { createLaunchCode, exchangeLaunchCode, type Page } from "./codes";
export { changeDefinition, createDefinition, getDefinition, listDefinitions } from "./definitions";
export { listSessions } from "./list";
export { prune } from "./prune";
export { createSession, getSession, revokeSession } from "./sessions";
export { checkSpendPerJob, inputOf, ownKeyOf } from "./terms";
