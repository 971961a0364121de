export { bootstrap, framersOf } from "./bootstrap";
export { createLaunchCode, exchangeLaunchCode, type Page, prune } from "./codes";
export { changeDefinition, createDefinition, getDefinition, listDefinitions } from "./definitions";
export { listSessions } from "./list";
export { createSession, getSession, revokeSession } from "./sessions";
export { checkSpendPerJob, inputOf, ownKeyOf } from "./terms";
