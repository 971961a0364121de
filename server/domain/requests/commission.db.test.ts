import { describe, expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import * as payments from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { makePayable, personOf, soldBy } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import * as requests from ".";
import {
  accountsOf,
  askForRefunds,
  daysAgo,
  deliver,
  MINUTE_MS,
  refundOf,
  refusal,
  statusOf,
  stripe,
  system,
  withStripe,
  withTestCheckout,
} from "./commission.fixture";

withStripe();

describe("the checkout of a commission", () => {
  test("everyone shares one checkout: a double click, the back button and a colleague join it", async () => {
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

  test("a checkout asks for exactly the quote's price in its own currency, and leads back to its page", async () => {
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

  test("a checkout that was not answered is requested again with the very same request", async () => {
    const world = await makePayable();
    const first = await requests.startCommissionCheckout(world.member, world.quoteId);
    // This simulates a process that died before it stored Stripe's answer.
    await pool.query("UPDATE payment SET session_id = NULL, checkout_url = NULL WHERE id = $1", [
      first.paymentId,
    ]);
    const colleague = personOf(world, [[world.organizationId, "owner"]]);
    world.clock.advance(MINUTE_MS);
    expect(await requests.startCommissionCheckout(colleague, world.quoteId)).toEqual(first);
  });

  test("a checkout that Stripe refuses has failed, and the next attempt is a new one", async () => {
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

  test("a checkout ends after 23 hours, and another one is opened; Stripe closes the first", async () => {
    const world = await makePayable();
    const first = await requests.startCommissionCheckout(world.member, world.quoteId);
    world.clock.advance(23 * 60 * MINUTE_MS + 1);
    const second = await requests.startCommissionCheckout(world.member, world.quoteId);
    expect(second.paymentId).not.toBe(first.paymentId);
    await requests.sweep({ ...system, now: world.clock.now }, world);
    expect(soldBy(stripe, first.paymentId, world.clock.now).session.status).toBe("expired");
    expect(soldBy(stripe, second.paymentId, world.clock.now).session.status).toBe("open");
  });

  test("a checkout never outlives its quote; in the quote's last half hour we close Stripe's page when the quote ends", async () => {
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

  test("a checkout is refused while money is on its way, and opens again if the money does not come", async () => {
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
  test("a payment pays the quote and its request once, and is booked in its own currency", async () => {
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

  test("a payment counts from the moment of payment, not from the moment we learn about it", async () => {
    const world = await makePayable({ startsAt: daysAgo(20) });
    world.clock.advance(13 * DAY_MS + 23 * 60 * MINUTE_MS);
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    world.clock.advance(59 * MINUTE_MS);
    const { say } = soldBy(stripe, paymentId, world.clock.now);
    const completed = say.completed();
    world.clock.advance(DAY_MS);
    expect((await refusal(requests.quote(world.ctx, world.requestId))).code).toBe("Gone");
    await deliver(completed);
    expect(await statusOf(world)).toBe("paid");
  });

  test("a payment that arrives now pays the quote, even if the provider's clock puts it after the expiry", async () => {
    const world = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say } = soldBy(stripe, paymentId, () => new Date(Date.now() + 20 * DAY_MS));
    await deliver(say.completed());
    expect(await statusOf(world)).toBe("paid"); // it is paid now, whatever time the message states
  });

  test.each(["superseded", "already_paid"] as const)(
    "money for a quote that is %s goes back automatically",
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

  test("tax is booked separately, in any order of messages, and is refunded with the payment", async () => {
    setSettings({ STRIPE_TAX: true });
    const world = await makePayable({ currency: "CAD" });
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { session, say, charge } = soldBy(stripe, paymentId, world.clock.now, 16_250);
    expect(session.form).toMatchObject({
      "automatic_tax[enabled]": "true",
      "line_items[0][price_data][tax_behavior]": "exclusive",
    });
    // Half was refunded in the dashboard, and this is reported first.
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

  test("a payment with an unexpected tax or another amount is a mismatch and does not pay the quote", async () => {
    const world = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say } = soldBy(stripe, paymentId, world.clock.now);
    expect(await deliver(soldBy(stripe, paymentId, world.clock.now, 100).say.completed())).toBe("mismatch");
    expect(await deliver(say.completed({ amount_total: 1 }))).toBe("mismatch");
    expect(await statusOf(world)).toBe("quoted");
  });
});

describe("a quote past fourteen days", () => {
  test("an expired quote reads 410, cannot be paid, and refuses a test checkout that is already open", async () => {
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

  test("the sweep closes the page at Stripe, and money that still arrives goes back automatically", async () => {
    const world = await makePayable({ startsAt: daysAgo(15) });
    world.clock.advance(14 * DAY_MS - 60 * MINUTE_MS);
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { session, say, charge } = soldBy(stripe, paymentId, world.clock.now);
    world.clock.advance(60 * MINUTE_MS + 1_000); // Stripe reports times in whole seconds
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

  test("a test checkout of a quote that was superseded cannot be paid, and expires", async () => {
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

  test("a quote that expires in less than three days is announced by one event", async () => {
    const world = await makePayable();
    const at = { ...system, now: world.clock.now };
    const reminders = async () =>
      (await requests.events(world.operator, world.requestId)).filter(
        ({ type }) => type === "capability_request.quote_expiring",
      );
    world.clock.advance(11 * DAY_MS - MINUTE_MS);
    await requests.sweep(at, world);
    expect(await reminders()).toEqual([]);
    world.clock.advance(2 * MINUTE_MS);
    await Promise.all([requests.sweep(at, world), requests.sweep(at, world)]);
    await requests.sweep(at, world);
    expect(await reminders()).toMatchObject([{ payload: { quoteId: world.quoteId } }]);
  });
});

test("the page of a quote is for its organization and operators, and names who may pay", async () => {
  const world = await makePayable();
  const stranger = personOf(world, [["org_other", "owner"]]);
  for (const ctx of [stranger, world.ctx]) {
    const foreign = await refusal(requests.commission(ctx, world.quoteId));
    const unknown = await refusal(requests.commission(ctx, "cq_missing"));
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
