import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { POST } from "@/app/api/webhooks/stripe/route";
import { checkLedger, credit, wallet, walletTransactions } from "@/server/domain/billing";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { campaign } from "@/testing/campaign";
import { setSettings } from "@/testing/settings";
import { messagesOf, signed } from "@/testing/stripe";
import * as payments from ".";
import {
  closeStripe,
  codeOf,
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

describe("a message of Stripe", () => {
  const post = (raw: string, signature: string | null) =>
    POST(
      new Request("http://capstan.test/api/webhooks/stripe", {
        method: "POST",
        body: raw,
        headers: signature === null ? {} : { "stripe-signature": signature },
      }),
    );

  test("a signed message is applied over HTTP byte for byte, and a repeat has no effect", async () => {
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

  test("a message that is unsigned, changed, signed by another or older than five minutes is refused and changes nothing", async () => {
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

  test("a message above 256 KiB is refused with 413", async () => {
    const { raw, signature } = signed({ id: "evt_1", padding: "x".repeat(300_000) });
    expect((await post(raw, signature)).status).toBe(413);
  });

  test("a message gets 404 if Stripe is not set up", async () => {
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
  ])(
    "a message that contradicts our payment in its %s is audited and credits nothing",
    async (_what, changed) => {
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
    },
  );

  test("a message about a foreign payment or another kind of object is reported as foreign", async () => {
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

  test("a message whose payment only Stripe can identify fails while Stripe is down, and is applied afterwards", async () => {
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

describe("refunds and disputes", () => {
  test("the wallet loses the highest refunded total, even below zero", async () => {
    const { ctx, organizationId, paymentId, say } = await open(10_000_000);
    await receive(say.completed());
    await credit(system, { organizationId, amountMicros: -9_000_000, isTest: true, reason: "spent" });
    await receive(say.refunded(400));
    await receive(say.refunded(250)); // late: the total was 2.50 before it was 4.00
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(-3_000_000);
    expect((await payments.payment(ctx, paymentId)).refunded.amountMicros).toBe(4_000_000);
    expect((await checkLedger(system, organizationId)).isBalanced).toBe(true);
  });

  test("a failed refund returns to the wallet once, however it is reported", async () => {
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

  test("a refund stays booked after a report that is no failure, is foreign, contradicts the payment or has a wrong signature", async () => {
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

  /** Dates an event to this second. */
  const inSecond = (seconds: number, event: object) => ({ ...event, created: 1_790_000_000 + seconds });

  test("a refund in the same second as the failure of an earlier one is booked", async () => {
    const { ctx, organizationId, say } = await open(20_000_000);
    await receive(say.completed());
    await receive(inSecond(0, say.refunded(2000)));
    await receive(inSecond(9, say.refundFailed("re_1", 2000)));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(20_000_000);
    await receive(inSecond(9, say.refunded(2000)));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    expect((await checkLedger(system, organizationId)).differences).toEqual([]);
  });

  test("a larger total in the second of a failure is booked by the increase that Stripe reports", async () => {
    const { ctx, say } = await open(20_000_000);
    await receive(say.completed());
    await receive(inSecond(0, say.refunded(300, {}, 0)));
    const [failure, second] = [say.refundFailed("re_1", 300), say.refunded(1400, {}, 0)];
    await receive(inSecond(9, failure));
    await receive(inSecond(9, second));
    await receive(inSecond(9, { ...second, id: "evt_the_same_refund_reported_twice" }));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(6_000_000);
  });

  test("a dispute that was lost and then won fills the wallet again, and a late message changes nothing", async () => {
    const { ctx, organizationId, say } = await open(10_000_000);
    await receive(say.completed());
    const [lost, won] = [inSecond(1, say.disputed("dp_1", 1000, "lost")), say.disputed("dp_1", 1000, "won")];
    await receive(lost);
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    await receive(inSecond(2, { ...won, type: "charge.dispute.funds_reinstated" }));
    await receive({ ...lost, id: "evt_the_same_outcome_reported_late" });
    await receive(inSecond(3, say.disputed("dp_1", 1000, "needs_response")));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(10_000_000);
    const { items } = await walletTransactions(ctx, { limit: 10 });
    expect(items.map(({ kind, amount }) => [kind, amount.amountMicros])).toEqual([
      ["dispute_won", 10_000_000],
      ["refund", -10_000_000],
      ["top_up", 10_000_000],
    ]);
    await receive(inSecond(4, say.disputed("dp_1", 1000, "lost")));
    expect((await wallet(ctx)).test.balance.amountMicros).toBe(0);
    expect((await checkLedger(system, organizationId)).differences).toEqual([]);
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
  /** Messages that Stripe may send about one payment, in their order. */
  const HISTORIES = {
    "paid at once, refunded in three steps": ["completed", "refund 100", "refund 350", "refund 1000"],
    "paid at once, refunded in part, disputed and lost": ["completed", "refund 300", "dispute", "lost"],
    "paid at once, disputed and won": ["completed", "dispute", "won", "refund 200"],
    "paid later": ["unpaid", "succeeded", "refund 50"],
    "paid later, disputed and lost": ["unpaid", "succeeded", "dispute", "lost"],
    "never paid": ["unpaid", "failed"],
    "paid at once, disputed, lost and then won": ["completed", "dispute", "lost", "won"],
    "paid at once, disputed, won and then lost": ["completed", "dispute", "won", "lost"],
    "disputed, lost and won in one second": ["completed", "dispute", "lost", "also won"],
    expired: ["expired"],
    "refunded whole in vain": ["completed", "refund 1000", "fails re_1 1000"],
    "refunded in vain, and again": ["completed", "refund 1000", "fails re_1 1000", "refund 1000"],
    "refunded in vain, and again in the same second": [
      "completed",
      "refund 1000",
      "fails re_1 1000",
      "also refund 1000",
    ],
    "refunded in parts, one in vain, and more in the same second": [
      "completed",
      "refund 300 after 0",
      "fails re_1 300",
      "also refund 400 after 0",
    ],
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
    const [, total, before] = word.match(/^refund (\d+)(?: after (\d+))?$/) ?? [];
    if (total) return say.refunded(Number(total), {}, before === undefined ? before : Number(before));
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

  /**
   * Opens a top-up and builds the messages of its history. Each is one second after the last, except that
   * "also …" is in the same second.
   */
  async function happened(name: keyof typeof HISTORIES, currency: "USD" | "CAD") {
    let nowMs = Date.now();
    const sold = await open(10_000_000, currency, () => new Date(nowMs));
    const events = HISTORIES[name].map((word) => {
      if (!word.startsWith("also ")) nowMs += 1000;
      return eventOf(sold.say, word.replace("also ", ""));
    });
    return { ...sold, events };
  }

  const canonical = new Map<string, unknown>();
  async function canonicalOf(name: keyof typeof HISTORIES, currency: "USD" | "CAD") {
    const key = `${name} ${currency}`;
    if (!canonical.has(key)) {
      const { organizationId, paymentId, events } = await happened(name, currency);
      for (const event of events) await receive(event);
      canonical.set(key, await outcomeOf(organizationId, paymentId));
    }
    return canonical.get(key);
  }

  const run = fc.record({
    name: fc.constantFrom(...(Object.keys(HISTORIES) as (keyof typeof HISTORIES)[])),
    currency: fc.constantFrom("USD" as const, "CAD" as const),
    /** Sort keys that shuffle the deliveries. */
    shuffle: fc.array(fc.nat(), { minLength: 21, maxLength: 21 }),
    copies: fc.integer({ min: 2, max: 3 }),
    /** Number of concurrent deliveries. */
    atOnce: fc.integer({ min: 1, max: 6 }),
  });

  test("any order, number of copies and concurrency lead to one wallet, one ledger and one state", async () => {
    setSettings({ FX_USD_CAD: 1.25 }); // 12.50 in CAD, so that parts of it are exact too
    await fc.assert(
      fc.asyncProperty(run, async ({ name, currency, shuffle, copies, atOnce }) => {
        const expected = await canonicalOf(name, currency);
        const { organizationId, paymentId, events } = await happened(name, currency);
        const deliveries = Array.from({ length: copies }, () => events)
          .flat()
          .map((event, position) => ({ event, at: shuffle[position % shuffle.length]! + position * 0.001 }))
          .sort((a, b) => a.at - b.at);
        for (let from = 0; from < deliveries.length; from += atOnce)
          await Promise.all(deliveries.slice(from, from + atOnce).map(({ event }) => receive(event)));
        expect(await outcomeOf(organizationId, paymentId)).toEqual(expected);
        const once = await checkLedger(system, organizationId);
        expect(once.differences).toEqual([]);
        // A last replay after everything has ended changes nothing.
        for (const event of events) await receive(event);
        expect(await outcomeOf(organizationId, paymentId)).toEqual(expected);
        expect((await checkLedger(system, organizationId)).entries).toBe(once.entries);
      }),
      campaign.covering(run, ({ name, currency, copies }) => [name, currency, `${copies} copies`], 60),
    );
  });
});
