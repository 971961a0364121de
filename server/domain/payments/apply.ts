import type { Ctx } from "@/server/domain/ctx";
import { payment, paymentEvent } from "@/server/generated/schema";
import type { PaymentMessage, PaymentNews, PaymentProvider } from "@/server/payments/define";
import { inTransaction, pool } from "@/server/platform/db";
import { maybe, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { applyPaymentEvent, auditPayment } from "./apply-event";
import { kindOf } from "./kinds";
import { contradiction, merged } from "./merge";
import { lockPayment, type PaymentRow } from "./rows";

/**
 * Result of a message. `seen`: a message with this id was received before. `foreign`: it concerns no payment
 * of ours. `mismatch`: it contradicts our payment, which stays unchanged; the contradiction is logged and
 * audited.
 */
export type Applied = "applied" | "seen" | "foreign" | "mismatch";

const insertEvent = statement("payment_event.insert", {
  params: {
    provider: paymentEvent.provider,
    eventId: paymentEvent.id,
    type: paymentEvent.type,
    paymentId: paymentEvent.payment_id,
    now: timestamptz,
  },
  sql: `INSERT INTO payment_event (provider, id, type, payment_id, received_at) VALUES ($provider, $eventId, $type, $paymentId, $now)
       ON CONFLICT DO NOTHING`,
});

/**
 * Applies a provider's message to a payment once. The row collects what the messages report, and its ledger
 * entries follow from the row alone, so the same messages lead to the same ledger and wallet even if
 * repeated, late or concurrent.
 */
export async function applyPaymentMessage(
  ctx: Ctx,
  provider: PaymentProvider,
  message: PaymentMessage,
): Promise<Applied> {
  const { news } = message;
  if (!news) return "foreign";
  const located = await locate(provider, news);
  if (!located) return "foreign";
  return inTransaction(async (client) => {
    const rowCount = await insertEvent.count(client, {
      provider: provider.name,
      eventId: message.id,
      type: message.type,
      paymentId: located.id,
      now: ctx.now(),
    });
    if (rowCount === 0) return "seen";
    if (located.subject_id !== null) await kindOf(located.kind).lock?.(client, located.subject_id);
    const row = await lockPayment.first(client, { paymentId: located.id });
    const before = row!; // located above, and never deleted
    const wrong = contradiction(before, message, news);
    if (wrong) {
      const details = { eventId: message.id, type: message.type, reason: wrong };
      ctx.log.error(
        { paymentId: located.id, ...details },
        "a webhook contradicts the stored payment; nothing was credited",
      );
      await auditPayment(client, ctx, before, { action: "payment.mismatch", details });
      return "mismatch";
    }
    await applyPaymentEvent(client, ctx, {
      before,
      after: merged(before, message, news, ctx.now()),
      message,
    });
    return "applied";
  });
}

type Located = Pick<PaymentRow, "id" | "kind" | "subject_id">;

const findNamed = statement("payment.find.event", {
  params: { provider: text, named: maybe(text), session: maybe(text), providerPaymentId: maybe(text) },
  row: pick(payment, "id kind subject_id"),
  sql: `SELECT id, kind, subject_id FROM payment
     WHERE provider = $provider AND (id = $named OR session_id = $session OR provider_payment_id = $providerPaymentId)
     ORDER BY (id = $named) DESC NULLS LAST LIMIT 1`,
});

const findAsked = statement("payment.find.asked", {
  params: { provider: text, paymentId: text },
  row: pick(payment, "id kind subject_id"),
  sql: `SELECT id, kind, subject_id FROM payment WHERE provider = $provider AND id = $paymentId`,
});

/**
 * Finds the payment of a message: by our id, by the session, by the provider's payment id, or by a query to
 * the provider.
 */
async function locate(provider: PaymentProvider, news: PaymentNews): Promise<Located | null> {
  const named = news.about === "dispute" ? null : news.paymentId;
  const session = news.about === "checkout" ? news.sessionId : null;
  const row = await findNamed.first(pool, {
    provider: provider.name,
    named,
    session,
    providerPaymentId: news.providerPaymentId,
  });
  if (row) return row;
  if (named || news.about === "checkout" || !provider.findPaymentId) return null;
  const asked = await provider.findPaymentId(news.providerPaymentId);
  if (!asked) return null;
  return findAsked.first(pool, { provider: provider.name, paymentId: asked });
}
