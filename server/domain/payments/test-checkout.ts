import type { PaymentView } from "@/server/contract/billing";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { testPaymentName, testProvider, testSession } from "@/server/payments/test";
import { fail } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { applyPaymentMessage } from "./apply";
import { kindOf } from "./kinds";
import { requirePayer } from "./payer";
import { type PaymentRow, toPaymentView } from "./rows";
import { seenPayment } from "./top-up";

/**
 * Returns a payment of the built-in checkout for its page. NotFound in production and for a payment of
 * another provider.
 */
export async function testPayment(ctx: Ctx, paymentId: string): Promise<PaymentView> {
  return toPaymentView(await testRow(ctx, paymentId), ctx.now());
}

async function testRow(ctx: Ctx, paymentId: string): Promise<PaymentRow> {
  if (env.CAPSTAN_ENV === "production") fail("NotFound", "There is no such payment.");
  const row = await seenPayment(ctx, paymentId);
  if (row.provider !== "test") fail("NotFound", "There is no such payment.");
  access.authorize(ctx, kindOf(row.kind).leastRole, { organizationId: row.organization_id });
  return row;
}

/**
 * Pays or cancels a payment of the built-in checkout, with test money. It applies the same message as a
 * real provider, so repeated clicks are one payment. For people who may pay it.
 */
export async function decideTestPayment(
  ctx: Ctx,
  paymentId: string,
  decision: "pay" | "cancel",
): Promise<PaymentView> {
  requirePayer(ctx);
  const row = await testRow(ctx, paymentId);
  if (decision === "pay" && row.state !== "paid" && row.subject_id !== null)
    await kindOf(row.kind).refuse?.(ctx, row.subject_id);
  if (row.state === "open" && row.expires_at > ctx.now()) {
    await applyPaymentMessage(ctx, testProvider(""), {
      id: `${row.id}_${decision}`,
      type: decision === "pay" ? "checkout.session.completed" : "checkout.session.expired",
      at: ctx.now(),
      isTest: true,
      news: {
        about: "checkout",
        sessionId: row.session_id ?? testSession(row.id),
        paymentId: row.id,
        organizationId: row.organization_id,
        providerPaymentId: testPaymentName(row.id),
        customerId: null,
        state: decision === "pay" ? "paid" : "expired",
        amountMicros: row.amount_micros,
        taxMicros: 0,
        currency: row.currency,
      },
    });
  }
  return toPaymentView(await testRow(ctx, paymentId), ctx.now());
}
