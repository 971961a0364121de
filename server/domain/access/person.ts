import type { Principal } from "@/server/domain/ctx";

/**
 * The person behind a principal: of a key, who created it. Where nobody is known, the principal itself, which is no
 * person and so never approves where a second one is asked for.
 */
export function personBehind(principal: Principal): string {
  return (principal.kind === "service_principal" ? principal.userId : null) ?? principal.id;
}
