import type { BudgetCourse, BudgetView, ListBudgets } from "@/server/contract/budgets";
import { access, managerOf, roleIn, visibleOrganizations } from "@/server/domain/access";
import type { Ctx, Role } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { DAY_MS } from "@/server/platform/time/units";
import { findOwner, SETS } from "./owner";
import { type BudgetRow, COUNTS, HELD, readBudgets, toBudget } from "./rows";

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

/** How spend has grown in the current period: by the hour in a day, by the day in a month, over 30 days in total. */
export async function course(
  ctx: Ctx,
  { budgetId, isTest }: { budgetId: string; isTest: boolean },
): Promise<BudgetCourse> {
  const row = await findBudget(ctx, budgetId, "viewer");
  const now = ctx.now();
  const from = row.period === "total" ? new Date(now.getTime() - 30 * DAY_MS) : row.period_start;
  const { rows } = await pool.query<{ at: Date; settled: number; held: number }>(
    `WITH counted AS MATERIALIZED (
       SELECT h.created_at, CASE WHEN ${HELD} THEN 0 ELSE coalesce(h.settled_micros, 0) END AS settled,
         CASE WHEN ${HELD} THEN h.amount_micros ELSE 0 END AS held
       FROM budget b, LATERAL (SELECT * FROM hold h WHERE ${COUNTS} AND h.is_test = $2
         AND h.created_at >= capstan_period_start(b.period, $4) OFFSET 0) h
       WHERE b.id = $1
     )
     SELECT step.at, coalesce(sum(counted.settled), 0)::bigint AS settled, coalesce(sum(counted.held), 0)::bigint AS held
     FROM (
       SELECT DISTINCT least(at + $5::interval, $4::timestamptz) AS at FROM generate_series($3::timestamptz, $4, $5::interval) AS at
     ) step LEFT JOIN counted ON counted.created_at <= step.at
     GROUP BY step.at ORDER BY step.at`,
    [row.id, isTest, from, now, row.period === "day" ? "1 hour" : "1 day"],
  );
  return {
    periodStart: from.toISOString(),
    points: rows.map(({ at, settled, held }) => ({
      at: at.toISOString(),
      settledMicros: settled,
      heldMicros: held,
    })),
  };
}
