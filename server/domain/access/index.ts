import { countWebProcesses, watchChanges } from "./changes";
import { writeUses } from "./last-used";
import { admitOrigins, isPanelOrigin, panelHolder } from "./panels";
import { isRecentKey, keyPrincipal } from "./principals";
import {
  environment,
  outputsOf,
  ownScopeOf,
  project,
  projectAnyway,
  projectInPath,
  projectToStop,
  requireScope,
  scopeOf,
  usable,
  workplace,
} from "./projects";
import { devicePrincipal, sessionPrincipal } from "./sessions";

export { MOST_STALE_MS, remembered } from "./cache";
export { ACCESS_CHANGED, changeAccess, changeAccessBy, type Watch } from "./changes";
export { isKeyText, isTokenText, keyPrefix, makeKeyText, makeTokenText } from "./key-text";
export { isOperator, requireOperator } from "./operators";
export { personBehind } from "./person";
export { EVERYTHING, type OwnScope, type ProjectAccess, type ReadScope, type Workplace } from "./projects";
export { isAllowed, isAtLeast } from "./roles";
export { securityOf } from "./security";

/** Who asks and what they may: the one door to keys, sessions and the tenant boundary. */
export const access = {
  project,
  projectAnyway,
  projectToStop,
  usable,
  workplace,
  projectInPath,
  environment,
  outputsOf,
  scopeOf,
  ownScopeOf,
  requireScope,
  keyPrincipal,
  isRecentKey,
  sessionPrincipal,
  devicePrincipal,
  panelHolder,
  isPanelOrigin,
  admitOrigins,
  watchChanges,
  countWebProcesses,
  writeUses,
};
