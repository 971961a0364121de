import type { PoolClient } from "pg";
import { inTransaction, pool } from "@/server/db";
import { record } from "@/server/domain/audit";
import { book, type Posting } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import type { Micros } from "@/server/money";
import type { PaymentMessage, PaymentNews, PaymentProvider } from "@/server/payments/define";
import type { Json } from "@/server/step";
import { kindOf, type Paid } from "./kinds";
import { type Disputes, type PaymentRow, type PaymentState, returnedMicros } from "./rows";

/** What became of a message. foreign: it concerns no payment of ours. mismatch: it contradicts ours, and changed nothing. */
export type Applied = "applied" | "seen" | "foreign" | "mismatch";

/** A state gives way to those after it only: told in any order, the last one known is the same. */
const RANK: Record<PaymentState, number> = { open: 0, expired: 1, failed: 2, paid: 3 };
const OUTCOME_RANK = { open: 0, won: 1, lost: 2 } as const;

/**
 * Brings a payment to what a message tells of it. The row grows only (a later state, a larger refund), what the ledger has
 * of it is a function of the row, and each of its transactions is named by what it brings the payment to: the same messages
 * twice, late or at once lead to the same row, ledger and wallet.
 */
export async function applyPaymentMessage(
  ctx: Ctx,
  provider: PaymentProvider,
  message: PaymentMessage,
): Promise<Applied> {
  const { news } = message;
  if (!news) return "foreign";
  const paymentId = await locate(provider, news);
  if (!paymentId) return "foreign";
  return inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO payment_event (provider, id, type, payment_id, received_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [provider.name, message.id, message.type, paymentId, ctx.now()],
    );
    if (rowCount === 0) return "seen";
    const { rows } = await client.query<PaymentRow>("SELECT * FROM payment WHERE id = $1 FOR UPDATE", [
      paymentId,
    ]);
    const before = rows[0]!; // located above, and never deleted
    const wrong = contradiction(before, message, news);
    if (wrong) {
      const details = { eventId: message.id, type: message.type, reason: wrong };
      ctx.log.error({ paymentId, ...details }, "a message contradicts our payment: nothing was credited");
      await tell(client, ctx, before, "payment.mismatch", details);
      return "mismatch";
    }
    await bring(client, ctx, before, merged(before, news, ctx.now()), message);
    return "applied";
  });
}

/** Which of our payments the news are about: by the id we gave, by the session, by the provider's payment, or by asking. */
async function locate(provider: PaymentProvider, news: PaymentNews): Promise<string | null> {
  const named = news.about === "dispute" ? null : news.paymentId;
  const session = news.about === "checkout" ? news.sessionId : null;
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM payment WHERE provider = $1 AND (id = $2 OR session_id = $3 OR provider_payment_id = $4)
     ORDER BY (id = $2) DESC NULLS LAST LIMIT 1`,
    [provider.name, named, session, news.providerPaymentId],
  );
  if (rows[0]) return rows[0].id;
  if (named || news.about === "checkout" || !provider.findPaymentId) return null;
  const asked = await provider.findPaymentId(news.providerPaymentId);
  if (!asked) return null;
  const { rows: known } = await pool.query<{ id: string }>(
    "SELECT id FROM payment WHERE provider = $1 AND id = $2",
    [provider.name, asked],
  );
  return known[0]?.id ?? null;
}

/** What in a message cannot be true of this payment; null: nothing. */
function contradiction(row: PaymentRow, message: PaymentMessage, news: PaymentNews): string | null {
  if (message.isTest !== row.is_test) return "sandbox and live money are mixed";
  if (row.provider_payment_id && news.providerPaymentId && row.provider_payment_id !== news.providerPaymentId)
    return "another payment of the provider";
  if (news.about === "checkout") {
    if (row.session_id && row.session_id !== news.sessionId) return "another checkout session";
    if (news.paymentId !== row.id || news.organizationId !== row.organization_id) return "other metadata";
  }
  if (news.currency !== row.currency) return "another currency";
  const isWhole =
    news.about === "dispute"
      ? (news.amountMicros ?? 0) <= row.amount_micros
      : news.amountMicros === row.amount_micros;
  return isWhole ? null : "another amount";
}

/** The row with what is told added. */
function merged(row: PaymentRow, news: PaymentNews, now: Date): PaymentRow {
  const provider_payment_id = row.provider_payment_id ?? news.providerPaymentId;
  switch (news.about) {
    case "checkout": {
      const state = RANK[news.state] > RANK[row.state] ? news.state : row.state;
      return {
        ...row,
        provider_payment_id,
        session_id: row.session_id ?? news.sessionId,
        customer_id: row.customer_id ?? news.customerId,
        state,
        paid_at: row.paid_at ?? (state === "paid" ? now : null),
      };
    }
    case "refund":
      return {
        ...row,
        provider_payment_id,
        refunded_micros: Math.min(row.amount_micros, Math.max(row.refunded_micros, news.refundedMicros)),
      };
    case "dispute": {
      const known = row.disputes[news.disputeId];
      const isLater = !known || OUTCOME_RANK[news.outcome] > OUTCOME_RANK[known.outcome];
      const { amountMicros, outcome } = news;
      return {
        ...row,
        provider_payment_id,
        disputes: isLater ? { ...row.disputes, [news.disputeId]: { amountMicros, outcome } } : row.disputes,
      };
    }
  }
}

/** What of a payment is booked: nothing before it is paid; then all of it, less what went back. */
function booked(row: PaymentRow): { paid: Micros; credit: Micros; returned: Micros; debit: Micros } {
  if (row.state !== "paid") return { paid: 0, credit: 0, returned: 0, debit: 0 };
  const returned = returnedMicros(row);
  return {
    paid: row.amount_micros,
    credit: row.credit_micros,
    returned,
    debit: Number((BigInt(row.credit_micros) * BigInt(returned)) / BigInt(row.amount_micros)),
  };
}

async function bring(
  client: PoolClient,
  ctx: Ctx,
  before: PaymentRow,
  after: PaymentRow,
  message: PaymentMessage,
): Promise<void> {
  await client.query(
    `UPDATE payment SET state = $2, session_id = $3, provider_payment_id = $4, customer_id = $5, refunded_micros = $6,
       disputes = $7, paid_at = $8 WHERE id = $1`,
    [
      after.id,
      after.state,
      after.session_id,
      after.provider_payment_id,
      after.customer_id,
      after.refunded_micros,
      JSON.stringify(after.disputes satisfies Disputes),
      after.paid_at,
    ],
  );
  const [was, is] = [booked(before), booked(after)];
  const transactionId = `txn_${after.id.slice(after.id.indexOf("_") + 1)}`;
  const common = {
    organizationId: after.organization_id,
    paymentId: after.id,
    isTest: after.is_test,
    at: ctx.now(),
  };
  const eventId = message.id;
  const paid: Paid = {
    paymentId: after.id,
    organizationId: after.organization_id,
    subjectId: after.subject_id,
    isTest: after.is_test,
  };
  const kind = kindOf(after.kind);
  if (is.paid !== was.paid) {
    await book(client, {
      ...common,
      transactionId,
      kind: after.kind,
      postings: postingsOf(after, kind.account(paid), is.paid, is.credit),
    });
    await kind.onMoney(client, ctx, paid, is.credit);
    await tell(client, ctx, after, "payment.paid", {
      eventId,
      amountMicros: is.paid,
      currency: after.currency,
      creditMicros: is.credit,
    });
  } else if (after.state !== before.state) {
    await tell(client, ctx, after, `payment.${after.state}`, { eventId });
  }
  if (is.returned !== was.returned) {
    const [returned, debit] = [is.returned - was.returned, is.debit - was.debit];
    await book(client, {
      ...common,
      transactionId: `${transactionId}_returned_${is.returned}`,
      kind: "refund",
      postings: postingsOf(after, kind.account(paid), -returned, -debit),
    });
    await kind.onMoney(client, ctx, paid, -debit);
    await tell(client, ctx, after, "payment.returned", {
      eventId,
      amountMicros: returned,
      currency: after.currency,
      debitMicros: debit,
    });
  }
  for (const [disputeId, { amountMicros, outcome }] of Object.entries(after.disputes)) {
    if (before.disputes[disputeId]?.outcome !== outcome)
      await tell(client, ctx, after, "payment.disputed", { eventId, disputeId, amountMicros, outcome });
  }
}

/** From the provider to the account that is paid for, by way of the exchange where the currencies differ. */
function postingsOf(row: PaymentRow, account: string, amountMicros: Micros, creditMicros: Micros): Posting[] {
  const source = `payments:${row.provider}`;
  if (row.currency === "USD")
    return [
      { account: source, amountMicros: -creditMicros },
      { account, amountMicros: creditMicros },
    ];
  return [
    { account: source, amountMicros: -amountMicros, currency: row.currency },
    { account: "exchange", amountMicros, currency: row.currency },
    { account: "exchange", amountMicros: -creditMicros },
    { account, amountMicros: creditMicros },
  ];
}

const tell = (client: PoolClient, ctx: Ctx, row: PaymentRow, action: string, details: Record<string, Json>) =>
  record(ctx, { organizationId: row.organization_id, action, subject: row.id, details }, client);
