import type { BillingCurrency, CheckoutSession } from "@/server/contract/billing";
import { record } from "@/server/domain/audit";
import { convertUp, rateTo } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { payment } from "@/server/generated/schema";
import { type OpenedCheckout, type PaymentProvider, PaymentProviderDown } from "@/server/payments/define";
import { inTransaction, pool, type Queryable } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import type { Micros } from "@/server/platform/money";
import { HOUR_MS } from "@/server/platform/time/units";
import { bool, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { kindOf } from "./kinds";
import { providerNamed, requireProvider } from "./provider";
import { findPayment, type PaymentRow, returnUrl } from "./rows";

/** Lifetime of a checkout; Stripe accepts thirty minutes to a day. */
const LIFETIME_MS = 23 * HOUR_MS;
const MICROS_PER_CENT = 10_000;

export type Purchase = {
  organizationId: string;
  /** A name passed to `definePaymentKind`; `subjectId` is the purchased thing for kinds that sell one. */
  kind: string;
  subjectId?: string;
  priceMicros: Micros;
  /**
   * `dollars`: the price is in US dollars and is paid in `currency` at today's rate. `own`: price and
   * purchase are both in `currency`.
   */
  price: "dollars" | "own";
  currency: BillingCurrency;
  presetKey?: string | null | undefined;
  /** Latest time at which the checkout closes. */
  until?: Date;
};

/**
 * Opens a checkout; the caller has checked that the person may buy this. The payment is stored before the
 * provider is called, and its id is the idempotency key of that call.
 */
export async function startCheckout(ctx: Ctx, purchase: Purchase): Promise<CheckoutSession> {
  return openCheckout(ctx, await writePayment(pool, ctx, purchase));
}

const expireOpen = statement("payment.update.expired", {
  params: { kind: text, subjectId: text, now: timestamptz, provider: text },
  sql: `UPDATE payment SET state = 'expired', close_at = $now
     WHERE kind = $kind AND subject_id = $subjectId AND state = 'open' AND processing_at IS NULL AND (expires_at <= $now OR provider <> $provider)`,
});

const findOpen = statement("payment.find.open", {
  params: { kind: text, subjectId: text },
  row: { ...payment, subject_id: present(payment.subject_id, "its condition excludes null") },
  sql: `SELECT * FROM payment WHERE kind = $kind AND subject_id = $subjectId AND state = 'open'`,
});

/**
 * Returns the open payment of a thing, which all payers share, or creates one. An open payment that has
 * expired or belongs to another provider is marked as expired first, unless its money is on the way. Runs in
 * the caller's transaction, which keeps others from doing the same.
 */
export async function joinPayment(
  client: Queryable,
  ctx: Ctx,
  purchase: Purchase & { subjectId: string },
): Promise<PaymentRow> {
  const provider = requireProvider();
  await expireOpen.run(client, {
    kind: purchase.kind,
    subjectId: purchase.subjectId,
    now: ctx.now(),
    provider: provider.name,
  });
  return (
    (await findOpen.first(client, { kind: purchase.kind, subjectId: purchase.subjectId })) ??
    (await writePayment(client, ctx, purchase))
  );
}

const insertPayment = statement("payment.insert", {
  params: {
    paymentId: payment.id,
    organizationId: payment.organization_id,
    kind: payment.kind,
    subjectId: payment.subject_id,
    provider: payment.provider,
    currency: payment.currency,
    amountMicros: payment.amount_micros,
    creditMicros: payment.credit_micros,
    exchange: payment.exchange,
    isTest: payment.is_test,
    presetKey: payment.preset_key,
    createdBy: payment.created_by,
    now: timestamptz,
    expiresAt: payment.expires_at,
    payerEmail: payment.payer_email,
    customerId: payment.customer_id,
    isTaxed: payment.is_taxed,
    closeAt: payment.close_at,
  },
  row: payment,
  sql: `INSERT INTO payment (id, organization_id, kind, subject_id, provider, state, currency, amount_micros, credit_micros,
      exchange, is_test, preset_key, created_by, created_at, expires_at, payer_email, customer_id, is_taxed, close_at)
    VALUES ($paymentId, $organizationId, $kind, $subjectId, $provider, 'open', $currency, $amountMicros, $creditMicros,
      $exchange, $isTest, $presetKey, $createdBy, $now, $expiresAt, $payerEmail, $customerId, $isTaxed, $closeAt) RETURNING *`,
});

async function writePayment(client: Queryable, ctx: Ctx, purchase: Purchase): Promise<PaymentRow> {
  const provider = requireProvider();
  const { organizationId, priceMicros, currency, until } = purchase;
  const exchange = purchase.price === "dollars" ? rateTo(currency) : null;
  refuseAmount(priceMicros, provider.leastMicros);
  const { principal } = ctx;
  const now = ctx.now();
  const end = new Date(Math.min(now.getTime() + LIFETIME_MS, until?.getTime() ?? Number.POSITIVE_INFINITY));
  const row = await insertPayment.first(client, {
    paymentId: newId("payment"),
    organizationId,
    kind: purchase.kind,
    subjectId: purchase.subjectId ?? null,
    provider: provider.name,
    currency,
    amountMicros: exchange ? convertUp(priceMicros, exchange) : priceMicros,
    creditMicros: priceMicros,
    exchange,
    isTest: provider.isTest,
    presetKey: purchase.presetKey ?? null,
    createdBy: principal.id,
    now,
    expiresAt: end,
    payerEmail: principal.kind === "human_session" ? principal.email : null,
    customerId: await customerOf(organizationId, provider.name, provider.isTest),
    isTaxed: provider.addsTax && kindOf(purchase.kind).isTaxed,
    closeAt: until ? end : null,
  });
  return row!; // INSERT … RETURNING of one row
}

const storeSession = statement("payment.update.session", {
  params: { paymentId: text, sessionId: payment.session_id, url: payment.checkout_url },
  sql: `UPDATE payment SET session_id = $sessionId, checkout_url = $url WHERE id = $paymentId AND state = 'open' AND session_id IS NULL`,
});

/**
 * Returns the checkout of an open payment, and requests one from the provider if none is stored. The
 * request is built from the payment's row alone, so a repeated request is identical and returns the same
 * page.
 */
export async function openCheckout(ctx: Ctx, row: PaymentRow): Promise<CheckoutSession> {
  const { id: paymentId } = row;
  if (row.checkout_url && row.session_id)
    return { url: row.checkout_url, sessionId: row.session_id, paymentId };
  const opened = await askForCheckout(ctx, row);
  const isFirst = await inTransaction(async (client) => {
    const rowCount = await storeSession.count(client, {
      paymentId,
      sessionId: opened.sessionId,
      url: opened.url,
    });
    if (rowCount === 0) return false;
    const details = {
      kind: row.kind,
      amountMicros: row.amount_micros,
      currency: row.currency,
      isTest: row.is_test,
      ...(row.subject_id && { subjectId: row.subject_id }),
    };
    const { organization_id: organizationId } = row;
    await record(ctx, { organizationId, action: "payment.started", subject: paymentId, details }, client);
    return true;
  });
  return isFirst ? { ...opened, paymentId } : overtaken(row, opened);
}

/**
 * Another request stored its session first, or the payment has changed. A payment that is neither open nor
 * paid must be started again.
 */
async function overtaken(row: PaymentRow, opened: OpenedCheckout): Promise<CheckoutSession> {
  const now = await findPayment(row.id);
  if (now?.session_id !== opened.sessionId) paymentsAreDown();
  if (now.state === "open") return { ...opened, paymentId: row.id };
  if (now.state !== "paid") paymentsAreDown();
  return { url: returnUrl(now, "success"), sessionId: opened.sessionId, paymentId: row.id };
}

const failUnopened = statement("payment.update.unopened", {
  params: { paymentId: text },
  sql: `UPDATE payment SET state = 'failed', close_at = NULL WHERE id = $paymentId AND state = 'open' AND session_id IS NULL`,
});

async function askForCheckout(ctx: Ctx, row: PaymentRow): Promise<OpenedCheckout> {
  try {
    return await providerNamed(row.provider).openCheckout(orderOf(row));
  } catch (cause) {
    if (!(cause instanceof PaymentProviderDown)) throw cause;
    ctx.log.error({ err: cause, paymentId: row.id }, "a checkout could not be opened");
    // A checkout may exist although the provider did not answer, but no one has its URL. If the payer pays
    // after all, its message finds the payment and outranks this state.
    if (!cause.isBusy) await failUnopened.run(pool, { paymentId: row.id });
    paymentsAreDown();
  }
}

const orderOf = (row: PaymentRow): Parameters<PaymentProvider["openCheckout"]>[0] => ({
  paymentId: row.id,
  organizationId: row.organization_id,
  currency: row.currency,
  amountMicros: row.amount_micros,
  isTaxed: row.is_taxed,
  title: kindOf(row.kind).title(row.subject_id),
  email: row.payer_email,
  customerId: row.customer_id,
  successUrl: returnUrl(row, "success"),
  cancelUrl: returnUrl(row, "canceled"),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

export function paymentsAreDown(): never {
  fail("ServiceUnavailable", "The payment provider did not answer, and nothing was charged. Try again.", {
    retryAfterSeconds: 5,
  });
}

function refuseAmount(micros: Micros, leastMicros: Micros): void {
  const wrong = (msg: string, type: string) => {
    throw new ValidationFault([{ loc: ["body", "amountMicros"], msg, type, input: micros }]);
  };
  if (micros % MICROS_PER_CENT !== 0)
    wrong("must be a whole number of cents: a multiple of 10000", "multiple_of");
  if (micros < leastMicros) wrong(`must be at least ${leastMicros}`, "greater_than_equal");
}

const readCustomer = statement("payment.read.customer", {
  params: { organizationId: text, provider: text, isTest: bool },
  row: { customer_id: present(payment.customer_id, "its condition excludes null") },
  sql: `SELECT customer_id FROM payment WHERE organization_id = $organizationId AND provider = $provider AND is_test = $isTest
       AND customer_id IS NOT NULL ORDER BY id DESC LIMIT 1`,
});

/**
 * Returns the provider's customer id of the organization from its latest payment that has one; null if none
 * has.
 */
export async function customerOf(
  organizationId: string,
  provider: string,
  isTest: boolean,
): Promise<string | null> {
  const found = await readCustomer.first(pool, { organizationId, provider, isTest });
  return found?.customer_id ?? null;
}
