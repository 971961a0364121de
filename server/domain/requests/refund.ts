import type { CommissionRefund, RefundCommission } from "@/server/contract/commissions";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { handOnRefund, writeRefund } from "@/server/domain/payments";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { names, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { PAYMENT } from "./approval";
import { ACCEPTANCE_WINDOW_DAYS, isWithinAcceptance, type RequestRow } from "./rows";
import { lockRequest, requireMove } from "./transitions";

const lockPaying = statement("payment.lock.paid_commission", {
  params: { requestId: text },
  row: PAYMENT,
  sql: `SELECT ${names(PAYMENT, "payment")} FROM payment JOIN commission_quote quote ON quote.payment_id = payment.id
       WHERE quote.request_id = $requestId AND quote.state = 'paid' FOR UPDATE OF payment`,
});

/**
 * Requests the refund of a whole paid commission: any time before fulfilment, or within the acceptance window
 * after it. For operators. The provider is asked in the background until it accepts or rejects; the request
 * is `refunded` once the return is booked. A repeated request returns the same refund; `payments.retryRefund`
 * retries a failed one.
 */
export async function refund(ctx: Ctx, { requestId, reason }: RefundCommission): Promise<CommissionRefund> {
  access.authorize(ctx, "operator");
  const written = await inTransaction(async (client) => {
    const request = await lockRequest(client, requestId);
    requireMove(request, "refunded");
    const paid = await lockPaying.first(client, { requestId });
    const payment = paid!; // a request that can be refunded was paid by one payment
    requireAcceptance(request, ctx.now());
    return writeRefund(client, ctx, {
      payment,
      reason: "operator",
      requestedBy: ctx.principal.id,
      note: reason,
    });
  });
  const state = await handOnRefund(ctx, written);
  return { refundId: written.id, requestId, paymentId: written.payment_id, state };
}

function requireAcceptance(request: RequestRow, now: Date): void {
  if (isWithinAcceptance(request, now)) return;
  fail(
    "RequestStateConflict",
    `The request was fulfilled more than ${ACCEPTANCE_WINDOW_DAYS} days ago, so its acceptance window has ended.`,
    { requestId: request.id, status: request.status },
  );
}
