import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { POST } from "@/app/api/webhooks/stripe/route";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as payments from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { makePayable, type Payable, soldBy } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import { signed, startStripe } from "@/testing/stripe";
import * as requests from ".";

export const system = systemCtx("test");
export const MINUTE_MS = 60_000;
export let stripe: Awaited<ReturnType<typeof startStripe>>;

/** Starts a Stripe server for the tests of this file, and resets it after each test. */
export function withStripe(): void {
  beforeAll(async () => {
    stripe = await startStripe();
  });
  afterAll(async () => {
    await stripe.stop();
  });
  afterEach(() => {
    Object.assign(stripe.state, { isDown: false, refusesRefunds: null, beforeRefundAnswer: null });
    setSettings({ STRIPE_TAX: false });
  });
}

export const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Delivers a message as Stripe does. */
export async function deliver(event: object): Promise<string> {
  const { raw, signature } = signed(event);
  const answer = await POST(
    new Request("http://capstan.test/api/webhooks/stripe", {
      method: "POST",
      body: raw,
      headers: { "stripe-signature": signature },
    }),
  );
  expect(answer.status).toBe(200);
  return (await answer.json()).outcome;
}

export async function refusal(work: Promise<unknown>): Promise<Fault> {
  const refused = await work.then(
    () => null,
    (error) => error,
  );
  expect(refused).toBeInstanceOf(Fault);
  return refused;
}

export async function withTestCheckout<T>(work: () => Promise<T>): Promise<T> {
  const { STRIPE_SECRET_KEY } = env;
  setSettings({ STRIPE_SECRET_KEY: undefined });
  try {
    return await work();
  } finally {
    setSettings({ STRIPE_SECRET_KEY });
  }
}

export const statusOf = async ({ requestId }: Payable) =>
  (await pool.query("SELECT status FROM capability_request WHERE id = $1", [requestId])).rows[0].status;
export const refundOf = async (paymentId: string) =>
  (await pool.query("SELECT * FROM payment_refund WHERE payment_id = $1", [paymentId])).rows[0];

/** Requests every pending refund of an organization, as the durable function does. */
export async function askForRefunds({ organizationId }: Payable, ctx: Ctx = system) {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM payment_refund WHERE organization_id = $1",
    [organizationId],
  );
  for (const { id } of rows) await payments.askForRefund(ctx, id);
}

export async function accountsOf({ organizationId }: Payable) {
  const { rows } = await pool.query<{ account: string; currency: string; micros: number }>(
    `SELECT account, currency, sum(amount_micros)::bigint AS micros FROM ledger_entry WHERE organization_id = $1
     GROUP BY 1, 2 HAVING sum(amount_micros) <> 0 ORDER BY 1, 2`,
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ account, currency, micros }) => [`${account} ${currency}`, micros]));
}
export async function paidWorld(options: Parameters<typeof makePayable>[0] & { taxCents?: number } = {}) {
  const { taxCents = 0, ...more } = options;
  const world = await makePayable(more);
  const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
  const sold = soldBy(stripe, paymentId, world.clock.now, taxCents);
  await deliver(sold.say.completed());
  return { ...world, paymentId, ...sold };
}
/** Requests a failed refund again, as an operator's click does. */
export const retry = (world: Payable & { paymentId: string }, refundId: string, ctx = world.operator) =>
  payments.retryRefund(ctx, { paymentId: world.paymentId, refundId });
export const give = (world: Payable, ctx = world.operator) =>
  requests.refund(ctx, { requestId: world.requestId, reason: "It does not read charts." });
