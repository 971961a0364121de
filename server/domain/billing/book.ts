import { ALLOWANCE_MICROS } from "@/server/domain/budgets";
import type { Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";

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

/**
 * Adds a transaction to the ledger, the posting of the organization's wallet first. Throws where its postings do not sum to
 * zero in each currency: the database refuses it.
 */
export async function book(client: Queryable, transaction: Transaction): Promise<void> {
  const { organizationId, kind } = transaction;
  const isOthers = ({ account }: Posting) => Number(account !== walletAccount(organizationId));
  const postings = transaction.postings
    .filter(({ amountMicros }) => amountMicros !== 0)
    .toSorted((one, other) => isOthers(one) - isOthers(other));
  if (postings.length === 0) return;
  await client.query(
    `INSERT INTO ledger_transaction (transaction_id, organization_id, payment_id, account, postings, is_test, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      transaction.transactionId,
      organizationId,
      transaction.paymentId ?? null,
      postings[0]?.account,
      JSON.stringify(
        postings.map(({ account, amountMicros, currency = "USD" }) => ({
          account,
          amount_micros: amountMicros,
          kind,
          ...(currency === "USD" ? {} : { currency }),
        })),
      ),
      transaction.isTest,
      transaction.at,
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
