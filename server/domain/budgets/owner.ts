import type { BudgetOwner } from "@/server/contract/budgets";
import { access, managerOf, roleIn } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { project } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

export type Owned = { organizationId: string; projectId: string | null; scope: string };

/**
 * Finds the owner of a ceiling and requires this role in its organization. A caller without any role there
 * gets NotFound.
 */
export async function findOwner(ctx: Ctx, owner: BudgetOwner, least: Role): Promise<Owned> {
  const found = await lookUp(ctx, owner);
  access.authorize(ctx, least, { organizationId: found.organizationId });
  return found;
}

const findKeyOf = statement("api_key.find.manager", {
  params: { principalId: text, managerId: text },
  sql: `SELECT FROM api_key WHERE id = $principalId AND $managerId IN (id, made_by_key)`,
});

/**
 * Finds the owner of a ceiling that the caller may set. A person may set those of their organization; a
 * management key those of its projects, of the keys that it created and of itself.
 */
export async function findOwnerToSet(ctx: Ctx, owner: BudgetOwner): Promise<Owned> {
  const manager = managerOf(ctx);
  if (!manager) return findOwner(ctx, owner, SETS);
  const { organizationId } = manager;
  const { projectId = null, principalId } = owner;
  if (!principalId) {
    access.authorize(ctx, "budgets:write", { managed: { organizationId, projectId } });
    return { organizationId, projectId, scope: `project:${projectId}` };
  }
  access.authorize(ctx, "budgets:write");
  const rowCount = await findKeyOf.count(pool, { principalId, managerId: manager.id });
  if (!rowCount) fail("NotFound", "There is no such key or member.");
  return { organizationId, projectId: null, scope: `principal:${principalId}` };
}

/** Role that a person other than an operator needs to change ceilings. */
export const SETS = "admin";

const readOrganization = statement("project.read.budget_owner", {
  params: { projectId: text },
  row: { organization_id: project.organization_id },
  sql: `SELECT organization_id FROM project WHERE id = $projectId`,
});

const findOrganization = statement("organization.find", {
  params: { organizationId: maybe(text) },
  sql: `SELECT FROM organization WHERE id = $organizationId`,
});

async function lookUp(ctx: Ctx, { organizationId, projectId, principalId }: BudgetOwner): Promise<Owned> {
  if (projectId) {
    const row = await readOrganization.first(pool, { projectId });
    const organization = row?.organization_id;
    if (!organization || !roleIn(ctx, organization)) fail("NotFound", "There is no such project.");
    return { organizationId: organization, projectId, scope: `project:${projectId}` };
  }
  if (principalId) {
    const organization = await organizationOf(ctx, principalId, organizationId);
    return { organizationId: organization, projectId: null, scope: `principal:${principalId}` };
  }
  const rowCount = await findOrganization.count(pool, { organizationId });
  if (!organizationId || !rowCount || !roleIn(ctx, organizationId))
    fail("NotFound", "There is no such organization.");
  return { organizationId, projectId: null, scope: `organization:${organizationId}` };
}

const listOrganizations = statement("principal.list.organizations", {
  params: { principalId: text },
  row: { organization_id: text },
  sql: `SELECT organization_id FROM api_key WHERE id = $principalId
     UNION SELECT organization_id FROM membership WHERE user_id = $principalId`,
});

/**
 * Returns the organization of a key or member, among those that the caller sees. Throws if a person has
 * several and none is named.
 */
async function organizationOf(ctx: Ctx, principalId: string, wanted: string | undefined): Promise<string> {
  const rows = await listOrganizations.all(pool, { principalId });
  const seen = rows.map((row) => row.organization_id).filter((id) => roleIn(ctx, id));
  const [only, ...others] = wanted ? seen.filter((id) => id === wanted) : seen;
  if (!only) return fail("NotFound", "There is no such key or member.");
  if (others.length === 0) return only;
  throw new ValidationFault([
    {
      loc: ["body", "organizationId"],
      msg: "This person belongs to several organizations. Name one.",
      type: "missing",
    },
  ]);
}
