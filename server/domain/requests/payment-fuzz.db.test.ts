import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { POST } from "@/app/api/webhooks/stripe/route";
import { checkLedger } from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import * as payments from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { campaign } from "@/testing/campaign";
import { makePayable, type Payable, personOf, soldBy } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import { type Charge, type Session, signed, startStripe } from "@/testing/stripe";
import * as requests from ".";

/*
 * Commissions under any course of their payments: several people, quotes and checkouts, money that is late, twice,
 * on its way or disputed, reported by signed messages in any order, more than once and at the same time.
 */

const MICROS_PER_CENT = 10_000;
const system = systemCtx("fuzz");
let stripe: Awaited<ReturnType<typeof startStripe>>;
beforeAll(async () => {
  stripe = await startStripe();
});
afterAll(async () => {
  await stripe.stop();
  setSettings({ STRIPE_TAX: false });
});

/** A payment as Stripe knows it, and what is known of how it ought to end. */
type Sold = {
  paymentId: string;
  quoteId: string;
  session: Session;
  charge: Charge;
  taxCents: number;
  say: ReturnType<typeof soldBy>["say"];
  isOnItsWay: boolean;
  /** When Stripe had the money, to the second. */
  paidAt: number | null;
  /** In which batch its payment was first reported. */
  reportedIn: number | null;
};
type Quote = { id: string; expiresAt: number; endedIn: number | null };
type Message = { event: object; paidBy: Sold | null };

class World {
  readonly sold: Sold[] = [];
  readonly quotes: Quote[] = [];
  /** What Stripe will report, and what it reported. */
  waiting: Message[] = [];
  readonly delivered: Message[] = [];
  batch = 0;
  constructor(
    readonly payable: Payable,
    readonly taxCents: number,
  ) {
    this.addQuote(payable.quoteId);
  }
  readonly now = () => this.payable.clock.now();

  addQuote(id: string) {
    const expiresAt = this.now().getTime() + 14 * DAY_MS;
    this.quotes.push({ id, expiresAt, endedIn: null });
  }
  get quote(): Quote {
    return this.quotes.at(-1)!; // there is one from the start
  }
  tell(event: object, paidBy: Sold | null = null) {
    this.waiting.push({ event, paidBy });
  }
  /** One of them, by a number that may be larger than there are. */
  pick<T>(list: readonly T[], index: number): T | undefined {
    return list[index % Math.max(list.length, 1)];
  }

  /** Two people at once press the button. */
  async start(who: number) {
    const role = (["member", "admin", "owner"] as const)[who % 3]!;
    const people = [
      this.payable.member,
      who % 4 === 3 ? this.payable.operator : personOf(this.payable, [[this.payable.organizationId, role]]),
    ];
    const opened = await Promise.all(
      people.map((ctx) => requests.startCommissionCheckout(ctx, this.quote.id).catch(allowed)),
    );
    const ids = new Set(opened.flatMap((each) => (each ? [each.paymentId] : [])));
    expect(ids.size).toBeLessThanOrEqual(1);
    for (const paymentId of ids) {
      if (this.sold.some((each) => each.paymentId === paymentId)) continue;
      const sale = soldBy(stripe, paymentId, this.now, this.taxCents);
      this.sold.push({
        ...sale,
        paymentId,
        quoteId: this.quote.id,
        taxCents: this.taxCents,
        isOnItsWay: false,
        paidAt: null,
        reportedIn: null,
      });
    }
  }

  /** The payer is done on Stripe's page, as long as it is open. */
  pay(which: number, isLater: boolean) {
    const open = this.sold.filter(({ session }) => this.isOpen(session));
    const sale = this.pick(open, which);
    if (!sale) return;
    sale.session.status = "complete";
    if (isLater) {
      sale.isOnItsWay = true;
      return this.tell(sale.say.completedUnpaid());
    }
    this.paid(sale, sale.say.completed());
  }

  /** A checkout is paid, and before we learn that another one is, which was opened when the first had ended. */
  async payTwice(which: number) {
    await this.start(which);
    this.pay(which, false);
    this.payable.clock.advance(23 * HOUR_MS);
    await this.start(which + 1);
    this.pay(which, which % 2 === 0);
  }

  /** In a quote's last minutes Stripe keeps its page open for longer than the quote lives. */
  async payLate(which: number) {
    const leftMs = this.quote.expiresAt - this.now().getTime();
    if (leftMs < HOUR_MS) return;
    this.payable.clock.advance(leftMs - HOUR_MS / 6);
    await this.start(which);
    this.payable.clock.advance(HOUR_MS / 4);
    this.pay(which, which % 3 === 0);
  }

  isOpen(session: Session): boolean {
    return session.status === "open" && session.expires_at * 1000 > this.now().getTime();
  }

  paid(sale: Sold, event: { created: number }) {
    sale.paidAt = event.created * 1000;
    this.tell(event, sale);
  }

  /** Money that was on its way arrives, or does not. */
  settle(which: number, isGood: boolean) {
    const sale = this.pick(
      this.sold.filter(({ isOnItsWay }) => isOnItsWay),
      which,
    );
    if (!sale) return;
    sale.isOnItsWay = false;
    if (isGood) this.paid(sale, sale.say.succeeded());
    else this.tell(sale.say.failed());
  }

  /** Stripe closes pages whose time has ended, or which we asked it to close. */
  expire() {
    for (const { session, say } of this.sold) {
      if (session.status === "complete" || this.isOpen(session)) continue;
      session.status = "expired";
      this.tell(say.expired());
    }
  }

  /** Somebody refunds in Stripe's dashboard. */
  refund(which: number, quarters: number) {
    const sale = this.pick(this.paidSales(), which);
    if (!sale) return;
    const { charge } = sale;
    const left = charge.cents - charge.refundedCents - charge.lostCents;
    charge.refundedCents += quarters >= 4 ? left : Math.floor((left * quarters) / 4);
    if (charge.refundedCents > 0) this.tell(sale.say.refunded(charge.refundedCents));
  }

  /** The payer's bank takes it back, or tries to. */
  dispute(which: number, quarters: number, isLost: boolean) {
    const sale = this.pick(this.paidSales(), which);
    if (!sale) return;
    const { charge, say } = sale;
    const left = charge.cents - charge.refundedCents - charge.lostCents;
    const cents = quarters >= 4 ? left : Math.floor((left * quarters) / 4);
    if (cents === 0) return;
    const id = `dp_${sale.paymentId}_${this.waiting.length + this.delivered.length}`;
    this.tell(say.disputed(id, cents, "needs_response"));
    this.tell(say.disputed(id, cents, isLost ? "lost" : "won"));
    if (isLost) charge.lostCents += cents;
  }

  paidSales = () => this.sold.filter(({ paidAt }) => paidAt !== null);

  /** The need is reworded, and priced anew. */
  async revise() {
    const { member, operator, requestId, review, issue } = this.payable;
    const revised = await requests
      .revise(member, requestId, {
        schemaVersion: "service.capability-request.v1",
        summary: "Read maps",
        need: `And charts, in ${this.batch} ways`,
      })
      .catch(allowed);
    if (!revised) return;
    this.quote.endedIn ??= this.batch;
    await review();
    expect((await requests.get(operator, requestId)).status).toBe("in_review");
    this.addQuote(await issue(revised.currentRevisionId));
  }

  /** The same wording is priced anew once its quote has expired. */
  async requote() {
    const { issue, operator, requestId } = this.payable;
    const { currentRevisionId } = await requests.get(operator, requestId);
    const quoteId = await issue(currentRevisionId).catch(allowed);
    if (!quoteId) return;
    expect(this.quote.expiresAt).toBeLessThanOrEqual(this.now().getTime());
    this.quote.endedIn ??= this.batch;
    this.addQuote(quoteId);
  }

  /** Some of what waits arrives, in any order, each once or more often, all at the same time. */
  async deliver(many: number, order: number[], copies: number) {
    this.batch++;
    const shuffled = this.waiting
      .map((message, index) => ({ message, at: order[index % order.length]! + index * 0.001 }))
      .sort((a, b) => a.at - b.at)
      .map(({ message }) => message);
    const chosen = shuffled.slice(0, many);
    this.waiting = shuffled.slice(many);
    await this.post(Array.from({ length: copies }, () => chosen).flat());
    for (const { paidBy } of chosen) if (paidBy) paidBy.reportedIn ??= this.batch;
    this.delivered.push(...chosen);
    // The quote that was paid in this batch ends with it: only the first money counts.
    for (const quote of this.quotes) if (this.winners(quote).length > 0) quote.endedIn ??= this.batch;
  }

  async post(messages: Message[]) {
    const answers = await Promise.all(
      messages.map(({ event }) => {
        const { raw, signature } = signed(event);
        const headers = { "stripe-signature": signature };
        const url = "http://capstan.test/api/webhooks/stripe";
        return POST(new Request(url, { method: "POST", body: raw, headers }));
      }),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect((await answer.json()).outcome).toMatch(/^(applied|seen)$/);
    }
  }

  /** The payments of a quote of which one may have paid it: in time, and heard of before it ended; the first batch of them. */
  winners(quote: Quote): Sold[] {
    const good = this.sold.filter(
      ({ quoteId, paidAt, reportedIn }) =>
        quoteId === quote.id &&
        paidAt !== null &&
        reportedIn !== null &&
        paidAt < quote.expiresAt &&
        (quote.endedIn === null || reportedIn <= quote.endedIn),
    );
    const first = Math.min(...good.map(({ reportedIn }) => reportedIn ?? 0));
    return good.filter(({ reportedIn }) => reportedIn === first);
  }

  /** The durable function, run twice at once for each refund that waits; then Stripe reports what it gave back. */
  async giveBack() {
    const { rows } = await pool.query<{ id: string }>(
      "SELECT id FROM payment_refund WHERE organization_id = $1 AND state = 'pending'",
      [this.payable.organizationId],
    );
    const before = stripe.refunds.length;
    await Promise.all(rows.flatMap(({ id }) => [id, id]).map((id) => payments.askForRefund(system, id)));
    for (const { intent } of stripe.refunds.slice(before)) {
      const sale = this.sold.find(({ say }) => say.intent === intent)!; // only this world asks
      this.tell(sale.say.refunded(sale.charge.refundedCents));
    }
  }
}

/** The refusals a person may read who comes too late; anything else is a mistake of ours. */
function allowed(error: unknown): null {
  expect(error).toBeInstanceOf(Fault);
  expect(["Gone", "RequestStateConflict"]).toContain((error as Fault).code);
  return null;
}

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

/** Everything the rows say of an organization's commissions: what a message that comes again must not change. */
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

/** The total of one payment in the ledger, computed from what Stripe knows. */
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
  // The books, reckoned anew from what Stripe knows.
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

test("commissions end paid exactly once where money came in time, and all other money goes back whole", async () => {
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
      // Long ago, so that everything has happened by now, which is when Stripe's messages arrive.
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
      // And everything once more.
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
