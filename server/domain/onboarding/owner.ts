import { access, managerOf, roleIn } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";

/** The calling management key, if any. Any other key is refused. */
function requireNoOtherKey(ctx: Ctx): ReturnType<typeof managerOf> {
  const manager = managerOf(ctx);
  if (ctx.principal.kind === "service_principal" && !manager)
    fail(
      "AuthorizationFailed",
      "Of all keys, only a management key can do this. Sign in to the panel, or use one.",
    );
  return manager;
}

/** The organization a connection belongs to, where the caller is a member or its management key; a stranger finds none. */
export async function ownerOf(ctx: Ctx, connectionId: string): Promise<string> {
  const { rows } = await pool.query<{ organization_id: string }>(
    "SELECT organization_id FROM credential WHERE id = $1",
    [connectionId],
  );
  const organizationId = rows[0]?.organization_id;
  const manager = requireNoOtherKey(ctx);
  if (!organizationId || !(manager ? manager.organizationId === organizationId : roleIn(ctx, organizationId)))
    return fail("NotFound", "There is no such connection.");
  return organizationId;
}

/**
 * Where the caller manages connections: the organization of the project they name, or the only one they belong to. A
 * management key names one of its projects.
 */
export async function placeToManage(ctx: Ctx, projectId: string | null | undefined) {
  if (!requireNoOtherKey(ctx)) return placeOf(ctx, projectId, "admin");
  const project = await access.authorize(ctx, "credentials:write", { projectId });
  return { organizationId: project.organizationId, projectId: project.id };
}

/** Where somebody works: the organization of the project they name, or the only one they belong to. */
export async function placeOf(
  ctx: Ctx,
  projectId: string | null | undefined,
  least: Role,
): Promise<{ organizationId: string; projectId: string | null }> {
  if (projectId) {
    const project = await access.authorize(ctx, "jobs:read", { projectId });
    access.authorize(ctx, least, { organizationId: project.organizationId });
    return { organizationId: project.organizationId, projectId: project.id };
  }
  const { principal } = ctx;
  const all = principal.kind === "human_session" ? [...principal.memberships.keys()] : [];
  const [only, ...others] = all;
  const refuse = (msg: string): never => {
    throw new ValidationFault([{ loc: ["body", "projectId"], msg, type: "missing" }]);
  };
  if (!only) return refuse("You do not belong to an organization yet. Create one, or ask for an invitation.");
  if (others.length > 0) return refuse("You belong to several organizations. Name a project in one of them.");
  access.authorize(ctx, least, { organizationId: only });
  return { organizationId: only, projectId: null };
}

/** The panel's page of connections: of this project, or of any of the organization. */
export async function pageOf(
  organizationId: string,
  projectId: string | null,
  query: Record<string, string>,
): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM project WHERE organization_id = $1 AND status = 'active' AND ($2::text IS NULL OR id = $2) ORDER BY id LIMIT 1",
    [organizationId, projectId],
  );
  const [project] = rows;
  return project
    ? `${publicUrl}/projects/${project.id}/connections?${new URLSearchParams(query)}`
    : publicUrl;
}
