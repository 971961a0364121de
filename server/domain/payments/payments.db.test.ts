import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { checkLedger, setBillingCurrency, wallet } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { setSettings } from "@/testing/settings";
import { makePerson } from "@/testing/tenants";
import * as payments from ".";
import {
  closeStripe,
  codeOf,
  makeAccount,
  open,
  openStripe,
  outcomeOf,
  receive,
  resetStripe,
  stripe,
  system,
} from "./payments.fixture";

beforeAll(openStripe);
afterAll(closeStripe);
afterEach(resetStripe);

describe("a top-up", () => {
  test("a top-up opens a Stripe Checkout for exactly that amount, with our id as the idempotency key", async () => {
    const { ctx, organizationId, email } = await makeAccount();
    const before = stripe.calls.length;
    const { url, sessionId, paymentId } = await payments.startTopUp(ctx, undefined, {
      amountMicros: 25_000_000,
    });
    expect(url).toBe(`https://checkout.stripe.test/${sessionId}`);
    const [call, ...others] = stripe.calls.slice(before);
    expect(others).toEqual([]);
    expect(call).toMatchObject({
      method: "POST",
      path: "/v1/checkout/sessions",
      idempotencyKey: paymentId,
      form: {
        mode: "payment",
        client_reference_id: paymentId,
        customer_email: email,
        "line_items[0][quantity]": "1",
        "line_items[0][price_data][currency]": "usd",
        "line_items[0][price_data][unit_amount]": "2500",
        "metadata[paymentId]": paymentId,
        "metadata[organizationId]": organizationId,
        "payment_intent_data[metadata][paymentId]": paymentId,
      },
    });
    expect(call?.form.success_url).toContain(`payment=${paymentId}`);
    expect(await payments.payment(ctx, paymentId)).toMatchObject({
      state: "open",
      provider: "stripe",
      test: true,
    });
  });

  test("a paid top-up fills the wallet once, and the next checkout has the payer's customer id", async () => {
    const { ctx, organizationId, paymentId, say } = await open(10_000_000);
    expect(await receive(say.completed())).toBe("applied");
    expect(await receive(say.completed())).toBe("applied"); // another message reports the same
    const purse = await wallet(ctx);
    expect(purse.test.available.amountMicros).toBe(10_000_000);
    expect(purse.available.amountMicros).toBe(0); // Stripe's test mode moves no live money
    expect(await payments.payment(ctx, paymentId)).toMatchObject({ state: "paid" });
    await payments.startTopUp(ctx, undefined, { amountMicros: 10_000_000 });
    expect(stripe.calls.at(-1)?.form).toMatchObject({ customer: `cus_${organizationId}` });
    expect((await payments.openPortal(ctx, undefined)).url).toBe(
      `https://portal.stripe.test/cus_${organizationId}`,
    );
  });

  test("a top-up whose money arrives days later is processing until then, even after its checkout expired", async () => {
    const { ctx, paymentId, say } = await open(10_000_000);
    expect(await payments.payment(ctx, paymentId)).toMatchObject({ state: "open", processing: false });
    await receive(say.completedUnpaid());
    expect(await payments.payment(ctx, paymentId)).toMatchObject({ state: "open", processing: true });
    const later = { ...ctx, now: () => new Date(Date.now() + 3 * DAY_MS) };
    expect(await payments.payment(later, paymentId)).toMatchObject({ state: "expired", processing: true });
    await receive(say.succeeded());
    expect(await payments.payment(later, paymentId)).toMatchObject({ state: "paid", processing: false });
  });

  test("a top-up is refused for impossible amounts and for callers below admin", async () => {
    const { ctx, organizationId } = await makeAccount();
    const start = (amountMicros: number, who: Ctx = ctx, presetKey?: string) =>
      codeOf(payments.startTopUp(who, undefined, { amountMicros, presetKey }));
    expect(await start(1)).toBe("body.amountMicros");
    expect(await start(499_999)).toBe("body.amountMicros");
    expect(await start(490_000)).toBe("body.amountMicros");
    expect(await start(500_000)).toBe("done");
    expect(await start(10_000_000, ctx, "usd_25")).toBe("body.presetKey");
    expect(await start(25_000_000, ctx, "usd_25")).toBe("done");
    for (const role of ["member", "viewer"] as const)
      expect(await start(10_000_000, (await makePerson(organizationId, role)).ctx)).toBe(
        "AuthorizationFailed",
      );
    const stranger = await makeAccount();
    expect(
      await codeOf(payments.startTopUp(stranger.ctx, organizationId, { amountMicros: 10_000_000 })),
    ).toBe("NotFound");
  });

  test("a refusal by Stripe fails the payment, and its message is hidden", async () => {
    const { ctx, organizationId } = await makeAccount();
    stripe.state.isDown = true;
    const refused = await payments
      .startTopUp(ctx, undefined, { amountMicros: 10_000_000 })
      .catch((error) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused.code).toBe("ServiceUnavailable");
    expect(JSON.stringify([refused.message, refused.details])).not.toMatch(/sk_test|Invalid API Key/);
    const { rows } = await pool.query("SELECT state FROM payment WHERE organization_id = $1", [
      organizationId,
    ]);
    expect(rows).toEqual([{ state: "failed" }]);
  });

  test("a top-up in Canadian dollars costs whole cents at the rate, and the ledger balances in both currencies", async () => {
    setSettings({ FX_USD_CAD: 1.3333 });
    const { ctx, organizationId, paymentId, sold, say } = await open(10_000_000, "CAD");
    expect(sold.cents).toBe(1334); // 13.333 rounded up
    expect(stripe.calls.at(-1)?.form["line_items[0][price_data][currency]"]).toBe("cad");
    await receive(say.completed());
    await receive(say.refunded(667));
    const { ledger, balance } = await outcomeOf(organizationId, paymentId);
    expect(balance).toBe(5_000_000);
    expect(ledger).toEqual([
      { account: "exchange", currency: "CAD", micros: 6_670_000 },
      { account: "exchange", currency: "USD", micros: -5_000_000 },
      { account: "payments:stripe", currency: "CAD", micros: -6_670_000 },
      { account: "wallet:org", currency: "USD", micros: 5_000_000 },
    ]);
    expect((await wallet(ctx)).fx).toMatchObject({ rateScaled: 133_330_000, scale: 8, source: "operator" });
    expect(await checkLedger(system, organizationId)).toMatchObject({ isBalanced: true, transactions: 2 });
  });

  test("production has no test checkout and no built-in rate", async () => {
    const { ctx } = await makeAccount();
    const { STRIPE_SECRET_KEY } = env;
    setSettings({ CAPSTAN_ENV: "production" });
    expect(await codeOf(setBillingCurrency(ctx, undefined, { billingCurrency: "CAD" }))).toBe(
      "billing_not_configured",
    );
    try {
      setSettings({ STRIPE_SECRET_KEY: undefined });
      expect(await codeOf(payments.startTopUp(ctx, undefined, { amountMicros: 10_000_000 }))).toBe(
        "billing_not_configured",
      );
      expect(await codeOf(payments.openPortal(ctx, undefined))).toBe("billing_not_configured");
    } finally {
      setSettings({ STRIPE_SECRET_KEY });
    }
  });
});

describe("the built-in test checkout", () => {
  async function openTest(micros = 10_000_000) {
    const { STRIPE_SECRET_KEY } = env;
    setSettings({ STRIPE_SECRET_KEY: undefined });
    try {
      const account = await makeAccount();
      return { ...account, ...(await payments.startTopUp(account.ctx, undefined, { amountMicros: micros })) };
    } finally {
      setSettings({ STRIPE_SECRET_KEY });
    }
  }

  test("the test checkout pays into the test wallet once, however often it is clicked", async () => {
    const { ctx, url, organizationId, paymentId } = await openTest();
    expect(url).toMatch(new RegExp(`/checkout/test/${paymentId}$`));
    await Promise.all(Array.from({ length: 5 }, () => payments.decideTestPayment(ctx, paymentId, "pay")));
    expect(await payments.decideTestPayment(ctx, paymentId, "cancel")).toMatchObject({ state: "paid" });
    const purse = await wallet(ctx);
    expect([purse.test.balance.amountMicros, purse.balance.amountMicros]).toEqual([10_000_000, 0]);
    expect((await checkLedger(system, organizationId)).isBalanced).toBe(true);
  });

  test("a canceled test checkout cannot be paid", async () => {
    const { ctx, paymentId } = await openTest();
    expect(await payments.decideTestPayment(ctx, paymentId, "cancel")).toMatchObject({ state: "expired" });
    expect(await payments.decideTestPayment(ctx, paymentId, "pay")).toMatchObject({ state: "expired" });
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
  });

  test("only admins of the organization use the test checkout, and never in production", async () => {
    const { ctx, organizationId, paymentId } = await openTest();
    const { ctx: member } = await makePerson(organizationId, "member");
    const stranger = await makeAccount();
    expect(await codeOf(payments.testPayment(member, paymentId))).toBe("AuthorizationFailed");
    expect(await codeOf(payments.decideTestPayment(member, paymentId, "pay"))).toBe("AuthorizationFailed");
    expect(await codeOf(payments.decideTestPayment(stranger.ctx, paymentId, "pay"))).toBe("NotFound");
    setSettings({ CAPSTAN_ENV: "production" });
    expect(await codeOf(payments.decideTestPayment(ctx, paymentId, "pay"))).toBe("NotFound");
  });

  test("the test checkout does not pay a payment of Stripe", async () => {
    const { ctx, paymentId } = await open(10_000_000);
    expect(await codeOf(payments.decideTestPayment(ctx, paymentId, "pay"))).toBe("NotFound");
  });
});
