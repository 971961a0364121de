import { access, managerOf, roleIn } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { credential, project } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";
import { maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Returns the calling management key, or null for a person. Throws `AuthorizationFailed` for any other key. */
function requireNoOtherKey(ctx: Ctx): ReturnType<typeof managerOf> {
  const manager = managerOf(ctx);
  if (ctx.principal.kind === "service_principal" && !manager)
    fail(
      "AuthorizationFailed",
      "Of all keys, only a management key can do this. Sign in to the panel, or use one.",
    );
  return manager;
}

const readOwner = statement("credential.read.owner", {
  params: { connectionId: text },
  row: { organization_id: credential.organization_id },
  sql: `SELECT organization_id FROM credential WHERE id = $connectionId`,
});

/**
 * Returns the organization of a connection. Throws `NotFound` unless the caller is a member or uses a management key of
 * that organization.
 */
export async function ownerOf(ctx: Ctx, connectionId: string): Promise<string> {
  const row = await readOwner.first(pool, { connectionId });
  const organizationId = row?.organization_id;
  const manager = requireNoOtherKey(ctx);
  if (!organizationId || !(manager ? manager.organizationId === organizationId : roleIn(ctx, organizationId)))
    return fail("NotFound", "There is no such connection.");
  return organizationId;
}

/**
 * Returns where the caller manages connections: the organization of the project that they name, or else the only one
 * that they belong to. A management key must name one of its projects.
 */
export async function placeToManage(ctx: Ctx, projectId: string | null | undefined) {
  if (!requireNoOtherKey(ctx)) return resolveOwner(ctx, projectId, "admin");
  const project = await access.authorize(ctx, "credentials:write", { projectId });
  return { organizationId: project.organizationId, projectId: project.id };
}

/**
 * Returns the organization of the project that the caller names, or else the only one that they belong to. Throws a
 * `ValidationFault` if neither determines it.
 */
export async function resolveOwner(
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

const findProject = statement("project.find.active", {
  params: { organizationId: text, projectId: maybe(text) },
  row: { id: project.id },
  sql: `SELECT id FROM project WHERE organization_id = $organizationId AND status = 'active' AND ($projectId::text IS NULL OR id = $projectId) ORDER BY id LIMIT 1`,
});

/**
 * Returns the URL of the panel's page of connections, for this project or else for any active one of the
 * organization. If there is none, returns the panel's own URL.
 */
export async function connectionsPageUrl(
  organizationId: string,
  projectId: string | null,
  query: Record<string, string>,
): Promise<string> {
  const rows = await findProject.all(pool, { organizationId, projectId });
  const [project] = rows;
  return project
    ? `${publicUrl}/projects/${project.id}/connections?${new URLSearchParams(query)}`
    : publicUrl;
}
