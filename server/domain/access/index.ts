import { countWebProcesses, watchChanges } from "./changes";
import { writeUses } from "./last-used";
import { isRecentKey, keyPrincipal } from "./principals";
import {
  environment,
  project,
  projectInPath,
  projectToStop,
  requireScope,
  scopeOf,
  usable,
} from "./projects";
import { devicePrincipal, sessionPrincipal } from "./sessions";

export { MOST_STALE_MS, remembered } from "./cache";
export { ACCESS_CHANGED, changeAccess, changeAccessBy, type Watch } from "./changes";
export { isKeyText, isTokenText, keyPrefix, makeKeyText, makeTokenText } from "./key-text";
export { isOperator, requireOperator } from "./operators";
export { personBehind } from "./person";
export type { ProjectAccess, ReadScope } from "./projects";
export { isAllowed, isAtLeast } from "./roles";
export { securityOf } from "./security";

/** Who asks and what they may: the one door to keys, sessions and the tenant boundary. */
export const access = {
  project,
  projectToStop,
  usable,
  projectInPath,
  environment,
  scopeOf,
  requireScope,
  keyPrincipal,
  isRecentKey,
  sessionPrincipal,
  devicePrincipal,
  watchChanges,
  countWebProcesses,
  writeUses,
};
