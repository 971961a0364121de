import type { ManagementGrant } from "@/server/contract/management-keys";
import type { Ctx, Principal } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { type ManagementRight, RIGHTS } from "./rights";
import { requireRole } from "./roles";

type Manager = Extract<Principal, { kind: "service_principal" }> & { management: ManagementGrant };

/** The caller as a management key; null for any other caller. */
export function managerOf({ principal }: Ctx): Manager | null {
  return principal.kind === "service_principal" && principal.management
    ? { ...principal, management: principal.management }
    : null;
}

/** A thing to manage. `projectId` is null if the thing belongs to the whole organization. */
export type Managed = { organizationId: string; projectId: string | null; what?: string };

/**
 * Throws unless the caller may manage this. People need a role in its organization. A management key needs the
 * scope, and works only in the projects that its owner chose; other keys may manage nothing. NotFound for
 * strangers and for a key of other projects; AuthorizationFailed for a role that is too low, a missing scope,
 * and a key that names the whole organization.
 */
export function requireManaging(
  ctx: Ctx,
  right: ManagementRight,
  { organizationId, projectId, what = projectId === null ? "organization" : "project" }: Managed,
): void {
  const { principal } = ctx;
  if (principal.kind !== "service_principal") {
    requireRole(ctx, RIGHTS[right].role, organizationId, what);
    return;
  }
  if (!principal.management || !principal.scopes.has(right))
    fail("AuthorizationFailed", `This needs a management key with the scope ${right}, or a person.`, {
      scope: right,
    });
  if (principal.organizationId !== organizationId) fail("NotFound", `There is no such ${what}.`);
  if (projectId === null)
    fail(
      "AuthorizationFailed",
      "A management key works in its projects only, not in the whole organization. Name one of its projects.",
      { projectIds: principal.management.projectIds },
    );
  if (!principal.management.projectIds.includes(projectId)) fail("NotFound", `There is no such ${what}.`);
}
