import type { BudgetAlert, BudgetEnforcement, BudgetPeriod } from "@/server/contract/budgets";
import { visibleOrganizations } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { type Announcement, announce } from "@/server/domain/webhooks";
import { inTransaction, pool } from "@/server/platform/db";

type AlertRow = {
  id: string;
  budget_id: string;
  organization_id: string;
  project_id: string | null;
  scope: string;
  period: BudgetPeriod;
  period_start: Date;
  is_test: boolean;
  percent: number;
  spent_micros: number;
  held_micros: number;
  ceiling_micros: number;
  enforcement: BudgetEnforcement;
  created_at: Date;
};

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

/**
 * The latest step of 50, 80 or 100 % of each budget in the caller's organizations, the highest first. `projectId`: without
 * the budgets of other projects.
 */
export async function alerts(
  ctx: Ctx,
  query: { organizationId?: string; projectId?: string; test?: boolean | undefined } = {},
): Promise<BudgetAlert[]> {
  const { rows } = await pool.query<AlertRow>(
    `SELECT * FROM (
       SELECT DISTINCT ON (budget_id, is_test) * FROM budget_alert
       WHERE ($1::text[] IS NULL OR organization_id = ANY($1)) AND ($2::text IS NULL OR organization_id = $2)
         AND ($3::text IS NULL OR scope NOT LIKE 'project:%' OR scope = 'project:' || $3)
         AND ($4::boolean IS NULL OR is_test = $4)
       ORDER BY budget_id, is_test, id DESC) latest
     ORDER BY percent DESC, id DESC LIMIT ${MOST_SHOWN}`,
    [visibleOrganizations(ctx), query.organizationId ?? null, query.projectId ?? null, query.test ?? null],
  );
  return rows.map((row) => ({ alertId: row.id, ...toFacts(row), createdAt: row.created_at.toISOString() }));
}

const MOST_AT_ONCE = 200;

/**
 * Alerts that were written since the last pass become deliveries: those of a project for its endpoints and those of the
 * whole organization, the others for the latter alone. Safe to run in every process at once. True: more is left.
 */
export function fanOutAlerts(ctx: Ctx, projectId: string | null): Promise<boolean> {
  const now = ctx.now();
  return inTransaction(async (client) => {
    const { rows } = await client.query<AlertRow>(
      `SELECT * FROM budget_alert
       WHERE delivered_at IS NULL AND ($1::text IS NULL OR organization_id = (SELECT organization_id FROM project WHERE id = $1))
         AND ${notHeld("deliveries")}
       ORDER BY id LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED`,
      [projectId],
    );
    if (rows.length === 0) return false;
    await announce(client, rows.map(toEvent), now);
    await client.query("UPDATE budget_alert SET delivered_at = $2 WHERE id = ANY($1)", [
      rows.map((row) => row.id),
      now,
    ]);
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
