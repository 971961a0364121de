import type { BudgetSpend, UserGuardrails } from "@/server/contract/budgets";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import type { Transaction } from "@/server/platform/db";
import { scopeOfConnection } from "./guardrails";
import { readBudgets, toBudget } from "./rows";
import { lockBudgets, write } from "./set";

/*
 * Ceilings of one connection, like those of an organization: the one of a day is a stored budget of the scope
 * connection:<id>, which admission holds against, the one of a single execution is with the connection itself.
 */

/** What one connection may spend, and what counts against its day. */
export type ConnectionGuardrails = {
  dailyMicros: number | null;
  perExecutionMicros: number | null;
  spend: BudgetSpend | null;
};

/** Of one execution, as the function below writes it. */
const perExecutionOf = (stored: unknown) =>
  (stored as { perExecutionMicros?: number } | null)?.perExecutionMicros ?? null;

/** The guardrails of these connections of one organization. */
export async function connectionGuardrails(
  ctx: Ctx,
  organizationId: string,
  credentials: { id: string; guardrails: unknown }[],
): Promise<Map<string, ConnectionGuardrails>> {
  const rows = await readBudgets(
    ctx.now(),
    "b.organization_id = $2 AND b.scope = ANY($3) AND b.enforcement <> 'off'",
    [organizationId, credentials.map(({ id }) => scopeOfConnection(id))],
  );
  const daily = new Map(rows.map((row) => [row.scope, toBudget(row, ctx.now())]));
  return new Map(
    credentials.map(({ id, guardrails }) => {
      const day = daily.get(scopeOfConnection(id));
      const perExecutionMicros = perExecutionOf(guardrails);
      return [id, { perExecutionMicros, dailyMicros: day?.ceilingMicros ?? null, spend: day?.spend ?? null }];
    }),
  );
}

/**
 * Changes what is given of a connection's guardrails, in the caller's transaction, which announces the change; null
 * removes. What ran on the connection today counts already.
 */
export async function writeConnectionGuardrails(
  ctx: Ctx,
  client: Transaction,
  { id, organizationId }: { id: string; organizationId: string },
  { perExecutionMicros, dailyMicros }: UserGuardrails,
): Promise<void> {
  if (perExecutionMicros === undefined && dailyMicros === undefined) return;
  if (perExecutionMicros !== undefined) {
    const stored = perExecutionMicros === null ? null : JSON.stringify({ perExecutionMicros });
    await client.query("UPDATE credential SET guardrails = $2 WHERE id = $1", [id, stored]);
  }
  if (dailyMicros !== undefined) {
    await lockBudgets(client, organizationId);
    const owner = { organizationId, projectId: null, scope: scopeOfConnection(id) };
    await write(ctx, client, owner, {
      period: "day",
      ceilingMicros: dailyMicros ?? 0,
      enforcement: dailyMicros === null ? "off" : "prevent",
    });
  }
  const details = {
    ...(perExecutionMicros === undefined ? {} : { perExecutionMicros }),
    ...(dailyMicros === undefined ? {} : { dailyMicros }),
  };
  await record(
    ctx,
    { organizationId, action: "connection.guardrails_changed", subject: id, details },
    client,
  );
}
