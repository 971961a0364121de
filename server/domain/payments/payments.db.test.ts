import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { POST } from "@/app/api/webhooks/stripe/route";
import { checkLedger, credit, setBillingCurrency, wallet, walletTransactions } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { systemCtx } from "@/server/domain/ctx";
import { createOrganization } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { campaign } from "@/testing/campaign";
import { setSettings } from "@/testing/settings";
import { messagesOf, signed, startStripe } from "@/testing/stripe";
import { makePerson } from "@/testing/tenants";
import * as payments from ".";

const system = systemCtx("test");
let stripe: Awaited<ReturnType<typeof startStripe>>;
beforeAll(async () => {
  stripe = await startStripe();
});
afterAll(async () => {
  await stripe.stop();
});
const settings = { ...env };
afterEach(() => {
  const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE, ...rest } = settings;
  setSettings({ FX_USD_CAD: undefined, ...rest });
  stripe.state.isDown = false;
});

async function makeAccount() {
  const { organizationId } = await createOrganization(system, { name: "Payer" });
  const { ctx, email } = await makePerson(organizationId, "admin");
  return { organizationId, ctx, email };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    if (error instanceof ValidationFault) return error.issues[0]?.loc.join(".") ?? "";
    throw error;
  }
}

const receive = (event: object) => {
  const { raw, signature } = signed(event);
  return payments.receiveStripeMessage(raw, signature);
};

async function open(micros: number, currency: "USD" | "CAD" = "USD", at = () => new Date()) {
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

/** Everything money says of an organization after messages: what must be the same whatever their order. */
async function outcomeOf(organizationId: string, paymentId: string) {
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
    "SELECT state, refunded_micros, disputes, provider_payment_id IS NOT NULL AS paid_by, customer_id IS NOT NULL AS payer FROM payment WHERE id = $1",
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

describe("a top-up", () => {
  test("opens a Stripe Checkout for exactly that amount, under our id as its key", async () => {
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

  test("paid, fills the wallet once, and the next checkout knows the payer", async () => {
    const { ctx, organizationId, paymentId, say } = await open(10_000_000);
    expect(await receive(say.completed())).toBe("applied");
    expect(await receive(say.completed())).toBe("applied"); // another message of the same
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

  test("paid with money that arrives days later, is processing until then, also after its checkout expired", async () => {
    const { ctx, paymentId, say } = await open(10_000_000);
    expect(await payments.payment(ctx, paymentId)).toMatchObject({ state: "open", processing: false });
    await receive(say.completedUnpaid());
    expect(await payments.payment(ctx, paymentId)).toMatchObject({ state: "open", processing: true });
    const later = { ...ctx, now: () => new Date(Date.now() + 3 * DAY_MS) };
    expect(await payments.payment(later, paymentId)).toMatchObject({ state: "expired", processing: true });
    await receive(say.succeeded());
    expect(await payments.payment(later, paymentId)).toMatchObject({ state: "paid", processing: false });
  });

  test("is refused in amounts no one can pay, and to who is no admin", async () => {
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

  test("Stripe refusing it charges nothing, says so without Stripe's words, and the payment has failed", async () => {
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

  test("in Canadian dollars costs whole cents at the rate, and the ledger balances in both currencies", async () => {
    setSettings({ FX_USD_CAD: 1.3333 });
    const { ctx, organizationId, paymentId, sold, say } = await open(10_000_000, "CAD");
    expect(sold.cents).toBe(1334); // 13.333 up
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

  test("pays into the test wallet, once, however often it is pressed", async () => {
    const { ctx, url, organizationId, paymentId } = await openTest();
    expect(url).toMatch(new RegExp(`/checkout/test/${paymentId}$`));
    await Promise.all(Array.from({ length: 5 }, () => payments.decideTestPayment(ctx, paymentId, "pay")));
    expect(await payments.decideTestPayment(ctx, paymentId, "cancel")).toMatchObject({ state: "paid" });
    const purse = await wallet(ctx);
    expect([purse.test.balance.amountMicros, purse.balance.amountMicros]).toEqual([10_000_000, 0]);
    expect((await checkLedger(system, organizationId)).isBalanced).toBe(true);
  });

  test("given up, pays nothing any more", async () => {
    const { ctx, paymentId } = await openTest();
    expect(await payments.decideTestPayment(ctx, paymentId, "cancel")).toMatchObject({ state: "expired" });
    expect(await payments.decideTestPayment(ctx, paymentId, "pay")).toMatchObject({ state: "expired" });
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
  });

  test("is for admins of that organization, and not in production", async () => {
    const { ctx, organizationId, paymentId } = await openTest();
    const { ctx: member } = await makePerson(organizationId, "member");
    const stranger = await makeAccount();
    expect(await codeOf(payments.testPayment(member, paymentId))).toBe("AuthorizationFailed");
    expect(await codeOf(payments.decideTestPayment(member, paymentId, "pay"))).toBe("AuthorizationFailed");
    expect(await codeOf(payments.decideTestPayment(stranger.ctx, paymentId, "pay"))).toBe("NotFound");
    setSettings({ CAPSTAN_ENV: "production" });
    expect(await codeOf(payments.decideTestPayment(ctx, paymentId, "pay"))).toBe("NotFound");
  });

  test("does not pay what Stripe is to be paid for", async () => {
    const { ctx, paymentId } = await open(10_000_000);
    expect(await codeOf(payments.decideTestPayment(ctx, paymentId, "pay"))).toBe("NotFound");
  });
});

describe("a message of Stripe", () => {
  const post = (raw: string, signature: string | null) =>
    POST(
      new Request("http://capstan.test/api/webhooks/stripe", {
        method: "POST",
        body: raw,
        headers: signature === null ? {} : { "stripe-signature": signature },
      }),
    );

  test("is taken over HTTP byte for byte, and again without effect", async () => {
    const { ctx, say } = await open(10_000_000);
    const { raw, signature } = signed(say.completed());
    const answers = [await post(raw, signature), await post(raw, signature)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
      { received: true, outcome: "applied" },
      { received: true, outcome: "seen" },
    ]);
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(10_000_000);
  });

  test("unsigned, changed, signed by another or older than five minutes is refused and changes nothing", async () => {
    const { ctx, say } = await open(10_000_000);
    const event = say.completed();
    const good = signed(event);
    const old = signed(event, new Date(Date.now() - 301_000));
    const foreign = signed(event, new Date(), "whsec_of_another");
    for (const [raw, signature] of [
      [good.raw, null],
      [good.raw, ""],
      [good.raw, "t=1,v1=00"],
      [`${good.raw} `, good.signature],
      [good.raw.replace('"paid"', '"PAID"'), good.signature],
      [old.raw, old.signature],
      [foreign.raw, foreign.signature],
    ] as const) {
      const answer = await post(raw, signature);
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toContain("whsec_");
    }
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    const young = signed(event, new Date(Date.now() - 290_000));
    expect((await post(young.raw, young.signature)).status).toBe(200);
  });

  test("above 256 KiB is not read to its end", async () => {
    const { raw, signature } = signed({ id: "evt_1", padding: "x".repeat(300_000) });
    expect((await post(raw, signature)).status).toBe(413);
  });

  test("finds no one where Stripe is not set up", async () => {
    const { STRIPE_WEBHOOK_SECRET } = env;
    setSettings({ STRIPE_WEBHOOK_SECRET: undefined });
    try {
      const { raw, signature } = signed({ id: "evt_1" });
      expect((await post(raw, signature)).status).toBe(404);
    } finally {
      setSettings({ STRIPE_WEBHOOK_SECRET });
    }
  });

  test.each([
    ["amount", { amount_total: 1 }],
    ["currency", { currency: "cad" }],
    ["organization", { metadata: { paymentId: "x", organizationId: "org_other" } }],
    ["session", { id: "cs_other" }],
  ])("that contradicts our payment in its %s is audited and credits nothing", async (_what, changed) => {
    const { ctx, paymentId, organizationId, sold, say } = await open(10_000_000);
    const metadata =
      "metadata" in changed ? { metadata: { ...say.metadata, organizationId: "org_other" } } : changed;
    expect(await receive(say.completed(metadata))).toBe("mismatch");
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    const { rows } = await pool.query(
      "SELECT action FROM audit_entry WHERE organization_id = $1 AND subject = $2 AND action = 'payment.mismatch'",
      [organizationId, paymentId],
    );
    expect(rows).toHaveLength(1);
    expect(await receive(messagesOf({ ...sold, livemode: true }).completed())).toBe("mismatch");
    expect(await receive(say.completed())).toBe("applied");
  });

  test("about what is not ours, or nothing we keep, is taken and forgotten", async () => {
    const { say } = await open(10_000_000);
    const foreign = messagesOf({
      paymentId: "pmt_x",
      organizationId: "org_x",
      sessionId: "cs_x",
      cents: 100,
    });
    stripe.intents.set(foreign.intent, {});
    for (const event of [
      say.unrelated(),
      foreign.completed(),
      foreign.refunded(100),
      foreign.disputed("dp_x", 100, "lost"),
    ])
      expect(await receive(event)).toBe("foreign");
  });

  test("about a payment only Stripe can name is sent again while Stripe does not answer", async () => {
    const { ctx, say } = await open(10_000_000);
    stripe.state.isDown = true;
    const early = say.disputed("dp_early", 1000, "lost");
    expect(await codeOf(receive(early))).toBe("ServiceUnavailable");
    stripe.state.isDown = false;
    expect(await receive(early)).toBe("applied");
    expect(await receive(say.completed())).toBe("applied");
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
  });
});

describe("what went back", () => {
  test("leaves the wallet by what it is now in all; more than was left takes it below zero", async () => {
    const { ctx, organizationId, paymentId, say } = await open(10_000_000);
    await receive(say.completed());
    await credit(system, { organizationId, amountMicros: -9_000_000, isTest: true, reason: "spent" });
    await receive(say.refunded(400));
    await receive(say.refunded(250)); // late: it was 2.50 before it was 4.00
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(-3_000_000);
    expect((await payments.payment(ctx, paymentId)).refunded.amountMicros).toBe(4_000_000);
    expect((await checkLedger(system, organizationId)).isBalanced).toBe(true);
  });

  test("comes back where the refund fails, once, no matter who made it and how it is reported", async () => {
    const { ctx, organizationId, paymentId, say } = await open(10_000_000);
    await receive(say.completed());
    await receive(say.refunded(1000));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    const failed = say.refundFailed("re_1", 700, null, { type: "refund.updated" });
    expect(await receive(failed)).toBe("applied");
    expect(await receive(failed)).toBe("seen");
    expect(await receive(say.refundFailed("re_1", 700))).toBe("applied");
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(7_000_000);
    expect((await payments.payment(ctx, paymentId)).refunded.amountMicros).toBe(3_000_000);
    const { items } = await walletTransactions(ctx, { limit: 10 });
    expect(items.map(({ kind, amount }) => [kind, amount.amountMicros])).toEqual([
      ["refund_failed", 7_000_000],
      ["refund", -10_000_000],
      ["top_up", 10_000_000],
    ]);
    const { rows } = await pool.query(
      "SELECT details FROM audit_entry WHERE organization_id = $1 AND action = 'payment.refund_failed'",
      [organizationId],
    );
    expect(rows).toMatchObject([
      { details: { providerRefundId: "re_1", cameBackMicros: 7_000_000, error: "lost_or_stolen_card" } },
    ]);
    expect(await checkLedger(system, organizationId)).toMatchObject({ differences: [], transactions: 3 });
  });

  test("stays where a refund is reported that has not failed, is unknown, contradicts ours or is not signed", async () => {
    const { ctx, sold, say } = await open(10_000_000);
    await receive(say.completed());
    await receive(say.refunded(1000));
    const type = "refund.updated" as const;
    for (const status of ["pending", "requires_action", "succeeded"])
      expect(await receive(say.refundFailed("re_1", 1000, null, { type, status }))).toBe("foreign");
    const other = messagesOf({ ...sold, paymentId: "pmt_x", sessionId: "cs_x" });
    stripe.intents.set(other.intent, {});
    expect(await receive(other.refundFailed("re_1", 1000))).toBe("foreign");
    expect(await receive(other.refundFailed("re_1", 1000, "rfd_x"))).toBe("foreign");
    expect(await receive(say.refundFailed("re_1", 1000, null, { payment_intent: null }))).toBe("foreign");
    expect(await receive(say.refundFailed("re_1", 1001))).toBe("mismatch");
    expect(await receive(say.refundFailed("re_1", 1000, null, { currency: "cad" }))).toBe("mismatch");
    const { raw, signature } = signed(say.refundFailed("re_1", 1000), new Date(), "whsec_of_another");
    expect(await codeOf(payments.receiveStripeMessage(raw, signature))).toBe("InvalidRequest");
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
  });

  test("a dispute takes nothing until it is lost, and with refunds never more than was paid", async () => {
    const { ctx, say } = await open(10_000_000);
    await receive(say.completed());
    await receive(say.disputed("dp_1", 1000, "needs_response"));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(10_000_000);
    await receive(say.disputed("dp_1", 1000, "lost"));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    await receive(say.refunded(1000));
    await receive(say.disputed("dp_1", 1000, "needs_response"));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
  });

  test("a dispute that was won takes nothing", async () => {
    const { ctx, say } = await open(10_000_000);
    await receive(say.completed());
    await receive(say.disputed("dp_2", 1000, "needs_response"));
    await receive(say.disputed("dp_2", 1000, "won"));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(10_000_000);
  });
});

describe("replaying every message twice and out of order changes nothing", () => {
  /** What Stripe may report of one payment, in the order it happens. */
  const HISTORIES = {
    "paid at once, refunded in three steps": ["completed", "refund 100", "refund 350", "refund 1000"],
    "paid at once, refunded in part, disputed and lost": ["completed", "refund 300", "dispute", "lost"],
    "paid at once, disputed and won": ["completed", "dispute", "won", "refund 200"],
    "paid later": ["unpaid", "succeeded", "refund 50"],
    "paid later, disputed and lost": ["unpaid", "succeeded", "dispute", "lost"],
    "never paid": ["unpaid", "failed"],
    expired: ["expired"],
    "refunded whole in vain": ["completed", "refund 1000", "fails re_1 1000"],
    "refunded in vain, and again": ["completed", "refund 1000", "fails re_1 1000", "refund 1000"],
    "refunded in parts, two of them in vain": [
      "completed",
      "refund 300",
      "refund 700",
      "fails re_2 400",
      "refund 600",
      "fails re_1 300",
      "fails re_2 400",
    ],
    "refunded in vain, then disputed and lost": [
      "completed",
      "refund 300",
      "fails re_1 300",
      "dispute",
      "lost",
    ],
    "completed and paid reported twice over": ["completed", "unpaid", "succeeded", "unrelated", "refund 999"],
  } as const;

  function eventOf(say: ReturnType<typeof messagesOf>, word: string) {
    const dispute = `dp_${say.intent}`;
    if (word.startsWith("refund ")) return say.refunded(Number(word.slice(7)));
    const [, refundId, cents] = word.match(/^fails (\w+) (\d+)$/) ?? [];
    if (refundId) return say.refundFailed(refundId, Number(cents));
    const events: Record<string, () => { id: string }> = {
      completed: say.completed,
      unpaid: say.completedUnpaid,
      succeeded: say.succeeded,
      failed: say.failed,
      expired: say.expired,
      dispute: () => say.disputed(dispute, 700, "needs_response"),
      lost: () => say.disputed(dispute, 700, "lost"),
      won: () => say.disputed(dispute, 700, "won"),
      unrelated: say.unrelated,
    };
    return events[word]!();
  }

  /** Each message a second after the one before. */
  function ticking() {
    let nowMs = Date.now();
    return () => {
      nowMs += 1000;
      return new Date(nowMs);
    };
  }

  const canonical = new Map<string, unknown>();
  async function canonicalOf(name: keyof typeof HISTORIES, currency: "USD" | "CAD") {
    const key = `${name} ${currency}`;
    if (!canonical.has(key)) {
      const { organizationId, paymentId, say } = await open(10_000_000, currency, ticking());
      for (const word of HISTORIES[name]) await receive(eventOf(say, word));
      canonical.set(key, await outcomeOf(organizationId, paymentId));
    }
    return canonical.get(key);
  }

  const run = fc.record({
    name: fc.constantFrom(...(Object.keys(HISTORIES) as (keyof typeof HISTORIES)[])),
    currency: fc.constantFrom("USD" as const, "CAD" as const),
    /** Where each delivery goes: two or three of each message, shuffled by these. */
    shuffle: fc.array(fc.nat(), { minLength: 21, maxLength: 21 }),
    copies: fc.integer({ min: 2, max: 3 }),
    /** How many arrive at once. */
    atOnce: fc.integer({ min: 1, max: 6 }),
  });

  test("any order, any number of copies, any number at once: one wallet, one ledger, one state", async () => {
    setSettings({ FX_USD_CAD: 1.25 }); // 12.50, so that CAD amounts are whole shares too
    await fc.assert(
      fc.asyncProperty(run, async ({ name, currency, shuffle, copies, atOnce }) => {
        const expected = await canonicalOf(name, currency);
        const { organizationId, paymentId, say } = await open(10_000_000, currency, ticking());
        const events = HISTORIES[name].map((word) => eventOf(say, word));
        const deliveries = Array.from({ length: copies }, () => events)
          .flat()
          .map((event, position) => ({ event, at: shuffle[position % shuffle.length]! + position * 0.001 }))
          .sort((a, b) => a.at - b.at);
        for (let from = 0; from < deliveries.length; from += atOnce)
          await Promise.all(deliveries.slice(from, from + atOnce).map(({ event }) => receive(event)));
        expect(await outcomeOf(organizationId, paymentId)).toEqual(expected);
        const once = await checkLedger(system, organizationId);
        expect(once.differences).toEqual([]);
        // And everything once more, when all is done.
        for (const event of events) await receive(event);
        expect(await outcomeOf(organizationId, paymentId)).toEqual(expected);
        expect((await checkLedger(system, organizationId)).entries).toBe(once.entries);
      }),
      campaign.covering(run, ({ name, currency, copies }) => [name, currency, `${copies} copies`], 60),
    );
  });
});
