import type { BudgetSpend, UserGuardrails } from "@/server/contract/budgets";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { credential } from "@/server/generated/schema";
import { pool, type Transaction } from "@/server/platform/db";
import { text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { scopeOfConnection } from "./guardrails";
import { budgetsBy, toBudget } from "./rows";
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

const listDaily = budgetsBy(
  "budget.list.connections",
  { organizationId: text, scopes: texts },
  "b.organization_id = $organizationId AND b.scope = ANY($scopes) AND b.enforcement <> 'off'",
);

/** The guardrails of these connections of one organization. */
export async function connectionGuardrails(
  ctx: Ctx,
  organizationId: string,
  credentials: { id: string; guardrails: unknown }[],
): Promise<Map<string, ConnectionGuardrails>> {
  const rows = await listDaily.all(pool, {
    now: ctx.now(),
    organizationId,
    scopes: credentials.map(({ id }) => scopeOfConnection(id)),
  });
  const daily = new Map(rows.map((row) => [row.scope, toBudget(row, ctx.now())]));
  return new Map(
    credentials.map(({ id, guardrails }) => {
      const day = daily.get(scopeOfConnection(id));
      const perExecutionMicros = perExecutionOf(guardrails);
      return [id, { perExecutionMicros, dailyMicros: day?.ceilingMicros ?? null, spend: day?.spend ?? null }];
    }),
  );
}

const storeGuardrails = statement("credential.update.guardrails", {
  params: { credentialId: text, guardrails: credential.guardrails },
  sql: `UPDATE credential SET guardrails = $guardrails WHERE id = $credentialId`,
});

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
    const stored = perExecutionMicros === null ? null : { perExecutionMicros };
    await storeGuardrails.run(client, { credentialId: id, guardrails: stored });
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
