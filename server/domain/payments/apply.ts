import type { Ctx } from "@/server/domain/ctx";
import type { PaymentMessage, PaymentNews, PaymentProvider } from "@/server/payments/define";
import { inTransaction, pool } from "@/server/platform/db";
import { applyPaymentEvent, tell } from "./apply-event";
import { kindOf } from "./kinds";
import { contradiction, merged } from "./merge";
import type { PaymentRow } from "./rows";

/** What became of a message. foreign: it concerns no payment of ours. mismatch: it contradicts ours, and changed nothing. */
export type Applied = "applied" | "seen" | "foreign" | "mismatch";

/**
 * Applies a provider's message to a payment, once. The row keeps the latest that was reported, whatever the order, and its
 * ledger entries are a function of the row: the same messages twice, late or at once lead to the same row, ledger and wallet.
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
    const { rowCount } = await client.query(
      `INSERT INTO payment_event (provider, id, type, payment_id, received_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [provider.name, message.id, message.type, located.id, ctx.now()],
    );
    if (rowCount === 0) return "seen";
    if (located.subject_id !== null) await kindOf(located.kind).lock?.(client, located.subject_id);
    const { rows } = await client.query<PaymentRow>("SELECT * FROM payment WHERE id = $1 FOR UPDATE", [
      located.id,
    ]);
    const before = rows[0]!; // located above, and never deleted
    const wrong = contradiction(before, message, news);
    if (wrong) {
      const details = { eventId: message.id, type: message.type, reason: wrong };
      ctx.log.error(
        { paymentId: located.id, ...details },
        "a webhook contradicts the stored payment; nothing was credited",
      );
      await tell(client, ctx, before, { action: "payment.mismatch", details });
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

/** Which of our payments the news are about: by the id we gave, by the session, by the provider's payment, or by asking. */
async function locate(provider: PaymentProvider, news: PaymentNews): Promise<Located | null> {
  const named = news.about === "dispute" ? null : news.paymentId;
  const session = news.about === "checkout" ? news.sessionId : null;
  const { rows } = await pool.query<Located>(
    `SELECT id, kind, subject_id FROM payment WHERE provider = $1 AND (id = $2 OR session_id = $3 OR provider_payment_id = $4)
     ORDER BY (id = $2) DESC NULLS LAST LIMIT 1`,
    [provider.name, named, session, news.providerPaymentId],
  );
  if (rows[0]) return rows[0];
  if (named || news.about === "checkout" || !provider.findPaymentId) return null;
  const asked = await provider.findPaymentId(news.providerPaymentId);
  if (!asked) return null;
  const { rows: known } = await pool.query<Located>(
    "SELECT id, kind, subject_id FROM payment WHERE provider = $1 AND id = $2",
    [provider.name, asked],
  );
  return known[0] ?? null;
}
