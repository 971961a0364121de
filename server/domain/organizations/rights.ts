import { isAtLeast, isOperator } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { fail } from "@/server/errors";

/** The caller's role in an organization; an operator counts as its owner. Null: none. */
export function roleIn(ctx: Ctx, organizationId: string): Role | null {
  if (isOperator(ctx)) return "owner";
  const { principal } = ctx;
  return principal.kind === "human_session" ? (principal.memberships.get(organizationId) ?? null) : null;
}

/**
 * Refuses who has less than this role in the organization. A stranger gets NotFound, as for an organization that is
 * not there; a member with a lower role AuthorizationFailed.
 */
export function requireRoleIn(ctx: Ctx, organizationId: string, least: Role): Role {
  const role = roleIn(ctx, organizationId) ?? fail("NotFound", "There is no such organization.");
  if (!isAtLeast(role, least)) {
    fail("AuthorizationFailed", `This needs the role ${least} in the organization. Ask an owner for it.`, {
      role,
    });
  }
  return role;
}

/** The organizations the caller may look into; null: all. */
export function visibleOrganizations(ctx: Ctx): string[] | null {
  if (isOperator(ctx)) return null;
  return ctx.principal.kind === "human_session" ? [...ctx.principal.memberships.keys()] : [];
}
