import { describe, expect, test } from "vitest";
import { walletTransactions } from "@/server/domain/billing";
import * as payments from "@/server/domain/payments";
import { DAY_MS } from "@/server/platform/time/units";
import { makePayable } from "@/testing/payable";
import * as requests from ".";
import {
  accountsOf,
  askForRefunds,
  deliver,
  give,
  MINUTE_MS,
  paidWorld,
  refundOf,
  refusal,
  retry,
  statusOf,
  stripe,
  system,
  withStripe,
  withTestCheckout,
} from "./commission.fixture";

withStripe();

describe("an operator's refund", () => {
  test("a refund is requested from Stripe once, however often it is clicked, and ends the request when booked", async () => {
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

  test("a refund waits while Stripe does not answer; a refusal by Stripe is shown, and can be retried", async () => {
    const world = await paidWorld();
    stripe.state.isDown = true;
    const { refundId: first } = await give(world);
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
    expect(await give(world)).toMatchObject({ refundId: first, state: "failed" });
    // The retry is another refund: for the first one Stripe would repeat its answer.
    const { refundId } = await retry(world, first);
    expect(refundId).not.toBe(first);
    expect(await refundOf(world.paymentId)).toMatchObject({ id: refundId, state: "pending", attempts: 0 });
    stripe.state.refusesRefunds = null;
    await askForRefunds(world);
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "done" });
    expect(stripe.refunds.filter(({ intent }) => intent === world.say.intent)).toMatchObject([
      { cents: 125_000, idempotencyKey: refundId },
    ]);
  });

  test("only operators refund: within seven days of fulfilment, and any time before", async () => {
    const world = await paidWorld();
    expect((await refusal(give(world, world.member))).code).toBe("AuthorizationFailed");
    expect((await refusal(give(world, world.ctx))).code).toBe("AuthorizationFailed");
    const unpaid = await makePayable();
    expect((await refusal(give(unpaid))).code).toBe("RequestStateConflict");
    expect((await refusal(give({ ...unpaid, requestId: "cr_missing" }))).code).toBe("NotFound");
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

  test("a refund is shown in the lists of members and operators beside the status, which stays until the money is back", async () => {
    const world = await paidWorld();
    const listed = async () => {
      const query = { projectId: world.projectId, limit: 10 };
      const [mine] = (await requests.listForPanel(world.member, query)).items;
      const { items } = await requests.queue(world.operator, { limit: 50 });
      const theirs = items.find(({ id }) => id === world.requestId);
      expect(theirs).toMatchObject({ ...mine });
      expect((await requests.list(world.member, query)).items[0]).not.toHaveProperty("refund");
      return [mine?.status, mine?.refund];
    };
    expect(await listed()).toEqual(["paid", null]);
    await give(world);
    expect(await listed()).toEqual(["paid", "pending"]);
    stripe.state.refusesRefunds = "charge_disputed";
    await askForRefunds(world);
    expect(await listed()).toEqual(["paid", "failed"]);
    stripe.state.refusesRefunds = null;
    await retry(world, (await refundOf(world.paymentId)).id);
    await askForRefunds(world);
    expect(await listed()).toEqual(["paid", "done"]);
    await deliver(world.say.refunded(world.charge.refundedCents));
    expect(await listed()).toEqual(["refunded", "done"]);
  });

  test("a refund is listed with the organization's payments, and moves no wallet", async () => {
    const world = await paidWorld();
    const { organizationId } = world;
    const listed = () => requests.listPaid(world.member, { organizationId });
    expect(await listed()).toMatchObject({
      items: [
        {
          paymentId: world.paymentId,
          requestId: world.requestId,
          projectId: world.projectId,
          state: "paid",
          amount: { amountMicros: world.priceMicros },
          refunded: { amountMicros: 0 },
          refund: null,
        },
      ],
    });
    await give(world);
    await askForRefunds(world);
    await deliver(world.say.refunded(world.charge.refundedCents));
    const { items } = await listed();
    expect(items).toMatchObject([
      { refunded: { amountMicros: world.priceMicros }, refund: { state: "done" } },
    ]);
    expect((await walletTransactions(world.member, { organizationId, limit: 50 })).items).toEqual([]);
    const stranger = await makePayable();
    expect((await refusal(requests.listPaid(stranger.member, { organizationId }))).code).toBe("NotFound");
  });

  test("a lost dispute over the whole payment ends the request as refunded, without a refund", async () => {
    const world = await paidWorld();
    await deliver(world.say.disputed(`dp_${world.paymentId}`, 125_000, "lost"));
    expect(await requests.get(world.ctx, world.requestId)).toMatchObject({ status: "refunded" });
    expect(await refundOf(world.paymentId)).toBeUndefined();
  });

  test("the built-in checkout books its refund itself", async () => {
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
