import type { BudgetAlert } from "@/server/contract/budgets";
import { visibleOrganizations } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { type Announcement, announce } from "@/server/domain/webhooks";
import { budgetAlert } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { bool, maybe, type Of, pick, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";

type AlertRow = Of<typeof budgetAlert>;

const toFacts = (row: AlertRow) => ({
  budgetId: row.budget_id,
  scope: row.scope,
  period: row.period,
  periodStart: row.period_start.toISOString(),
  percent: row.percent,
  spentMicros: row.spent_micros,
  reservedMicros: row.held_micros,
  ceilingMicros: row.ceiling_micros,
  enforcement: row.enforcement,
  isTest: row.is_test,
});

const MOST_SHOWN = 50;

const VISIBLE = pick(SCOPE, "organizationIds");
const listLatest = statement("budget_alert.list.latest", {
  params: {
    ...VISIBLE,
    organizationId: maybe(text),
    projectId: maybe(text),
    test: maybe(bool),
  },
  row: budgetAlert,
  sql: `SELECT * FROM (
       SELECT DISTINCT ON (budget_id, is_test) * FROM budget_alert
       WHERE ${inScope(VISIBLE)}
         AND ($organizationId::text IS NULL OR organization_id = $organizationId)
         AND ($projectId::text IS NULL OR scope NOT LIKE 'project:%' OR scope = 'project:' || $projectId)
         AND ($test::boolean IS NULL OR is_test = $test)
       ORDER BY budget_id, is_test, id DESC) latest
     ORDER BY percent DESC, id DESC LIMIT ${MOST_SHOWN}`,
});

/**
 * Returns the latest step (50, 80 or 100 %) of each budget in the caller's organizations, live and test apart,
 * the highest percentage first, at most 50. `projectId` leaves out the budgets of other projects.
 */
export async function alerts(
  ctx: Ctx,
  query: { organizationId?: string; projectId?: string; test?: boolean | undefined } = {},
): Promise<BudgetAlert[]> {
  const rows = await listLatest.all(pool, {
    organizationIds: visibleOrganizations(ctx),
    organizationId: query.organizationId ?? null,
    projectId: query.projectId ?? null,
    test: query.test ?? null,
  });
  return rows.map((row) => ({ alertId: row.id, ...toFacts(row), createdAt: row.created_at.toISOString() }));
}

const MOST_AT_ONCE = 200;

const lockUndelivered = statement("budget_alert.lock.undelivered", {
  params: { projectId: maybe(text) },
  row: budgetAlert,
  sql: `SELECT * FROM budget_alert
       WHERE delivered_at IS NULL AND ($projectId::text IS NULL OR organization_id = (SELECT organization_id FROM project WHERE id = $projectId))
         AND ${notHeld("deliveries")}
       ORDER BY id LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED`,
});

const markDelivered = statement("budget_alert.update.delivered", {
  params: { ids: texts, now: timestamptz },
  sql: `UPDATE budget_alert SET delivered_at = $now WHERE id = ANY($ids)`,
});

/**
 * Turns new alerts into webhook deliveries, with `projectId` only those of that project's organization. An
 * alert of a project goes to the endpoints of the project and of its organization, any other alert to those of
 * the organization only. Safe to run in every process at once. Returns true if more may be left.
 */
export function fanOutAlerts(ctx: Ctx, projectId: string | null): Promise<boolean> {
  const now = ctx.now();
  return inTransaction(async (client) => {
    const rows = await lockUndelivered.all(client, { projectId });
    if (rows.length === 0) return false;
    await announce(client, rows.map(toEvent), now);
    await markDelivered.run(client, { ids: rows.map((row) => row.id), now });
    return rows.length === MOST_AT_ONCE;
  });
}

const toEvent = (row: AlertRow): Announcement => ({
  id: row.id,
  type: "budget.alert",
  organizationId: row.organization_id,
  projectId: row.project_id,
  createdAt: row.created_at,
  payload: toFacts(row),
});
