import type { BillingCurrency, CheckoutSession } from "@/server/contract/billing";
import { pool } from "@/server/db";
import { record } from "@/server/domain/audit";
import { convertUp, rateTo } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { publicUrl } from "@/server/env";
import { fail, ValidationFault } from "@/server/errors";
import { newId } from "@/server/ids";
import type { Micros } from "@/server/money";
import { PaymentProviderDown } from "@/server/payments/define";
import { kindOf } from "./kinds";
import { requireProvider } from "./provider";

/** How long a checkout stays open; Stripe takes from thirty minutes to a day. */
const LIFETIME_MS = 23 * 3_600_000;
const MICROS_PER_CENT = 10_000;

export type Purchase = {
  organizationId: string;
  /** What is bought: a name of `definePaymentKind`, and the one thing where a kind buys one. */
  kind: string;
  subjectId?: string;
  /** In US dollars. */
  priceMicros: Micros;
  currency: BillingCurrency;
  presetKey?: string | null | undefined;
};

/**
 * Opens a checkout for a person whose right to buy this the caller has checked. The payment is written down before the
 * provider is asked, and its id is the key by which a repeated request is one.
 */
export async function startCheckout(ctx: Ctx, purchase: Purchase): Promise<CheckoutSession> {
  const provider = requireProvider();
  const exchange = rateTo(purchase.currency);
  const amountMicros = exchange ? convertUp(purchase.priceMicros, exchange) : purchase.priceMicros;
  refuseAmount(purchase.priceMicros, provider.leastMicros);
  const { principal } = ctx;
  const paymentId = newId("payment");
  const now = ctx.now();
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await pool.query(
    `INSERT INTO payment (id, organization_id, kind, subject_id, provider, state, currency, amount_micros, credit_micros,
       exchange, is_test, preset_key, created_by, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, 'open', $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      paymentId,
      purchase.organizationId,
      purchase.kind,
      purchase.subjectId ?? null,
      provider.name,
      purchase.currency,
      amountMicros,
      purchase.priceMicros,
      exchange && JSON.stringify(exchange),
      provider.isTest,
      purchase.presetKey ?? null,
      principal.id,
      now,
      expiresAt,
    ],
  );
  const { title, returnPath } = kindOf(purchase.kind);
  const back = (result: string) =>
    `${publicUrl}${returnPath}?${new URLSearchParams({ organizationId: purchase.organizationId, payment: paymentId, result })}`;
  try {
    const { sessionId, url } = await provider.openCheckout({
      paymentId,
      organizationId: purchase.organizationId,
      currency: purchase.currency,
      amountMicros,
      title,
      email: principal.kind === "human_session" ? principal.email : null,
      customerId: await customerOf(purchase.organizationId, provider.name, provider.isTest),
      successUrl: back("success"),
      cancelUrl: back("canceled"),
      expiresAt,
    });
    await pool.query("UPDATE payment SET session_id = $2, checkout_url = $3 WHERE id = $1", [
      paymentId,
      sessionId,
      url,
    ]);
    await record(ctx, {
      organizationId: purchase.organizationId,
      action: "payment.started",
      subject: paymentId,
      details: { kind: purchase.kind, amountMicros, currency: purchase.currency, isTest: provider.isTest },
    });
    return { url, sessionId, paymentId };
  } catch (cause) {
    if (!(cause instanceof PaymentProviderDown)) throw cause;
    ctx.log.error({ err: cause, paymentId }, "a checkout could not be opened");
    // If one was opened after all, its messages find the payment by its id and outrank this.
    await pool.query("UPDATE payment SET state = 'failed' WHERE id = $1 AND state = 'open'", [paymentId]);
    paymentsAreDown();
  }
}

export function paymentsAreDown(): never {
  fail("ServiceUnavailable", "The payment provider did not answer. Nothing was charged; try again.", {
    retryAfterSeconds: 5,
  });
}

function refuseAmount(micros: Micros, leastMicros: Micros): void {
  const wrong = (msg: string, type: string) => {
    throw new ValidationFault([{ loc: ["body", "amountMicros"], msg, type, input: micros }]);
  };
  if (micros % MICROS_PER_CENT !== 0)
    wrong("is no whole number of cents: a multiple of 10000", "multiple_of");
  if (micros < leastMicros) wrong(`is less than can be paid: at least ${leastMicros}`, "greater_than_equal");
}

/** The payer, as this provider knows the organization since it last paid. */
export async function customerOf(
  organizationId: string,
  provider: string,
  isTest: boolean,
): Promise<string | null> {
  const { rows } = await pool.query<{ customer_id: string }>(
    `SELECT customer_id FROM payment WHERE organization_id = $1 AND provider = $2 AND is_test = $3
       AND customer_id IS NOT NULL ORDER BY id DESC LIMIT 1`,
    [organizationId, provider, isTest],
  );
  return rows[0]?.customer_id ?? null;
}
