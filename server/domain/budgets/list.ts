import type { BudgetView, ListBudgets } from "@/server/contract/budgets";
import { access, managerOf, roleIn, visibleOrganizations } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { findOwner, SETS } from "./owner";
import { type BudgetRow, readBudgets, toBudget } from "./rows";

/** Ceilings of the organizations the caller belongs to, with what counts now; of one of them, or of one project. */
export async function list(ctx: Ctx, query: ListBudgets): Promise<{ items: BudgetView[] }> {
  const manager = managerOf(ctx);
  if (manager) return listOfManager(ctx, manager, query);
  if (query.projectId) await findOwner(ctx, { projectId: query.projectId }, "viewer");
  if (query.organizationId) access.authorize(ctx, "viewer", { organizationId: query.organizationId });
  const rows = await readBudgets(
    ctx.now(),
    `($2::text[] IS NULL OR b.organization_id = ANY($2)) AND ($3::text IS NULL OR b.organization_id = $3)
     AND ($4::text IS NULL OR b.project_id = $4) AND NOT capstan_is_of_panel(b.scope)`,
    [visibleOrganizations(ctx), query.organizationId ?? null, query.projectId ?? null],
  );
  return { items: rows.map((row) => toBudget(row, ctx.now())) };
}

/** The budgets that may count what a project spends: its own, its organization's, and those of keys and people. */
export async function listForProject(ctx: Ctx, projectId: string): Promise<{ items: BudgetView[] }> {
  const { organizationId } = await access.authorize(ctx, "billing:read", { projectId });
  const rows = await readBudgets(
    ctx.now(),
    "b.organization_id = $2 AND (b.project_id IS NULL OR b.project_id = $3) AND NOT capstan_is_of_panel(b.scope)",
    [organizationId, projectId],
  );
  return { items: rows.map((row) => toBudget(row, ctx.now())) };
}

async function listOfManager(ctx: Ctx, manager: Manager, { projectId }: ListBudgets) {
  access.authorize(ctx, "budgets:write");
  const rows = await readBudgets(ctx.now(), `${OF_MANAGER(2)} AND ($5::text IS NULL OR b.project_id = $5)`, [
    ...ofManager(manager),
    projectId ?? null,
  ]);
  return { items: rows.map((row) => toBudget(row, ctx.now())) };
}

/** The ceiling of this id, for who has at least this role where it counts; to a stranger it is none. */
export async function findBudget(ctx: Ctx, budgetId: string, least: Role): Promise<BudgetRow> {
  const [row] = await readBudgets(ctx.now(), "b.id = $2", [budgetId]);
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such budget.");
  access.authorize(ctx, least, { organizationId: row.organization_id });
  return row;
}

/** The ceiling of this id, for who may change it. To a management key that is one of its projects or of a key that it created. */
export async function findBudgetToSet(ctx: Ctx, budgetId: string): Promise<BudgetRow> {
  const manager = managerOf(ctx);
  if (!manager) return findBudget(ctx, budgetId, SETS);
  access.authorize(ctx, "budgets:write");
  const [row] = await readBudgets(ctx.now(), `b.id = $2 AND ${OF_MANAGER(3)}`, [
    budgetId,
    ...ofManager(manager),
  ]);
  if (!row) return fail("NotFound", "There is no such budget.");
  if (row.scope === `principal:${manager.id}`)
    fail("AuthorizationFailed", "A management key cannot remove or raise its own ceiling. Ask an owner.");
  return row;
}

type Manager = NonNullable<ReturnType<typeof managerOf>>;
/** Of a management key: its projects' ceilings, its own, and those of the keys that it created. */
const OF_MANAGER = (first: number) => `b.organization_id = $${first} AND (b.scope = ANY($${first + 1})
  OR b.scope IN (SELECT 'principal:' || id FROM api_key WHERE made_by_key = $${first + 2}))`;
const ofManager = ({ id, organizationId, management }: Manager) => [
  organizationId,
  [`principal:${id}`, ...management.projectIds.map((projectId) => `project:${projectId}`)],
  id,
];

/** One ceiling with what counts now. */
export async function get(ctx: Ctx, budgetId: string): Promise<BudgetView> {
  return toBudget(await findBudget(ctx, budgetId, "viewer"), ctx.now());
}
