import { setBillingCurrency } from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import { createOrganization } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";
import { messagesOf, signed, startStripe } from "@/testing/stripe";
import { makePerson } from "@/testing/tenants";
import * as payments from ".";

export const system = systemCtx("test");
export let stripe: Awaited<ReturnType<typeof startStripe>>;

export async function openStripe(): Promise<void> {
  stripe = await startStripe();
}

export async function closeStripe(): Promise<void> {
  await stripe.stop();
}

const settings = { ...env };

export function resetStripe() {
  const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE, ...rest } = settings;
  setSettings({ FX_USD_CAD: undefined, ...rest });
  stripe.state.isDown = false;
}

export async function makeAccount() {
  const { organizationId } = await createOrganization(system, { name: "Payer" });
  const { ctx, email } = await makePerson(organizationId, "admin");
  return { organizationId, ctx, email };
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    if (error instanceof ValidationFault) return error.issues[0]?.loc.join(".") ?? "";
    throw error;
  }
}

export const receive = (event: object) => {
  const { raw, signature } = signed(event);
  return payments.receiveStripeMessage(raw, signature);
};

export async function open(micros: number, currency: "USD" | "CAD" = "USD", at = () => new Date()) {
  const account = await makeAccount();
  if (currency === "CAD") await setBillingCurrency(account.ctx, undefined, { billingCurrency: "CAD" });
  const checkout = await payments.startTopUp(account.ctx, undefined, { amountMicros: micros });
  const view = await payments.payment(account.ctx, checkout.paymentId);
  const sold = {
    paymentId: checkout.paymentId,
    organizationId: account.organizationId,
    sessionId: checkout.sessionId,
    cents: view.amount.amountMinor,
    currency: currency.toLowerCase(),
    at,
  };
  const say = messagesOf(sold);
  stripe.intents.set(say.intent, say.metadata);
  return { ...account, ...checkout, sold, say };
}

/**
 * Ledger, wallet and payment of an organization, in a form that must not depend on the order of messages.
 */
export async function outcomeOf(organizationId: string, paymentId: string) {
  const { rows: ledger } = await pool.query(
    `SELECT account, currency, sum(amount_micros)::bigint AS micros FROM ledger_entry
     WHERE organization_id = $1 GROUP BY 1, 2 HAVING sum(amount_micros) <> 0 ORDER BY 1, 2`,
    [organizationId],
  );
  const { rows: purse } = await pool.query(
    "SELECT balance_micros FROM wallet WHERE organization_id = $1 AND is_test",
    [organizationId],
  );
  const { rows: row } = await pool.query(
    "SELECT state, refunded_micros, jsonb_path_query_array(disputes, '$.*.outcome') AS disputes, provider_payment_id IS NOT NULL AS paid_by, customer_id IS NOT NULL AS payer FROM payment WHERE id = $1",
    [paymentId],
  );
  const { rows: credited } = await pool.query(
    "SELECT count(DISTINCT transaction_id)::int AS count FROM ledger_entry WHERE payment_id = $1 AND kind = 'top_up'",
    [paymentId],
  );
  const masked = JSON.parse(
    JSON.stringify({ ledger, row }).replaceAll(organizationId, "org").replaceAll(paymentId, "pmt"),
  );
  return { ...masked, balance: purse[0]?.balance_micros ?? 0, credits: credited[0].count };
}
