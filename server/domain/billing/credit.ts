import { inTransaction } from "@/server/db";
import { record } from "@/server/domain/audit";
import { ALLOWANCE_MICROS } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { requireOperator } from "@/server/domain/organizations";
import { newId } from "@/server/ids";
import type { Micros } from "@/server/money";

export type Credit = { organizationId: string; amountMicros: Micros; isTest: boolean; reason: string };

/** An operator gives an organization money (a negative amount takes it back), live or of the sandbox, with a reason. */
export async function credit(
  ctx: Ctx,
  { organizationId, amountMicros, isTest, reason }: Credit,
): Promise<void> {
  requireOperator(ctx);
  await inTransaction(async (client) => {
    const transactionId = newId("transaction");
    await client.query(
      `INSERT INTO wallet (organization_id, is_test, allowance_micros, balance_micros, created_at)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (organization_id, is_test) DO UPDATE SET balance_micros = wallet.balance_micros + excluded.balance_micros`,
      [organizationId, isTest, ALLOWANCE_MICROS, amountMicros, ctx.now()],
    );
    await client.query(
      `INSERT INTO ledger_entry (transaction_id, organization_id, account, amount_micros, kind, is_test, created_at)
       SELECT $1, $2, account, amount, 'grant', $3, $4
       FROM (VALUES ('granted', -$5::bigint), ('wallet:' || $2, $5::bigint)) AS posting (account, amount)`,
      [transactionId, organizationId, isTest, ctx.now(), amountMicros],
    );
    await record(
      ctx,
      {
        organizationId,
        action: "wallet.credited",
        subject: organizationId,
        details: { amountMicros, isTest, reason },
      },
      client,
    );
  });
}
