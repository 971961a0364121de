import { isRoleAtLeast } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";

/**
 * True if the caller may pay commissions of an organization: a signed-in member above viewer, or an operator.
 * Never a key, an embed session or the system, whatever else they may do.
 */
export function mayPay({ principal }: Ctx, organizationId: string): boolean {
  if (principal.kind !== "human_session") return false;
  const role = principal.memberships.get(organizationId);
  return principal.isOperator || (role !== undefined && isRoleAtLeast(role, "member"));
}
