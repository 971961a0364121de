import type { Principal } from "@/server/domain/ctx";

/**
 * The person behind a principal: the creator of a key, or of an embed session or the key that made it. If no
 * person is known, the principal's own id, which is not a person and so never counts as a second approver.
 */
export function personBehind(principal: Principal): string {
  return ("userId" in principal ? principal.userId : null) ?? principal.id;
}
