export { bootstrap, framersOf } from "./bootstrap";
export { createLaunchCode, type ExchangePage, exchangeLaunchCode } from "./codes";
export { changeDefinition, createDefinition, getDefinition, listDefinitions } from "./definitions";
export { listSessions } from "./list";
export { prune } from "./prune";
export { createSession, getSession, revokeSession } from "./sessions";
export { checkSpendPerJob, embedInput, ownKeyOf } from "./terms";
