import type { Principal } from "@/server/domain/ctx";

/**
 * The person behind a principal: of a key, who created it; of a panel session, who made it or its key. Where no one is known, the principal itself, which is no
 * person and so never approves where a second one is asked for.
 */
export function personBehind(principal: Principal): string {
  return ("userId" in principal ? principal.userId : null) ?? principal.id;
}
