import type { ManagementGrant } from "@/server/contract/management-keys";
import type { Ctx, Principal } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { type ManagementRight, RIGHTS } from "./rights";
import { requireRole } from "./roles";

type Manager = Extract<Principal, { kind: "service_principal" }> & { management: ManagementGrant };

/** The caller, where it is a management key. */
export function managerOf({ principal }: Ctx): Manager | null {
  return principal.kind === "service_principal" && principal.management
    ? { ...principal, management: principal.management }
    : null;
}

/** Something to manage. `projectId` is null for what belongs to the whole organization. */
export type Managed = { organizationId: string; projectId: string | null; what?: string };

/**
 * May the caller manage this? People may by their role in its organization. A management key may by its scope, in the projects
 * that its owner chose; no other key may. NotFound for strangers, and for a key in other projects; AuthorizationFailed
 * for a role that is too low, a missing scope, and a key that asks for what belongs to the whole organization.
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
