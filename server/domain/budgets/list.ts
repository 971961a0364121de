import type { BudgetView, ListBudgets } from "@/server/contract/budgets";
import { access, managerOf, roleIn, visibleOrganizations } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { maybe, pick, text, texts } from "@/server/sql/column";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { findOwner, SETS } from "./owner";
import { type BudgetRow, budgetsBy, readBudget, toBudget } from "./rows";

const VISIBLE = pick(SCOPE, "organizationIds");
const listVisible = budgetsBy(
  "budget.list.visible",
  { ...VISIBLE, organizationId: maybe(text), projectId: maybe(text) },
  `${inScope(VISIBLE, "b")}
     AND ($organizationId::text IS NULL OR b.organization_id = $organizationId)
     AND ($projectId::text IS NULL OR b.project_id = $projectId) AND NOT capstan_is_of_panel(b.scope)`,
);

/**
 * Lists the ceilings of the caller's organizations, of one of them or of one project, with their current
 * spend.
 */
export async function list(ctx: Ctx, query: ListBudgets): Promise<{ items: BudgetView[] }> {
  const manager = managerOf(ctx);
  if (manager) return listOfManager(ctx, manager, query);
  if (query.projectId) await findOwner(ctx, { projectId: query.projectId }, "viewer");
  if (query.organizationId) access.authorize(ctx, "viewer", { organizationId: query.organizationId });
  const rows = await listVisible.all(pool, {
    now: ctx.now(),
    organizationIds: visibleOrganizations(ctx),
    organizationId: query.organizationId ?? null,
    projectId: query.projectId ?? null,
  });
  return { items: rows.map((row) => toBudget(row, ctx.now())) };
}

const listOfProject = budgetsBy(
  "budget.list.project",
  { organizationId: text, projectId: text },
  `b.organization_id = $organizationId AND (b.project_id IS NULL OR b.project_id = $projectId)
     AND NOT capstan_is_of_panel(b.scope)`,
);

/**
 * Lists the budgets that may count a project's spend: its own, and those of its organization, keys, people and
 * connections.
 */
export async function listForProject(ctx: Ctx, projectId: string): Promise<{ items: BudgetView[] }> {
  const { organizationId } = await access.authorize(ctx, "billing:read", { projectId });
  const rows = await listOfProject.all(pool, { now: ctx.now(), organizationId, projectId });
  return { items: rows.map((row) => toBudget(row, ctx.now())) };
}

type Manager = NonNullable<ReturnType<typeof managerOf>>;
const OF_MANAGER = { organizationId: text, scopes: texts, managerId: text };
/** A management key sees its projects' ceilings, its own, and those of the keys that it created. */
const IS_OF_MANAGER = `b.organization_id = $organizationId AND (b.scope = ANY($scopes)
  OR b.scope IN (SELECT 'principal:' || id FROM api_key WHERE made_by_key = $managerId))`;
const ofManager = ({ id, organizationId, management }: Manager) => ({
  organizationId,
  scopes: [`principal:${id}`, ...management.projectIds.map((projectId) => `project:${projectId}`)],
  managerId: id,
});

const listManaged = budgetsBy(
  "budget.list.managed",
  { ...OF_MANAGER, projectId: maybe(text) },
  `${IS_OF_MANAGER} AND ($projectId::text IS NULL OR b.project_id = $projectId)`,
);

async function listOfManager(ctx: Ctx, manager: Manager, { projectId }: ListBudgets) {
  access.authorize(ctx, "budgets:write");
  const rows = await listManaged.all(pool, {
    now: ctx.now(),
    ...ofManager(manager),
    projectId: projectId ?? null,
  });
  return { items: rows.map((row) => toBudget(row, ctx.now())) };
}

/**
 * Returns the budget if the caller has at least this role in its organization. A caller without any role
 * there gets NotFound.
 */
async function findBudget(ctx: Ctx, budgetId: string, least: Role): Promise<BudgetRow> {
  const row = await readBudget.first(pool, { now: ctx.now(), id: budgetId });
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such budget.");
  access.authorize(ctx, least, { organizationId: row.organization_id });
  return row;
}

const readManaged = budgetsBy(
  "budget.read.managed",
  { id: text, ...OF_MANAGER },
  `b.id = $id AND ${IS_OF_MANAGER}`,
);

/**
 * Returns the budget if the caller may change it. A management key may change those of its projects and of
 * the keys that it created, but not its own.
 */
export async function findBudgetToSet(ctx: Ctx, budgetId: string): Promise<BudgetRow> {
  const manager = managerOf(ctx);
  if (!manager) return findBudget(ctx, budgetId, SETS);
  access.authorize(ctx, "budgets:write");
  const row = await readManaged.first(pool, { now: ctx.now(), id: budgetId, ...ofManager(manager) });
  if (!row) return fail("NotFound", "There is no such budget.");
  if (row.scope === `principal:${manager.id}`)
    fail("AuthorizationFailed", "A management key cannot remove or raise its own ceiling. Ask an owner.");
  return row;
}

/** Returns one ceiling with its current spend. */
export async function get(ctx: Ctx, budgetId: string): Promise<BudgetView> {
  return toBudget(await findBudget(ctx, budgetId, "viewer"), ctx.now());
}
