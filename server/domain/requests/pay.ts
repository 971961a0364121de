import { roleIn } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import {
  isProcessing,
  joinPayment,
  openCheckout,
  type PaymentRow,
  requirePayer,
} from "@/server/domain/payments";
import { payment } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { column, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { COMMISSION, findQuote, noSuchQuote, quoteById } from "./commission";
import { mayPay } from "./payer";
import { refuseEnded } from "./quotes";
import { lockRequest } from "./transitions";

const LEFT_OUT = "its condition leaves nulls out";
const listProcessing = statement("payment.list.processing", {
  params: { quoteId: text },
  row: {
    state: column<PaymentRow["state"]>("text"),
    processing_at: present(payment.processing_at, LEFT_OUT),
  },
  sql: `SELECT state, processing_at FROM payment
    WHERE kind = '${COMMISSION}' AND subject_id = $quoteId AND processing_at IS NOT NULL`,
});

/**
 * Opens the checkout of a commission quote. Everyone who may pay joins the one open checkout: a double click,
 * the back button and a colleague all reach the same page. For members of its organization and operators;
 * there is no other way to pay one. Gone (410) if it has expired or was superseded; RequestStateConflict if
 * it is paid or a payment is being processed.
 */
export async function startCommissionCheckout(
  ctx: Ctx,
  quoteId: string,
): Promise<{ url: string; paymentId: string }> {
  requirePayer(ctx);
  const known = await findQuote(pool, quoteId);
  if (!known || !roleIn(ctx, known.organization_id)) noSuchQuote();
  if (!mayPay(ctx, known.organization_id))
    fail("AuthorizationFailed", "This needs the role member in the organization. Ask an owner for it.");
  const payment = await inTransaction(async (client) => {
    const request = await lockRequest(client, known.request_id);
    const quote = await quoteById(client, quoteId);
    const refuse = (message: string): never =>
      fail("RequestStateConflict", message, { requestId: request.id, status: request.status });
    refuseEnded(quote, ctx.now());
    if (quote.state === "paid") refuse("This commission quote is already paid. Nothing was charged again.");
    const payments = await listProcessing.all(client, { quoteId });
    if (payments.some(isProcessing))
      refuse("A payment for this commission quote is already being processed. Wait for it to complete.");
    return joinPayment(client, ctx, {
      organizationId: quote.organization_id,
      kind: COMMISSION,
      subjectId: quote.id,
      priceMicros: quote.price_micros,
      price: "own",
      currency: quote.currency,
      until: quote.expires_at,
    });
  });
  const { url, paymentId } = await openCheckout(ctx, payment);
  return { url, paymentId };
}
