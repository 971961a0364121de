import type { BudgetSpend, UserGuardrails } from "@/server/contract/budgets";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { credential } from "@/server/generated/schema";
import { pool, type Transaction } from "@/server/platform/db";
import { text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { scopeOfConnection } from "./guardrails";
import { budgetsBy, toBudget } from "./rows";
import { lockBudgets, writeBudget } from "./set";

/*
 * A connection has ceilings like those of an organization. The daily one is a stored budget with scope
 * connection:<id>, which admission checks; the one per execution is stored with the connection.
 */

/** Spending limits of one connection, and the spend that counts against its daily limit. */
export type ConnectionGuardrails = {
  dailyMicros: number | null;
  perExecutionMicros: number | null;
  spend: BudgetSpend | null;
};

/** The cast is safe because `writeConnectionGuardrails` writes this column. */
const perExecutionOf = (stored: unknown) =>
  (stored as { perExecutionMicros?: number } | null)?.perExecutionMicros ?? null;

const listDaily = budgetsBy(
  "budget.list.connections",
  { organizationId: text, scopes: texts },
  "b.organization_id = $organizationId AND b.scope = ANY($scopes) AND b.enforcement <> 'off'",
);

/** Returns the guardrails of these connections of one organization, by connection id. */
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
 * Changes the given guardrails of a connection; null removes one. Runs in the caller's transaction, and the
 * caller announces the change. Executions of today count against a new daily limit.
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
    await writeBudget(ctx, client, owner, {
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
