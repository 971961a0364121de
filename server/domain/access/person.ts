import type { Principal } from "@/server/domain/ctx";

/**
 * The person behind a principal: the person who signed in, or the creator of a key, of an embed session or of
 * the key that made the session. If none is known, the id of the principal itself, which is not a person and so
 * never counts as a second approver.
 */
export function personBehind(principal: Principal): string {
  return ("userId" in principal ? principal.userId : null) ?? principal.id;
}
