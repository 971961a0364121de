import { isAtLeast } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";

/**
 * May the caller pay commissions of an organization? A signed-in member who is more than a viewer, or an operator: no
 * key, no panel session and not the system, whatever else they may do.
 */
export function mayPay({ principal }: Ctx, organizationId: string): boolean {
  if (principal.kind !== "human_session") return false;
  const role = principal.memberships.get(organizationId);
  return principal.isOperator || (role !== undefined && isAtLeast(role, "member"));
}
