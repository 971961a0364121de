import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { POST } from "@/app/api/webhooks/stripe/route";
import { closeDatabase, pool } from "@/server/db";
import { checkLedger } from "@/server/domain/billing";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as payments from "@/server/domain/payments";
import { env } from "@/server/env";
import { Fault } from "@/server/errors";
import { SHIPPED } from "@/testing/needs";
import { makePayable, type Payable, personOf, soldBy } from "@/testing/payable";
import { signed, startStripe } from "@/testing/stripe";
import { makePerson, makeTenant } from "@/testing/tenants";
import * as requests from ".";

const system = systemCtx("test");
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
let stripe: Awaited<ReturnType<typeof startStripe>>;
beforeAll(async () => {
  stripe = await startStripe();
});
afterAll(async () => {
  await stripe.stop();
  await closeDatabase();
});
afterEach(() => {
  Object.assign(stripe.state, { isDown: false, refusesRefunds: null, beforeRefundAnswer: null });
  env.STRIPE_TAX = false;
});

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Delivers a message as Stripe does. */
async function deliver(event: object): Promise<string> {
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

async function refusal(work: Promise<unknown>): Promise<Fault> {
  const refused = await work.then(
    () => null,
    (error) => error,
  );
  expect(refused).toBeInstanceOf(Fault);
  return refused;
}

async function withTestCheckout<T>(work: () => Promise<T>): Promise<T> {
  const { STRIPE_SECRET_KEY } = env;
  env.STRIPE_SECRET_KEY = undefined;
  try {
    return await work();
  } finally {
    env.STRIPE_SECRET_KEY = STRIPE_SECRET_KEY;
  }
}

const statusOf = async ({ requestId }: Payable) =>
  (await pool.query("SELECT status FROM capability_request WHERE id = $1", [requestId])).rows[0].status;
const refundOf = async (paymentId: string) =>
  (await pool.query("SELECT * FROM payment_refund WHERE payment_id = $1", [paymentId])).rows[0];

/** Asks for every refund of an organization that is due, as the durable function does. */
async function askForRefunds({ organizationId }: Payable, ctx: Ctx = system) {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM payment_refund WHERE organization_id = $1",
    [organizationId],
  );
  for (const { id } of rows) await payments.askForRefund(ctx, id);
}

async function accountsOf({ organizationId }: Payable) {
  const { rows } = await pool.query<{ account: string; currency: string; micros: number }>(
    `SELECT account, currency, sum(amount_micros)::bigint AS micros FROM ledger_entry WHERE organization_id = $1
     GROUP BY 1, 2 HAVING sum(amount_micros) <> 0 ORDER BY 1, 2`,
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ account, currency, micros }) => [`${account} ${currency}`, micros]));
}

describe("the checkout of a commission", () => {
  test("is one for everybody: a double click, the back button and a colleague join it", async () => {
    const world = await makePayable();
    const colleague = personOf(world, [[world.organizationId, "admin"]]);
    const before = stripe.sessions.size;
    const opened = await Promise.all(
      [world.member, world.member, colleague, world.operator].map((ctx) =>
        requests.startCommissionCheckout(ctx, world.quoteId),
      ),
    );
    expect(new Set(opened.map(({ url }) => url)).size).toBe(1);
    expect(new Set(opened.map(({ paymentId }) => paymentId)).size).toBe(1);
    expect(await requests.startCommissionCheckout(colleague, world.quoteId)).toEqual(opened[0]);
    expect(stripe.sessions.size - before).toBe(1);
    const { rows } = await pool.query(
      "SELECT id FROM audit_entry WHERE subject = $1 AND action = 'payment.started'",
      [opened[0]?.paymentId],
    );
    expect(rows).toHaveLength(1);
  });

  test("asks for exactly the quote's price in its own currency, and leads back to its page", async () => {
    const world = await makePayable({ currency: "CAD", priceMicros: 990_500_000 });
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { form } = soldBy(stripe, paymentId, world.clock.now).session;
    expect(form).toMatchObject({
      "line_items[0][price_data][currency]": "cad",
      "line_items[0][price_data][unit_amount]": "99050",
      "line_items[0][price_data][product_data][name]": `Capability commission ${world.quoteId}`,
    });
    expect(form.success_url).toContain(`/approve/capability-quotes/${world.quoteId}?`);
    expect(Object.keys(form).filter((name) => name.startsWith("automatic_tax"))).toEqual([]);
    expect(await payments.payment(world.member, paymentId)).toMatchObject({
      amount: { amountMicros: 990_500_000, currency: "CAD" },
      credit: { amountMicros: 990_500_000, currency: "CAD" },
      returnPath: `/approve/capability-quotes/${world.quoteId}`,
      fx: null,
    });
  });

  test("that was not answered is asked for again with the very same request", async () => {
    const world = await makePayable();
    const first = await requests.startCommissionCheckout(world.member, world.quoteId);
    // As if the process had died before it wrote down what Stripe said.
    await pool.query("UPDATE payment SET session_id = NULL, checkout_url = NULL WHERE id = $1", [
      first.paymentId,
    ]);
    const colleague = personOf(world, [[world.organizationId, "owner"]]);
    world.clock.advance(MINUTE_MS);
    expect(await requests.startCommissionCheckout(colleague, world.quoteId)).toEqual(first);
  });

  test("that Stripe refuses has failed, and the next try is a new one", async () => {
    const world = await makePayable();
    stripe.state.isDown = true;
    expect((await refusal(requests.startCommissionCheckout(world.member, world.quoteId))).code).toBe(
      "ServiceUnavailable",
    );
    stripe.state.isDown = false;
    await requests.startCommissionCheckout(world.member, world.quoteId);
    const { payments: made } = await requests.commission(world.member, world.quoteId);
    expect(made.map(({ state }) => state)).toEqual(["open", "failed"]);
  });

  test("ends after 23 hours, and another one is opened; Stripe closes the first", async () => {
    const world = await makePayable();
    const first = await requests.startCommissionCheckout(world.member, world.quoteId);
    world.clock.advance(23 * 60 * MINUTE_MS + 1);
    const second = await requests.startCommissionCheckout(world.member, world.quoteId);
    expect(second.paymentId).not.toBe(first.paymentId);
    await requests.sweep({ ...system, now: world.clock.now }, world);
    expect(soldBy(stripe, first.paymentId, world.clock.now).session.status).toBe("expired");
    expect(soldBy(stripe, second.paymentId, world.clock.now).session.status).toBe("open");
  });

  test("never outlives its quote; in its last half hour Stripe's page is closed by us when it ends", async () => {
    const world = await makePayable();
    world.clock.advance(14 * DAY_MS - 10 * MINUTE_MS);
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { session } = soldBy(stripe, paymentId, world.clock.now);
    expect(session.expires_at * 1000).toBeGreaterThanOrEqual(world.clock.now().getTime() + 30 * MINUTE_MS);
    const { expiresAt } = await payments.payment(world.member, paymentId);
    const { quote } = await requests.commission(world.member, world.quoteId);
    expect(expiresAt).toBe(quote.expiresAt);
    await requests.sweep({ ...system, now: world.clock.now }, world);
    expect(session.status).toBe("open");
    world.clock.advance(10 * MINUTE_MS);
    await requests.sweep({ ...system, now: world.clock.now }, world);
    expect(session.status).toBe("expired");
  });

  test("is refused while money is on its way, and open again when it did not come", async () => {
    const world = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say } = soldBy(stripe, paymentId, world.clock.now);
    await deliver(say.completedUnpaid());
    expect((await refusal(requests.startCommissionCheckout(world.member, world.quoteId))).code).toBe(
      "RequestStateConflict",
    );
    const { payments: made } = await requests.commission(world.member, world.quoteId);
    expect(made).toMatchObject([{ state: "processing" }]);
    await deliver(say.failed());
    expect((await requests.startCommissionCheckout(world.member, world.quoteId)).paymentId).not.toBe(
      paymentId,
    );
  });
});

describe("money for a commission", () => {
  test("pays the quote and its request, once, and is booked in its own currency", async () => {
    const world = await makePayable({ currency: "CAD" });
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say } = soldBy(stripe, paymentId, world.clock.now);
    expect(await deliver(say.completed())).toBe("applied");
    expect(await deliver(say.completed())).toBe("applied");
    expect(await statusOf(world)).toBe("paid");
    expect(await requests.quote(world.ctx, world.requestId)).toMatchObject({ status: "paid" });
    expect(await accountsOf(world)).toEqual({
      [`commission:${world.quoteId} CAD`]: 1_250_000_000,
      "payments:stripe CAD": -1_250_000_000,
    });
    const events = await requests.events(world.operator, world.requestId);
    expect(events.filter(({ type }) => type === "capability_request.paid")).toHaveLength(1);
    expect((await refusal(requests.startCommissionCheckout(world.member, world.quoteId))).code).toBe(
      "RequestStateConflict",
    );
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("counts by the moment it was paid, not by that at which we hear of it", async () => {
    const world = await makePayable({ startsAt: daysAgo(20) });
    world.clock.advance(13 * DAY_MS + 23 * 60 * MINUTE_MS);
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    world.clock.advance(59 * MINUTE_MS);
    const { say } = soldBy(stripe, paymentId, world.clock.now);
    const told = say.completed();
    world.clock.advance(DAY_MS);
    expect((await refusal(requests.quote(world.ctx, world.requestId))).code).toBe("Gone");
    await deliver(told);
    expect(await statusOf(world)).toBe("paid");
  });

  test("a clock of the provider that is ahead of ours does not pay what has expired by then", async () => {
    const world = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say } = soldBy(stripe, paymentId, () => new Date(Date.now() + 20 * DAY_MS));
    await deliver(say.completed());
    expect(await statusOf(world)).toBe("paid"); // it is paid now, whatever the message says
  });

  test.each(["superseded", "already_paid"] as const)(
    "for a quote that is %s goes back by itself",
    async (reason) => {
      const world = await makePayable({ startsAt: daysAgo(3) });
      const first = await requests.startCommissionCheckout(world.member, world.quoteId);
      const one = soldBy(stripe, first.paymentId, world.clock.now);
      const paidOnce = one.say.completed();
      world.clock.advance(DAY_MS);
      if (reason === "superseded") {
        await requests.revise(world.member, world.requestId, {
          schemaVersion: "service.capability-request.v1",
          summary: "Read maps",
          need: "And charts",
        });
        await deliver(paidOnce);
        expect(await statusOf(world)).toBe("draft");
      } else {
        const second = await requests.startCommissionCheckout(world.member, world.quoteId);
        await deliver(soldBy(stripe, second.paymentId, world.clock.now).say.completed());
        await deliver(paidOnce);
        expect(await statusOf(world)).toBe("paid");
      }
      expect(await refundOf(first.paymentId)).toMatchObject({ reason, state: "pending" });
      await askForRefunds(world);
      await askForRefunds(world);
      expect(stripe.refunds.filter(({ intent }) => intent === one.say.intent)).toHaveLength(1);
      await deliver(one.say.refunded(one.charge.refundedCents));
      const { payments: made } = await requests.commission(world.member, world.quoteId);
      expect(made.find((each) => each.paymentId === first.paymentId)).toMatchObject({
        state: "paid",
        refunded: { amountMicros: world.priceMicros },
        refund: { reason, state: "done" },
      });
      expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
    },
  );

  test("with tax is booked apart from it, in whatever order it is told, and goes back with it", async () => {
    env.STRIPE_TAX = true;
    const world = await makePayable({ currency: "CAD" });
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { session, say, charge } = soldBy(stripe, paymentId, world.clock.now, 16_250);
    expect(session.form).toMatchObject({
      "automatic_tax[enabled]": "true",
      "line_items[0][price_data][tax_behavior]": "exclusive",
    });
    // Half of it was refunded in the dashboard, which is told first.
    expect(await deliver(say.refunded(charge.cents / 2))).toBe("applied");
    expect(await accountsOf(world)).toEqual({});
    await deliver(say.completed());
    expect(await accountsOf(world)).toEqual({
      [`commission:${world.quoteId} CAD`]: 625_000_000,
      "payments:stripe CAD": -706_250_000,
      "tax:stripe CAD": 81_250_000,
    });
    expect(await statusOf(world)).toBe("paid");
    await deliver(say.refunded(charge.cents));
    expect(await accountsOf(world)).toEqual({});
    expect(await statusOf(world)).toBe("refunded");
    expect(await payments.payment(world.member, paymentId)).toMatchObject({
      amount: { amountMicros: 1_250_000_000 },
      tax: { amountMicros: 162_500_000 },
      refunded: { amountMicros: 1_412_500_000 },
    });
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("with a tax nobody asked for, or another amount, is none of ours", async () => {
    const world = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say } = soldBy(stripe, paymentId, world.clock.now);
    expect(await deliver(soldBy(stripe, paymentId, world.clock.now, 100).say.completed())).toBe("mismatch");
    expect(await deliver(say.completed({ amount_total: 1 }))).toBe("mismatch");
    expect(await statusOf(world)).toBe("quoted");
  });
});

async function paidWorld(options: Parameters<typeof makePayable>[0] & { taxCents?: number } = {}) {
  const { taxCents = 0, ...more } = options;
  const world = await makePayable(more);
  const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
  const sold = soldBy(stripe, paymentId, world.clock.now, taxCents);
  await deliver(sold.say.completed());
  return { ...world, paymentId, ...sold };
}
const give = (world: Payable, ctx = world.operator) =>
  requests.refund(ctx, { requestId: world.requestId, reason: "It does not read charts." });

describe("an operator's refund", () => {
  test("is asked of Stripe once however often it is wanted, and ends the request when it is booked", async () => {
    const world = await paidWorld();
    const [first, again] = await Promise.all([give(world), give(world)]);
    expect(first.refundId).toBe(again.refundId);
    expect(await statusOf(world)).toBe("paid");
    await Promise.all([askForRefunds(world), askForRefunds(world)]);
    expect(stripe.refunds.filter(({ intent }) => intent === world.say.intent)).toEqual([
      { intent: world.say.intent, cents: 125_000, idempotencyKey: first.refundId },
    ]);
    expect(await statusOf(world)).toBe("paid");
    await deliver(world.say.refunded(125_000));
    const request = await requests.get(world.ctx, world.requestId);
    expect(request).toMatchObject({
      status: "refunded",
      feedback: { kind: "refunded", message: "It does not read charts." },
    });
    expect(await accountsOf(world)).toEqual({});
    expect((await refusal(give(world))).code).toBe("RequestStateConflict");
  });

  test("waits for Stripe while it does not answer; what Stripe refuses is shown, and can be asked for again", async () => {
    const world = await paidWorld();
    stripe.state.isDown = true;
    await give(world);
    await askForRefunds(world);
    expect(await refundOf(world.paymentId)).toMatchObject({
      state: "pending",
      attempts: 1,
      last_error: "The provider did not answer.",
    });
    Object.assign(stripe.state, { isDown: false, refusesRefunds: "charge_disputed" });
    await askForRefunds(world, { ...system, now: () => new Date(Date.now() + DAY_MS) });
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "failed", last_error: "charge_disputed" });
    const { payments: made } = await requests.commission(world.operator, world.quoteId);
    expect(made).toMatchObject([{ refund: { reason: "operator", state: "failed" } }]);
    expect(await statusOf(world)).toBe("paid");
    // As another refund: to the first Stripe would say again what it said.
    const { refundId } = await give(world);
    expect(await refundOf(world.paymentId)).toMatchObject({ id: refundId, state: "pending", attempts: 0 });
    stripe.state.refusesRefunds = null;
    await askForRefunds(world);
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "done" });
    expect(stripe.refunds.filter(({ intent }) => intent === world.say.intent)).toMatchObject([
      { cents: 125_000, idempotencyKey: refundId },
    ]);
  });

  test("is for operators: within seven days of what was fulfilled, and any time before", async () => {
    const world = await paidWorld();
    expect((await refusal(give(world, world.member))).code).toBe("AuthorizationFailed");
    expect((await refusal(give(world, world.ctx))).code).toBe("AuthorizationFailed");
    const unpaid = await makePayable();
    expect((await refusal(give(unpaid))).code).toBe("RequestStateConflict");
    expect((await refusal(give({ ...unpaid, requestId: "cr_nobody" }))).code).toBe("NotFound");
    world.clock.advance(100 * DAY_MS);
    await requests.fulfil(world.operator, {
      requestId: world.requestId,
      capabilityKey: "compute.evaluate.v1",
    });
    world.clock.advance(7 * DAY_MS + MINUTE_MS);
    expect((await refusal(give(world))).code).toBe("RequestStateConflict");
    world.clock.advance(-2 * MINUTE_MS);
    expect(await give(world)).toMatchObject({ state: "pending" });
  });

  test("is not needed where the money came back in another way", async () => {
    const world = await paidWorld();
    await deliver(world.say.disputed(`dp_${world.paymentId}`, 125_000, "lost"));
    expect(await requests.get(world.ctx, world.requestId)).toMatchObject({ status: "refunded" });
    expect(await refundOf(world.paymentId)).toBeUndefined();
  });

  test("of the built-in checkout books itself", async () => {
    const world = await makePayable();
    await withTestCheckout(async () => {
      const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
      expect(await payments.decideTestPayment(world.member, paymentId, "pay")).toMatchObject({
        state: "paid",
      });
      expect(await statusOf(world)).toBe("paid");
      await give(world);
      await askForRefunds(world);
      expect(await statusOf(world)).toBe("refunded");
      expect(await accountsOf(world)).toEqual({});
    });
  });
});

describe("a refund that fails after Stripe has taken it", () => {
  type Paid = Awaited<ReturnType<typeof paidWorld>>;

  /** Stripe has given it all back, and says so. */
  async function refunded(world: Paid) {
    const { refundId } = await give(world);
    await askForRefunds(world, { ...system, now: world.clock.now });
    await deliver(world.say.refunded(world.charge.refundedCents));
    expect(await statusOf(world)).toBe("refunded");
    expect(await accountsOf(world)).toEqual({});
    world.clock.advance(DAY_MS);
    return refundId;
  }
  /** The money is back at Stripe, which may say so more than once and by each of these. */
  function failuresOf({ say, charge }: Paid, refundId: string) {
    charge.refundedCents = 0;
    const failed = (type: "refund.failed" | "refund.updated" | "charge.refund.updated") =>
      say.refundFailed(`re_of_${refundId}`, charge.cents, refundId, { type });
    return [failed("refund.failed"), failed("refund.updated"), failed("charge.refund.updated")];
  }
  const happened = async (world: Paid, type: string) =>
    (await requests.events(world.operator, world.requestId)).filter((event) => event.type === type);
  async function audited({ organizationId, paymentId }: Paid, action: string) {
    const { rows } = await pool.query<{ details: object }>(
      "SELECT details FROM audit_entry WHERE organization_id = $1 AND subject = $2 AND action = $3",
      [organizationId, paymentId, action],
    );
    return rows.map(({ details }) => details);
  }

  test("is counted back once, and the commission stands as paid, with Stripe's reason for the operator", async () => {
    env.STRIPE_TAX = true;
    const world = await paidWorld({ currency: "CAD", taxCents: 16_250 });
    const paid = await accountsOf(world);
    const refundId = await refunded(world);
    const failures = failuresOf(world, refundId);
    for (const event of [...failures, ...failures]) expect(await deliver(event)).toMatch(/^(applied|seen)$/);

    expect(await accountsOf(world)).toEqual(paid);
    expect(await checkLedger(system, world.organizationId)).toMatchObject({
      differences: [],
      transactions: 3,
      sums: [{ currency: "CAD", sumMicros: 0 }],
    });
    expect(await statusOf(world)).toBe("paid");
    expect(await happened(world, "capability_request.refund_failed")).toHaveLength(1);
    expect(await refundOf(world.paymentId)).toMatchObject({
      id: refundId,
      state: "failed",
      last_error: "lost_or_stolen_card",
    });
    expect(await audited(world, "payment.refund_failed")).toMatchObject([
      { refundId, amountMicros: 1_412_500_000, cameBackMicros: 1_412_500_000, error: "lost_or_stolen_card" },
    ]);
    const { payments: made } = await requests.commission(world.member, world.quoteId);
    expect(made).toMatchObject([{ refunded: { amountMicros: 0 }, refund: { state: "failed" } }]);
    const seen = await requests.dossier(world.operator, world.requestId);
    expect(seen.acts).toEqual(["fulfil", "refund"]);
    expect(seen.quotes[0]?.payments).toMatchObject([{ refundError: "lost_or_stolen_card" }]);
  });

  test("can be asked for again, as another refund to Stripe; late words of the first do not touch it", async () => {
    const world = await paidWorld();
    const first = await refunded(world);
    const [failed, again, late] = failuresOf(world, first);
    await deliver(failed!);
    world.clock.advance(DAY_MS);
    const { refundId, state } = await give(world);
    expect([refundId === first, state]).toEqual([false, "pending"]);
    await deliver(again!);
    expect(await refundOf(world.paymentId)).toMatchObject({ id: refundId, state: "pending" });
    await askForRefunds(world, { ...system, now: world.clock.now });
    expect(stripe.refunds.filter(({ intent }) => intent === world.say.intent)).toMatchObject([
      { cents: 125_000, idempotencyKey: first },
      { cents: 125_000, idempotencyKey: refundId },
    ]);
    await deliver(world.say.refunded(world.charge.refundedCents));
    await deliver(late!);
    expect(await statusOf(world)).toBe("refunded");
    expect(await refundOf(world.paymentId)).toMatchObject({ id: refundId, state: "done", last_error: null });
    expect(await accountsOf(world)).toEqual({});
    expect(await checkLedger(system, world.organizationId)).toMatchObject({
      differences: [],
      transactions: 4,
    });

    // And once more in vain.
    world.clock.advance(DAY_MS);
    await deliver(failuresOf(world, refundId)[1]!);
    expect(await statusOf(world)).toBe("paid");
    expect(await refundOf(world.paymentId)).toMatchObject({ id: refundId, state: "failed" });
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("while our own answer is not stored yet, and before what went back is told, never counts as given back", async () => {
    const world = await paidWorld();
    const paid = await accountsOf(world);
    const { refundId } = await give(world);
    let wentBack = {};
    stripe.state.beforeRefundAnswer = async () => {
      wentBack = world.say.refunded(world.charge.refundedCents);
      await deliver(failuresOf(world, refundId)[0]!);
    };
    await askForRefunds(world, { ...system, now: world.clock.now });
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "failed", next_attempt_at: null });
    expect(await deliver(wentBack)).toBe("applied");
    expect(await refundOf(world.paymentId)).toMatchObject({
      state: "failed",
      last_error: "lost_or_stolen_card",
    });
    expect(await accountsOf(world)).toEqual(paid);
    expect(await statusOf(world)).toBe("paid");
    expect(await happened(world, "capability_request.refunded")).toEqual([]);
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("of what had shipped leaves it shipped, and is asked for again although its window has ended", async () => {
    const world = await paidWorld();
    await requests.fulfil(world.operator, { requestId: world.requestId, capabilityKey: SHIPPED });
    const refundId = await refunded(world);
    world.clock.advance(30 * DAY_MS);
    await deliver(failuresOf(world, refundId)[0]!);
    expect(await requests.get(world.ctx, world.requestId)).toMatchObject({
      status: "fulfilled",
      capabilityKey: SHIPPED,
    });
    expect((await requests.dossier(world.operator, world.requestId)).acts).toEqual(["refund"]);
    expect(await give(world)).toMatchObject({ state: "pending" });
  });

  test("in Stripe's dashboard fails what stood as done by it, and nothing that came back otherwise", async () => {
    const world = await paidWorld();
    stripe.state.refusesRefunds = "charge_disputed";
    await give(world);
    await askForRefunds(world);
    await deliver(world.say.refunded(125_000)); // given back by hand
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "done" });
    world.clock.advance(DAY_MS);
    await deliver(
      world.say.refundFailed("re_by_hand", 125_000, null, { status: "canceled", failure_reason: null }),
    );
    expect(await refundOf(world.paymentId)).toMatchObject({
      state: "failed",
      last_error: "the refund is canceled",
    });
    expect(await statusOf(world)).toBe("paid");
    // It is lost to a dispute: now it is back, and the failure of a refund that never counted changes nothing.
    await deliver(world.say.disputed(`dp_${world.paymentId}`, 125_000, "lost"));
    await deliver(world.say.refundFailed("re_other", 125_000));
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "done" });
    expect(await statusOf(world)).toBe("refunded");
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("is told to operators and members once each, and to whoever listens", async () => {
    const world = await paidWorld();
    const refundId = await refunded(world);
    const { userId: operator } = await makePerson((await makeTenant()).organizationId, "member");
    const { userId: member } = await makePerson(world.organizationId, "member");
    await pool.query("UPDATE user_account SET is_operator = true WHERE id = $1", [operator]);
    for (const event of failuresOf(world, refundId)) await deliver(event);
    const { rows } = await pool.query(
      "SELECT user_id, href FROM notification WHERE user_id = ANY($1) AND kind = 'commission.refund_failed'",
      [[operator, member]],
    );
    await pool.query("UPDATE user_account SET is_operator = false WHERE id = $1", [operator]);
    expect(new Map(rows.map(({ user_id, href }) => [user_id, href]))).toEqual(
      new Map([
        [operator, `/operator/requests/${world.requestId}`],
        [member, `/projects/${world.projectId}/requests/${world.requestId}`],
      ]),
    );
    expect(rows).toHaveLength(2);
    const [event] = await happened(world, "capability_request.refund_failed");
    const { quoteId, paymentId } = world;
    expect(event?.payload).toMatchObject({ status: "paid", quoteId, paymentId });
  });
});

describe("the clock past fourteen days", () => {
  test("reads 410, lets nobody pay, and refuses a test checkout that is open already", async () => {
    const world = await makePayable();
    world.clock.advance(14 * DAY_MS - 60 * MINUTE_MS);
    const opened = await withTestCheckout(() =>
      requests.startCommissionCheckout(world.member, world.quoteId),
    );
    world.clock.advance(60 * MINUTE_MS);
    const gone = await refusal(requests.quote(world.ctx, world.requestId));
    expect([gone.code, gone.row.status]).toEqual(["Gone", 410]);
    expect(gone.details).toMatchObject({ quoteId: world.quoteId, reason: "expired" });
    expect(await refusal(requests.startCommissionCheckout(world.member, world.quoteId))).toMatchObject({
      code: "Gone",
    });
    const pressed = await refusal(payments.decideTestPayment(world.member, opened.paymentId, "pay"));
    expect(pressed).toMatchObject({ code: "Gone", details: { reason: "expired" } });
    expect(await statusOf(world)).toBe("quoted");
    expect((await requests.commission(world.member, world.quoteId)).quote.status).toBe("expired");
  });

  test("closes the page at Stripe, and money that came all the same goes back by itself", async () => {
    const world = await makePayable({ startsAt: daysAgo(15) });
    world.clock.advance(14 * DAY_MS - 60 * MINUTE_MS);
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { session, say, charge } = soldBy(stripe, paymentId, world.clock.now);
    world.clock.advance(60 * MINUTE_MS + 1_000); // Stripe tells moments by the second
    const paidTooLate = say.completed();
    await requests.sweep({ ...system, now: world.clock.now }, world);
    expect(session.status).toBe("expired");
    expect(stripe.calls.at(-1)?.path).toBe(`/v1/checkout/sessions/${session.id}/expire`);
    await deliver(paidTooLate);
    expect(await statusOf(world)).toBe("quoted");
    expect(await refundOf(paymentId)).toMatchObject({ reason: "expired", state: "pending" });
    await askForRefunds(world);
    await deliver(say.refunded(charge.refundedCents));
    expect(charge.refundedCents).toBe(125_000);
    expect(await accountsOf(world)).toEqual({});
    expect((await requests.commission(world.member, world.quoteId)).payments).toMatchObject([
      { state: "paid", refund: { reason: "expired", state: "done" } },
    ]);
  });

  test("a test checkout of a quote that was superseded meanwhile is refused, too", async () => {
    const world = await makePayable();
    const opened = await withTestCheckout(() =>
      requests.startCommissionCheckout(world.member, world.quoteId),
    );
    await requests.revise(world.member, world.requestId, {
      schemaVersion: "service.capability-request.v1",
      summary: "Read maps",
      need: "And charts",
    });
    expect(await refusal(payments.decideTestPayment(world.member, opened.paymentId, "pay"))).toMatchObject({
      code: "Gone",
      details: { reason: "superseded" },
    });
    await requests.sweep(system, world);
    expect(await payments.payment(world.member, opened.paymentId)).toMatchObject({ state: "expired" });
  });

  test("three days before it members are told, once", async () => {
    const world = await makePayable();
    const at = { ...system, now: world.clock.now };
    const told = async () =>
      (await requests.events(world.operator, world.requestId)).filter(
        ({ type }) => type === "capability_request.quote_expiring",
      );
    world.clock.advance(11 * DAY_MS - MINUTE_MS);
    await requests.sweep(at, world);
    expect(await told()).toEqual([]);
    world.clock.advance(2 * MINUTE_MS);
    await Promise.all([requests.sweep(at, world), requests.sweep(at, world)]);
    await requests.sweep(at, world);
    expect(await told()).toMatchObject([{ payload: { quoteId: world.quoteId } }]);
  });
});

test("the page of a quote is for its organization and operators; who may pay is told", async () => {
  const world = await makePayable();
  const stranger = personOf(world, [["org_other", "owner"]]);
  for (const ctx of [stranger, world.ctx]) {
    const foreign = await refusal(requests.commission(ctx, world.quoteId));
    const unknown = await refusal(requests.commission(ctx, "cq_nobody"));
    expect([foreign.code, foreign.message, foreign.details]).toEqual([
      unknown.code,
      unknown.message,
      unknown.details,
    ]);
    expect(foreign.code).toBe("NotFound");
  }
  const viewer = personOf(world, [[world.organizationId, "viewer"]]);
  expect(await requests.commission(viewer, world.quoteId)).toMatchObject({ mayPay: false, isMember: true });
  expect((await refusal(requests.startCommissionCheckout(viewer, world.quoteId))).code).toBe(
    "AuthorizationFailed",
  );
  expect((await refusal(requests.startCommissionCheckout(stranger, world.quoteId))).code).toBe("NotFound");
  expect(await requests.commission(world.operator, world.quoteId)).toMatchObject({
    mayPay: true,
    isMember: false,
  });
  expect(await requests.commission(world.member, world.quoteId)).toMatchObject({
    quote: { quoteId: world.quoteId, status: "active" },
    organization: { displayName: "Test" },
    revision: { content: { summary: "Read maps" } },
    checkout: { provider: "stripe", test: true },
    mayPay: true,
    payments: [],
  });
});
