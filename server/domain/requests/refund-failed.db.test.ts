import { describe, expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { SHIPPED } from "@/testing/needs";
import { makePayable, type Payable, soldBy } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import { makePerson, makeTenant } from "@/testing/tenants";
import * as requests from ".";
import {
  accountsOf,
  askForRefunds,
  deliver,
  give,
  paidWorld,
  refundOf,
  refusal,
  retry,
  statusOf,
  stripe,
  system,
  withStripe,
} from "./commission.fixture";

withStripe();

describe("a refund that began automatically and failed", () => {
  const auditOf = async (paymentId: string) =>
    (
      await pool.query<{ actor_id: string; details: object }>(
        `SELECT actor_id, details FROM audit_entry WHERE subject = $1 AND action = 'payment.refund_due' ORDER BY id`,
        [paymentId],
      )
    ).rows;

  /** Sends money for a quote that had been replaced, which Stripe refuses to refund. */
  async function failedWorld() {
    const world = await makePayable({ startsAt: new Date(Date.now() - 3 * DAY_MS) });
    const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
    const sold = soldBy(stripe, paymentId, world.clock.now);
    await requests.revise(world.member, world.requestId, {
      schemaVersion: "service.capability-request.v1",
      summary: "Read maps",
      need: "And charts",
    });
    await deliver(sold.say.completed());
    stripe.state.refusesRefunds = "charge_disputed";
    await askForRefunds(world);
    stripe.state.refusesRefunds = null;
    const { id: failedId } = await refundOf(paymentId);
    expect(await refundOf(paymentId)).toMatchObject({ reason: "superseded", state: "failed" });
    return { ...world, ...sold, paymentId, failedId };
  }
  const asked = ({ say }: Awaited<ReturnType<typeof failedWorld>>) =>
    stripe.refunds.filter(({ intent }) => intent === say.intent);

  test("a failed refund puts its request into the operators' list, even if the request is a draft again", async () => {
    const failedNow = async (world: Payable) => {
      const { items } = await requests.queue(world.operator, {
        refund: "failed",
        order: "newest",
        limit: 50,
      });
      const { refundFailed } = await requests.queueCounts(world.operator);
      return { found: items.find(({ id }) => id === world.requestId), refundFailed };
    };
    const paid = await paidWorld();
    const before = await failedNow(paid);
    expect(before.found).toBeUndefined();
    await give(paid);
    stripe.state.refusesRefunds = "charge_disputed";
    await askForRefunds(paid);
    const after = await failedNow(paid);
    expect(after.found).toMatchObject({ status: "paid", refund: "failed", hasFailedRefund: true });
    expect(after.refundFailed).toBe(before.refundFailed + 1);

    const reworded = await failedWorld();
    const { found } = await failedNow(reworded);
    expect(found).toMatchObject({ status: "draft", refund: null, hasFailedRefund: true });
    const { items } = await requests.queue(reworded.operator, { limit: 50 });
    expect(items.map(({ id }) => id)).not.toContain(reworded.requestId);

    await retry(reworded, reworded.failedId);
    expect((await failedNow(reworded)).found).toBeUndefined();
    expect((await failedNow(paid)).refundFailed).toBe(after.refundFailed);
  });

  test("a failed refund is requested once more, however often clicked, under a new id and with an audit entry", async () => {
    const world = await failedWorld();
    const clicks = await Promise.all(Array.from({ length: 5 }, () => retry(world, world.failedId)));
    const [{ refundId }] = clicks as [(typeof clicks)[0]];
    expect(refundId).not.toBe(world.failedId);
    for (const click of clicks)
      expect(click).toEqual({ refundId, paymentId: world.paymentId, state: "pending" });
    await Promise.all([askForRefunds(world), askForRefunds(world)]);
    expect(asked(world)).toMatchObject([{ cents: 125_000, idempotencyKey: refundId }]);
    await deliver(world.say.refunded(world.charge.refundedCents));
    expect(await refundOf(world.paymentId)).toMatchObject({ reason: "superseded", state: "done" });
    expect(await statusOf(world)).toBe("draft");
    expect(await accountsOf(world)).toEqual({});
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
    expect((await auditOf(world.paymentId)).slice(1)).toEqual([
      {
        actor_id: world.operator.principal.id,
        details: { refundId, reason: "superseded", state: "pending", failedRefundId: world.failedId },
      },
    ]);
  });

  test("a click on a refund that has a successor starts none, even if the successor failed too", async () => {
    const world = await failedWorld();
    const { refundId: second } = await retry(world, world.failedId);
    stripe.state.refusesRefunds = "charge_disputed";
    await askForRefunds(world);
    expect(await retry(world, world.failedId)).toMatchObject({ refundId: second, state: "failed" });
    stripe.state.refusesRefunds = null;
    const { refundId: third } = await retry(world, second);
    await askForRefunds(world);
    expect(await retry(world, second)).toMatchObject({ refundId: third, state: "done" });
    expect(await retry(world, third)).toMatchObject({ refundId: third, state: "done" });
    expect(asked(world)).toMatchObject([{ idempotencyKey: third }]);
  });

  test("only operators retry a refund, and only one that exists", async () => {
    const world = await failedWorld();
    for (const ctx of [world.member, world.ctx])
      expect((await refusal(retry(world, world.failedId, ctx))).code).toBe("AuthorizationFailed");
    expect(await refundOf(world.paymentId)).toMatchObject({ id: world.failedId, state: "failed" });
    expect((await refusal(retry({ ...world, paymentId: "pay_missing" }, world.failedId))).code).toBe(
      "NotFound",
    );
    const unpaid = await makePayable();
    const { paymentId } = await requests.startCommissionCheckout(unpaid.member, unpaid.quoteId);
    expect((await refusal(retry({ ...unpaid, paymentId }, world.failedId))).code).toBe("NotFound");
  });
});

describe("a refund that fails after Stripe accepted it", () => {
  type Paid = Awaited<ReturnType<typeof paidWorld>>;

  /** Stripe has refunded everything, and reports it. */
  async function refunded(world: Paid) {
    const { refundId } = await give(world);
    await askForRefunds(world, { ...system, now: world.clock.now });
    await deliver(world.say.refunded(world.charge.refundedCents));
    expect(await statusOf(world)).toBe("refunded");
    expect(await accountsOf(world)).toEqual({});
    world.clock.advance(DAY_MS);
    return refundId;
  }
  /** The money is back at Stripe, which may report it more than once and by each of these messages. */
  function failuresOf({ say, charge }: Paid, refundId: string) {
    charge.refundedCents = 0;
    const failed = (type: "refund.failed" | "refund.updated" | "charge.refund.updated") =>
      say.refundFailed(`re_of_${refundId}`, charge.cents, refundId, { type });
    return [failed("refund.failed"), failed("refund.updated"), failed("charge.refund.updated")];
  }
  const recordRequestEvent = async (world: Paid, type: string) =>
    (await requests.events(world.operator, world.requestId)).filter((event) => event.type === type);
  async function audited({ organizationId, paymentId }: Paid, action: string) {
    const { rows } = await pool.query<{ details: object }>(
      "SELECT details FROM audit_entry WHERE organization_id = $1 AND subject = $2 AND action = $3",
      [organizationId, paymentId, action],
    );
    return rows.map(({ details }) => details);
  }

  test("the failure is booked back once, and the commission is paid again, with Stripe's reason for the operator", async () => {
    setSettings({ STRIPE_TAX: true });
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
    expect(await recordRequestEvent(world, "capability_request.refund_failed")).toHaveLength(1);
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
    expect(seen.acts).toEqual(["fulfil"]);
    expect(seen.quotes[0]?.payments).toMatchObject([{ refundId, refundError: "lost_or_stolen_card" }]);
  });

  test("the refund can be requested again as another one; late messages of the first do not affect it", async () => {
    const world = await paidWorld();
    const first = await refunded(world);
    const [failed, again, late] = failuresOf(world, first);
    await deliver(failed!);
    world.clock.advance(DAY_MS);
    const { refundId, state } = await retry(world, first);
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

    // The retry fails too.
    world.clock.advance(DAY_MS);
    await deliver(failuresOf(world, refundId)[1]!);
    expect(await statusOf(world)).toBe("paid");
    expect(await refundOf(world.paymentId)).toMatchObject({ id: refundId, state: "failed" });
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("a failure reported before our own answer is stored, or before the refund is booked, never counts as refunded", async () => {
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
    expect(await recordRequestEvent(world, "capability_request.refunded")).toEqual([]);
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("a fulfilled request is fulfilled again, and its refund can be retried after its acceptance window", async () => {
    const world = await paidWorld();
    await requests.fulfil(world.operator, { requestId: world.requestId, capabilityKey: SHIPPED });
    const refundId = await refunded(world);
    world.clock.advance(30 * DAY_MS);
    await deliver(failuresOf(world, refundId)[0]!);
    expect(await requests.get(world.ctx, world.requestId)).toMatchObject({
      status: "fulfilled",
      capabilityKey: SHIPPED,
    });
    expect((await requests.dossier(world.operator, world.requestId)).acts).toEqual([]);
    expect(await retry(world, refundId)).toMatchObject({ state: "pending" });
  });

  test("a refund that a dashboard refund or a lost dispute completed fails if that money comes back", async () => {
    const world = await paidWorld();
    stripe.state.refusesRefunds = "charge_disputed";
    await give(world);
    await askForRefunds(world);
    await deliver(world.say.refunded(125_000)); // refunded by hand
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
    // A lost dispute returns the money, and the failure of a refund that never counted changes nothing.
    await deliver(world.say.disputed(`dp_${world.paymentId}`, 125_000, "lost"));
    await deliver(world.say.refundFailed("re_other", 125_000));
    expect(await refundOf(world.paymentId)).toMatchObject({ state: "done" });
    expect(await statusOf(world)).toBe("refunded");
    // The bank decides for us after all: the refund that the dispute had completed must be requested again.
    world.clock.advance(DAY_MS);
    await deliver(world.say.disputed(`dp_${world.paymentId}`, 125_000, "won"));
    expect(await refundOf(world.paymentId)).toMatchObject({
      state: "failed",
      last_error: "a lost dispute had returned the money, and was won later",
    });
    expect(await statusOf(world)).toBe("paid");
    expect((await checkLedger(system, world.organizationId)).differences).toEqual([]);
  });

  test("a failed refund is reported to operators and members once each, and to listeners", async () => {
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
    const [event] = await recordRequestEvent(world, "capability_request.refund_failed");
    const { quoteId, paymentId } = world;
    expect(event?.payload).toMatchObject({ status: "paid", quoteId, paymentId });
  });
});
