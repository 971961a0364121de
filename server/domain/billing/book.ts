import type { Queryable } from "@/server/db";
import { ALLOWANCE_MICROS } from "@/server/domain/budgets";
import { fail } from "@/server/errors";
import type { Micros } from "@/server/money";

export type Posting = { account: string; amountMicros: Micros; currency?: string };
export type Transaction = {
  transactionId: string;
  organizationId: string;
  paymentId?: string;
  kind: string;
  isTest: boolean;
  at: Date;
  postings: Posting[];
};

/** Adds a transaction to the ledger. Its postings sum to zero in each currency, or it is a mistake of ours. */
export async function book(client: Queryable, transaction: Transaction): Promise<void> {
  const postings = transaction.postings.filter(({ amountMicros }) => amountMicros !== 0);
  const sums = new Map<string, number>();
  for (const { currency = "USD", amountMicros } of postings)
    sums.set(currency, (sums.get(currency) ?? 0) + amountMicros);
  if ([...sums.values()].some((sum) => sum !== 0))
    throw new Error(`transaction ${transaction.transactionId} does not sum to zero`);
  await client.query(
    `INSERT INTO ledger_entry (transaction_id, organization_id, payment_id, account, amount_micros, currency, kind, is_test, created_at)
     SELECT $1, $2, $3, x.account, x.amount_micros, x.currency, $4, $5, $6
     FROM jsonb_to_recordset($7::jsonb) AS x(account text, amount_micros bigint, currency text)`,
    [
      transaction.transactionId,
      transaction.organizationId,
      transaction.paymentId ?? null,
      transaction.kind,
      transaction.isTest,
      transaction.at,
      JSON.stringify(
        postings.map(({ account, amountMicros, currency = "USD" }) => ({
          account,
          amount_micros: amountMicros,
          currency,
        })),
      ),
    ],
  );
}

export const walletAccount = (organizationId: string) => `wallet:${organizationId}`;

/** Moves the prepaid balance by this much, in the transaction that books it. */
export async function moveBalance(
  client: Queryable,
  move: { organizationId: string; isTest: boolean; amountMicros: Micros; at: Date },
): Promise<void> {
  const { rowCount } = await client.query(
    `INSERT INTO wallet (organization_id, is_test, allowance_micros, balance_micros, created_at)
     SELECT id, $2, $3, $4, $5 FROM organization WHERE id = $1
     ON CONFLICT (organization_id, is_test) DO UPDATE SET balance_micros = wallet.balance_micros + excluded.balance_micros`,
    [move.organizationId, move.isTest, ALLOWANCE_MICROS, move.amountMicros, move.at],
  );
  if (rowCount === 0) fail("NotFound", "There is no such organization.");
}
