import { ALLOWANCE_MICROS } from "@/server/domain/budgets";
import { ledgerTransaction, wallet } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";
import { jsonb, maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

export type WalletPosting = { account: string; amountMicros: Micros; currency?: string };
type LedgerTransaction = {
  transactionId: string;
  organizationId: string;
  paymentId?: string;
  kind: string;
  isTest: boolean;
  at: Date;
  postings: WalletPosting[];
};

const insertTransaction = statement("ledger_transaction.insert.payment", {
  params: {
    transactionId: ledgerTransaction.transaction_id,
    organizationId: ledgerTransaction.organization_id,
    paymentId: ledgerTransaction.payment_id,
    account: maybe(ledgerTransaction.account),
    postings: jsonb<Json>(),
    isTest: ledgerTransaction.is_test,
    at: timestamptz,
  },
  sql: `INSERT INTO ledger_transaction (transaction_id, organization_id, payment_id, account, postings, is_test, created_at)
     VALUES ($transactionId, $organizationId, $paymentId, $account, $postings, $isTest, $at)`,
});

/**
 * Adds a transaction to the ledger, the posting of the organization's wallet first; writes nothing if all
 * amounts are zero. The database rejects it, and this throws, unless the postings sum to zero in each currency.
 */
export async function book(client: Queryable, transaction: LedgerTransaction): Promise<void> {
  const { organizationId, kind } = transaction;
  const isOthers = ({ account }: WalletPosting) => Number(account !== walletAccount(organizationId));
  const postings = transaction.postings
    .filter(({ amountMicros }) => amountMicros !== 0)
    .toSorted((one, other) => isOthers(one) - isOthers(other));
  if (postings.length === 0) return;
  await insertTransaction.run(client, {
    transactionId: transaction.transactionId,
    organizationId,
    paymentId: transaction.paymentId ?? null,
    account: postings[0]?.account,
    postings: postings.map(({ account, amountMicros, currency = "USD" }) => ({
      account,
      amount_micros: amountMicros,
      kind,
      ...(currency === "USD" ? {} : { currency }),
    })),
    isTest: transaction.isTest,
    at: transaction.at,
  });
}

export const walletAccount = (organizationId: string) => `wallet:${organizationId}`;

const addBalance = statement("wallet.add.balance", {
  params: {
    organizationId: text,
    isTest: wallet.is_test,
    allowanceMicros: wallet.allowance_micros,
    amountMicros: wallet.balance_micros,
    at: timestamptz,
  },
  sql: `INSERT INTO wallet (organization_id, is_test, allowance_micros, balance_micros, created_at)
     SELECT id, $isTest, $allowanceMicros, $amountMicros, $at FROM organization WHERE id = $organizationId
     ON CONFLICT (organization_id, is_test) DO UPDATE SET balance_micros = wallet.balance_micros + excluded.balance_micros`,
});

/**
 * Adds this amount to the prepaid balance, in the transaction that books it. NotFound if there is no such
 * organization.
 */
export async function moveBalance(
  client: Queryable,
  move: { organizationId: string; isTest: boolean; amountMicros: Micros; at: Date },
): Promise<void> {
  const rowCount = await addBalance.count(client, {
    organizationId: move.organizationId,
    isTest: move.isTest,
    allowanceMicros: ALLOWANCE_MICROS,
    amountMicros: move.amountMicros,
    at: move.at,
  });
  if (rowCount === 0) fail("NotFound", "There is no such organization.");
}
