import { access, roleIn } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { organization, project } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { maybe, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Scope of a usage query: one project, or every project of an organization. */
export type UsageScope = {
  organizationId: string;
  organizationName: string;
  /** Null for the whole organization. */
  projectId: string | null;
  projects: Map<string, string>;
};

const listProjects = statement("project.list.usage", {
  params: { organizationId: text, projectId: maybe(text) },
  row: {
    organization: organization.display_name,
    id: maybe(project.id),
    name: present(project.display_name, "null only where the id is"),
  },
  sql: `SELECT organization.display_name AS organization, project.id, project.display_name AS name
     FROM organization LEFT JOIN project ON project.organization_id = organization.id AND ($projectId::text IS NULL OR project.id = $projectId)
     WHERE organization.id = $organizationId ORDER BY project.id`,
});

/**
 * Resolves the scope of a usage query. It is the named project, or the project that a key is bound to, or an
 * organization: the key's own, the one that a person names, or their only one. A missing organization and one
 * of other people cause the same AuthorizationFailed.
 */
export async function usageScope(
  ctx: Ctx,
  named: { projectId?: string | undefined; organizationId?: string | undefined },
): Promise<UsageScope> {
  access.authorize(ctx, "billing:read");
  const { principal } = ctx;
  const bound = principal.kind === "service_principal" ? principal.projectId : null;
  const projectId = named.projectId ?? bound;
  const organizationId = projectId
    ? (await access.authorize(ctx, "billing:read", { projectId })).organizationId
    : organizationOf(ctx, named.organizationId);
  if (named.organizationId && named.organizationId !== organizationId) return denied();
  const rows = await listProjects.all(pool, { organizationId, projectId });
  if (rows.length === 0) return denied();
  return {
    organizationId,
    organizationName: rows[0]?.organization ?? organizationId,
    projectId,
    projects: new Map(rows.flatMap(({ id, name }) => (id ? [[id, name]] : []))),
  };
}

function organizationOf(ctx: Ctx, named: string | undefined): string {
  const { principal } = ctx;
  if (principal.kind === "service_principal" || principal.kind === "panel_session")
    return principal.organizationId;
  if (named) return roleIn(ctx, named) ? named : denied();
  const own = principal.kind === "human_session" ? [...principal.memberships.keys()] : [];
  if (own.length === 1 && own[0]) return own[0];
  throw new ValidationFault([
    {
      loc: ["query", "organizationId"],
      msg: "You belong to several organizations. Name one, or a project.",
      type: "missing",
    },
  ]);
}

function denied(): never {
  fail(
    "AuthorizationFailed",
    "This key or account has no access to that organization or project. Check the id, or use a key that has access.",
  );
}
