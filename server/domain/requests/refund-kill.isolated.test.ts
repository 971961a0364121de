/** @module-tag long */
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as payments from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { leasesPass } from "@/testing/leases";
import { makePayable, soldBy } from "@/testing/payable";
import { askForRefundKilledAt } from "@/testing/processes";
import { signed, startStripe } from "@/testing/stripe";
import * as requests from ".";

const system = systemCtx("test");
let stripe: Awaited<ReturnType<typeof startStripe>>;
beforeAll(async () => {
  stripe = await startStripe();
});
afterAll(async () => {
  await stripe.stop();
});

test.each([
  ["before the provider was asked", "before-refund-asked", 0],
  ["after the provider was asked, before its answer was written", "after-refund-asked", 1],
] as const)(
  "after a process was killed %s the money goes back once",
  async (_when, failpoint, askedBefore) => {
    const world = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const { say, charge } = soldBy(stripe, paymentId, world.clock.now);
    const receive = (event: object) => {
      const { raw, signature } = signed(event);
      return payments.receiveStripeMessage(raw, signature);
    };
    await receive(say.completed());
    const { refundId } = await requests.refund(world.operator, {
      requestId: world.requestId,
      reason: "It cannot be made.",
    });
    const givenBack = () => stripe.refunds.filter(({ intent }) => intent === say.intent);
    const stateOf = async () =>
      (await pool.query("SELECT state FROM payment_refund WHERE id = $1", [refundId])).rows[0].state;

    expect(await askForRefundKilledAt(refundId, failpoint, stripe.settings)).toBe("SIGKILL");
    expect(givenBack()).toHaveLength(askedBefore);
    expect(await stateOf()).toBe("pending");

    // A refund whose run was lost is dispatched again, and uses the same key.
    await leasesPass("payment_refund", 180_000, "id = $2", refundId);
    await requests.sweep(system, world);
    const { rows: handed } = await pool.query<{ lease_until: Date }>(
      "SELECT lease_until FROM payment_refund WHERE id = $1",
      [refundId],
    );
    expect(handed[0]?.lease_until.getTime()).toBeGreaterThan(Date.now());
    await payments.askForRefund(system, refundId);
    expect(await stateOf()).toBe("done");
    expect(givenBack()).toEqual([{ intent: say.intent, cents: charge.cents, idempotencyKey: refundId }]);
    const asked = stripe.calls.filter(({ idempotencyKey }) => idempotencyKey === refundId);
    expect(asked).toHaveLength(askedBefore + 1);

    await receive(say.refunded(charge.refundedCents));
    expect(await requests.get(world.ctx, world.requestId)).toMatchObject({ status: "refunded" });
  },
);
