import fc from "fast-check";
import { expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import { pool } from "@/server/platform/db";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { campaign } from "@/testing/campaign";
import { makePayable, type Payable } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import * as requests from ".";
import { type Sold, stripe, system, World } from "./payment-fuzz.fixture";

/*
 * Tests commissions under any course of their payments: several people, quotes and checkouts, money that is
 * late, doubled, on its way or disputed, reported by signed messages in any order, more than once and
 * concurrently.
 */

const MICROS_PER_CENT = 10_000;

const small = fc.nat(20);
const order = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
const act = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant("start" as const), who: small }) },
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constant("pay" as const), which: small, isLater: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant("settle" as const), which: small, isGood: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("wait" as const),
      hours: fc.constantFrom(0.2, 1, 1, 12, 23, 24, 13 * 24),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ act: "expire" as const }) },
  { weight: 2, arbitrary: fc.constant({ act: "sweep" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("refund" as const), which: small, quarters: fc.nat(4) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("dispute" as const),
      which: small,
      quarters: fc.nat(4),
      isLost: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: "revise" as const }) },
  { weight: 2, arbitrary: fc.constant({ act: "requote" as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("deliver" as const),
      many: fc.integer({ min: 1, max: 8 }),
      order,
      copies: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ act: "giveBack" as const }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("payTwice" as const), which: small }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("payLate" as const), which: small }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

async function play(world: World, step: Act): Promise<void> {
  switch (step.act) {
    case "start":
      return world.start(step.who);
    case "pay":
      return world.pay(step.which, step.isLater);
    case "settle":
      return world.settle(step.which, step.isGood);
    case "wait":
      return world.payable.clock.advance(step.hours * HOUR_MS);
    case "expire":
      return world.expire();
    case "sweep":
      return requests.sweep({ ...system, now: world.now }, world.payable);
    case "refund":
      return world.refund(step.which, step.quarters);
    case "dispute":
      return world.dispute(step.which, step.quarters, step.isLost);
    case "revise":
      return world.revise();
    case "requote":
      return world.requote();
    case "deliver":
      return world.deliver(step.many, step.order, step.copies);
    case "giveBack":
      return world.giveBack();
    case "payTwice":
      return world.payTwice(step.which);
    case "payLate":
      return world.payLate(step.which);
  }
}

/** All rows about an organization's commissions, which a repeated message must not change. */
async function everything({ organizationId }: Payable) {
  const of = async (table: string, columns: string) =>
    (
      await pool.query(`SELECT ${columns} FROM ${table} WHERE organization_id = $1 ORDER BY id`, [
        organizationId,
      ])
    ).rows;
  return {
    payments: await of(
      "payment",
      "id, state, tax_micros, refunded_micros, disputes, paid_at, processing_at, provider_payment_id",
    ),
    quotes: await of("commission_quote", "id, state, payment_id, ended_at"),
    request: await of("capability_request", "id, status, feedback"),
    events: await of("capability_request_event", "id, type"),
    refunds: await of("payment_refund", "id, payment_id, reason, state"),
    ledger: await of("ledger_entry", "id, transaction_id, account, amount_micros, currency"),
  };
}
type Rows = Awaited<ReturnType<typeof everything>>;

/** The total of one payment in the ledger, computed from Stripe's state. */
function expectedAccounts({ charge, taxCents, quoteId }: Sold) {
  const back = Math.min(charge.cents, charge.refundedCents + charge.lostCents);
  const sold = BigInt((charge.cents - taxCents) * MICROS_PER_CENT);
  const soldBack = Number((sold * BigInt(back)) / BigInt(charge.cents));
  const kept = Number(sold) - soldBack;
  const all = (charge.cents - back) * MICROS_PER_CENT;
  return { [`commission:${quoteId}`]: kept, "payments:stripe": -all, "tax:stripe": all - kept };
}

function check(world: World, rows: Rows, counts: Record<string, number>) {
  const { sold, quotes, payable } = world;
  for (const sale of sold) {
    const row = rows.payments.find(({ id }) => id === sale.paymentId);
    expect(row.state === "paid").toBe(sale.paidAt !== null);
  }
  const kept = new Set<string>();
  for (const quote of quotes) {
    const row = rows.quotes.find(({ id }) => id === quote.id);
    const winners = world.winners(quote).map(({ paymentId }) => paymentId);
    expect([quote.id, row.state === "paid"]).toEqual([quote.id, winners.length > 0]);
    if (row.state !== "paid") continue;
    expect(winners).toContain(row.payment_id);
    kept.add(row.payment_id);
  }
  expect(kept.size).toBeLessThanOrEqual(1);
  const announced = rows.events.filter(({ type }) => type === "capability_request.paid");
  expect(announced).toHaveLength(kept.size);
  for (const sale of world.paidSales()) {
    const refund = rows.refunds.find(({ payment_id }) => payment_id === sale.paymentId);
    const { cents, refundedCents, lostCents } = sale.charge;
    const isBack = refundedCents + lostCents >= cents;
    if (kept.has(sale.paymentId)) {
      expect(refund).toBeUndefined();
      expect(rows.request[0].status).toBe(isBack ? "refunded" : "paid");
    } else {
      counts.returned = (counts.returned ?? 0) + 1;
      expect(refund).toMatchObject({ state: "done" });
      expect([sale.paymentId, isBack]).toEqual([sale.paymentId, true]);
    }
    expect(refundedCents + lostCents).toBeLessThanOrEqual(cents);
    const asked = stripe.refunds.filter(({ intent }) => intent === sale.say.intent);
    expect(asked.length).toBeLessThanOrEqual(1);
  }
  // The ledger is computed again from Stripe's state.
  const found: Record<string, number> = {};
  for (const { account, amount_micros, currency } of rows.ledger) {
    expect(currency).toBe(payable.currency);
    found[account] = (found[account] ?? 0) + Number(amount_micros);
  }
  const expected: Record<string, number> = {};
  for (const sale of world.paidSales())
    for (const [account, micros] of Object.entries(expectedAccounts(sale)))
      expected[account] = (expected[account] ?? 0) + micros;
  const isNotNothing = ([, micros]: [string, number]) => micros !== 0;
  expect(Object.fromEntries(Object.entries(found).filter(isNotNothing))).toEqual(
    Object.fromEntries(Object.entries(expected).filter(isNotNothing)),
  );
  counts.paid = (counts.paid ?? 0) + kept.size;
  counts.checkouts = (counts.checkouts ?? 0) + sold.length;
  counts.messages = (counts.messages ?? 0) + world.delivered.length;
}

const run = fc.record({
  currency: fc.constantFrom("USD" as const, "CAD" as const),
  taxCents: fc.constantFrom(0, 1, 16_250),
  acts: fc.array(act, { minLength: 8, maxLength: 24, size: "max" }),
  order,
  copies: fc.integer({ min: 1, max: 3 }),
});

test("commissions end paid exactly once if money came in time, and all other money goes back whole", async () => {
  const settings = campaign.covering(
    run,
    ({ currency, taxCents, acts, copies }) => [
      `${currency} with ${taxCents} of tax`,
      `${copies} copies`,
      ...acts.map(
        ({ act, ...more }) =>
          `${act} ${["isGood", "isLost", "isLater"].map((name) => (name in more ? more[name as keyof typeof more] : "")).join("")}`,
      ),
    ],
    300,
  );
  const counts: Record<string, number> = {};
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(run, async ({ currency, taxCents, acts, order, copies }) => {
      setSettings({ STRIPE_TAX: taxCents > 0 });
      // The start is long ago, so that everything has happened by the time when Stripe's messages arrive.
      const startsAt = new Date(Date.now() - 400 * DAY_MS);
      const world = new World(await makePayable({ currency, startsAt }), taxCents);
      await world.start(0);
      for (const step of acts) await play(world, step);
      world.expire();
      for (let round = 0; round < 20 && (round === 0 || world.waiting.length > 0); round++) {
        while (world.waiting.length > 0) await world.deliver(8, order, copies);
        await world.giveBack();
      }
      expect(world.waiting).toEqual([]);
      const rows = await everything(world.payable);
      check(world, rows, counts);
      const ledger = await checkLedger(system, world.payable.organizationId);
      expect(ledger.differences).toEqual([]);
      // All messages arrive once more.
      await world.post(world.delivered.toReversed());
      await world.giveBack();
      expect(await everything(world.payable)).toEqual(rows);
      runs++;
    }),
    settings,
  );
  console.log(`payment fuzz: ${runs} runs, ${JSON.stringify(counts)}`);
  expect(runs).toBeGreaterThanOrEqual(settings.numRuns);
  for (const what of ["paid", "returned", "checkouts", "messages"])
    expect(counts[what], what).toBeGreaterThan(0);
}, 1_200_000);
