import type { RefundReason } from "@/server/contract/commissions";
import type { Ctx } from "@/server/domain/ctx";
import { notify } from "@/server/domain/notifications";
import { closeCheckoutsOf, definePaymentKind, type Paid } from "@/server/domain/payments";
import { commissionQuote } from "@/server/generated/schema";
import { pool, type Queryable, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { names, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { refuseEnded } from "./quotes";
import { approvalPath, type CommissionQuoteRow } from "./rows";
import { consolePath } from "./tell";
import { applyMove, canMove, lockRequest } from "./transitions";

/** The payment kind of commissions: the payment buys one quote, in the quote's own currency. */
export const COMMISSION = "commission";

definePaymentKind(COMMISSION, {
  title: (quoteId) => `Capability commission ${quoteId}`,
  returnPath: (quoteId) => approvalPath(quoteId ?? ""),
  leastRole: "member",
  isTaxed: true,
  account: ({ subjectId }) => `${COMMISSION}:${subjectId}`,
  async lock(client, quoteId) {
    await lockRequest(client, (await quoteById(client, quoteId)).request_id);
  },
  async refuse(ctx, quoteId) {
    refuseEnded(await quoteById(pool, quoteId), ctx.now());
  },
  onPaid: (client, ctx, paid) => acceptPayment(client, ctx, paid),
  async onReturned(client, ctx, { subjectId, paymentId }, { isWhole, note }) {
    if (!isWhole) return;
    const quote = await quoteById(client, subjectId ?? "");
    if (quote.payment_id !== paymentId) return;
    const request = await lockRequest(client, quote.request_id);
    if (!canMove(request.status, "refunded")) return;
    const message = note ?? "The commission was refunded.";
    const feedback = { kind: "refunded" as const, message, at: ctx.now().toISOString() };
    await applyMove(client, ctx, request, {
      how: "refunded",
      change: { feedback },
      payload: { quoteId: quote.id, paymentId },
    });
  },
  async onReversed(client, ctx, { subjectId, paymentId }, { wasWhole }) {
    if (!wasWhole) return;
    const quote = await quoteById(client, subjectId ?? "");
    if (quote.payment_id !== paymentId) return;
    const request = await lockRequest(client, quote.request_id);
    if (!canMove(request.status, "refund_failed")) return;
    await applyMove(client, ctx, request, {
      how: "refund_failed",
      payload: { quoteId: quote.id, paymentId },
    });
  },
  async onRefundFailed(client, ctx, { id, subjectId }) {
    const quote = await quoteById(client, subjectId);
    await notify(client, ctx, "operators", {
      occasion: `${id}:failed`,
      kind: "commission.refund_failed",
      title: "A refund failed at the payment provider",
      body: "The customer has not received their money. The payment provider shows the reason.",
      href: consolePath({ id: quote.request_id }),
      letter: { facts: [["Quote", quote.id]], action: "Open request" },
    });
  },
});

export async function quoteById(client: Queryable, quoteId: string): Promise<CommissionQuoteRow> {
  return (await findQuote(client, quoteId)) ?? noSuchQuote();
}

const readQuote = statement("commission_quote.read", {
  params: { quoteId: text },
  row: commissionQuote,
  sql: `SELECT ${names(commissionQuote)} FROM commission_quote WHERE id = $quoteId`,
});

export async function findQuote(client: Queryable, quoteId: string): Promise<CommissionQuoteRow | null> {
  return readQuote.first(client, { quoteId });
}

export function noSuchQuote(): never {
  fail("NotFound", "There is no such commission quote.");
}

const markPaid = statement("commission_quote.update.paid", {
  params: { quoteId: text, now: timestamptz, paymentId: commissionQuote.payment_id },
  sql: `UPDATE commission_quote SET state = 'paid', ended_at = $now, payment_id = $paymentId WHERE id = $quoteId`,
});

/**
 * Applies money for a quote. It pays the quote if the quote was payable at the time that the provider reports
 * for the payment; otherwise the returned reason sends the whole amount back.
 */
async function acceptPayment(client: Transaction, ctx: Ctx, paid: Paid): Promise<RefundReason | null> {
  const quote = await quoteById(client, paid.subjectId ?? "");
  const request = await lockRequest(client, quote.request_id);
  if (quote.state === "paid") return "already_paid";
  if (quote.state === "superseded" || !canMove(request.status, "paid")) return "superseded";
  if (quote.expires_at <= paid.paidAt) return "expired";
  await markPaid.run(client, { quoteId: quote.id, now: ctx.now(), paymentId: paid.paymentId });
  await closeCheckoutsOf(client, COMMISSION, quote.id, ctx.now());
  await applyMove(client, ctx, request, {
    how: "paid",
    payload: { quoteId: quote.id, paymentId: paid.paymentId },
  });
  return null;
}
