import { authorize } from "./authorize";
import { countWebProcesses, watchChanges } from "./changes";
import { admitOrigins, embedHolder, isEmbedOrigin } from "./embeds";
import { writeUses } from "./last-used";
import { namedProject } from "./named-project";
import { outputsOf } from "./outputs";
import { isRecentKey, keyPrincipal } from "./principals";
import { devicePrincipal, sessionPrincipal } from "./sessions";

export {
  type DeferredAccess,
  EVERYTHING,
  type OwnScope,
  type ProjectAccess,
  type ReadScope,
} from "./authorize";
export { MOST_STALE_MS, remembered } from "./cache";
export { ACCESS_CHANGED, changeAccess, type Watch } from "./changes";
export { isKeyText, isTokenText, keyPrefix, makeKeyText, makeTokenText } from "./key-text";
export { managerOf } from "./manage";
export { personBehind } from "./person";
export { isAllowed, isRoleAtLeast, type ProjectRight, scopeOf } from "./rights";
export { isOperator, membershipsOf, roleIn, visibleOrganizations } from "./roles";
export { securityOf } from "./security";

/** Callers and their rights: the only interface to keys, sessions and the tenant boundary. */
export const access = {
  authorize,
  namedProject,
  outputsOf,
  keyPrincipal,
  isRecentKey,
  sessionPrincipal,
  devicePrincipal,
  embedHolder,
  isEmbedOrigin,
  admitOrigins,
  watchChanges,
  countWebProcesses,
  writeUses,
};
