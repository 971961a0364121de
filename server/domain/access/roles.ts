import type { Ctx, Role } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { isRoleAtLeast } from "./rights";

/** True if the caller is the system or a platform operator, who may do everything here. */
export function isOperator({ principal }: Ctx): boolean {
  return principal.kind === "system" || (principal.kind === "human_session" && principal.isOperator);
}

/** The caller's role in an organization; an operator counts as its owner. Null if the caller has no role. */
export function roleIn(ctx: Ctx, organizationId: string): Role | null {
  return isOperator(ctx) ? "owner" : (membershipsOf(ctx).get(organizationId) ?? null);
}

/**
 * The caller's role in this organization. NotFound for strangers, AuthorizationFailed for a role below
 * `least`. `what` names the missing thing in the error.
 */
export function requireRole(ctx: Ctx, least: Role, organizationId: string, what = "organization"): Role {
  const role = roleIn(ctx, organizationId) ?? fail("NotFound", `There is no such ${what}.`);
  if (!isRoleAtLeast(role, least))
    fail("AuthorizationFailed", `This needs the role ${least} in the organization. Ask an owner for it.`, {
      role,
    });
  return role;
}

/** The organizations that the caller may see; null means all. */
export function visibleOrganizations(ctx: Ctx): string[] | null {
  return isOperator(ctx) ? null : [...membershipsOf(ctx).keys()];
}

/**
 * The organizations that a person is a member of, with their role in each. An operator gets only those they
 * joined.
 */
export function membershipsOf({ principal }: Ctx): ReadonlyMap<string, Role> {
  return principal.kind === "human_session" ? principal.memberships : new Map();
}
