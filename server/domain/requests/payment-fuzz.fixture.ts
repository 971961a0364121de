import { afterAll, beforeAll, expect } from "vitest";
import { POST } from "@/app/api/webhooks/stripe/route";
import { systemCtx } from "@/server/domain/ctx";
import * as payments from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { type Payable, personOf, soldBy } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import { type Charge, type Session, signed, startStripe } from "@/testing/stripe";
import * as requests from ".";

export const system = systemCtx("fuzz");
export let stripe: Awaited<ReturnType<typeof startStripe>>;

async function openStripe(): Promise<void> {
  stripe = await startStripe();
}
beforeAll(openStripe);

async function closeStripe(): Promise<void> {
  await stripe.stop();
  setSettings({ STRIPE_TAX: false });
}
afterAll(closeStripe);

/** A payment in Stripe's state, and the facts that decide how it must end. */
export type Sold = {
  paymentId: string;
  quoteId: string;
  session: Session;
  charge: Charge;
  taxCents: number;
  say: ReturnType<typeof soldBy>["say"];
  isOnItsWay: boolean;
  /** Time at which Stripe had the money, to the second; null while unpaid. */
  paidAt: number | null;
  /** Number of the batch whose messages first reported it as paid; null until then. */
  reportedIn: number | null;
};
type Quote = { id: string; expiresAt: number; endedIn: number | null };
type Message = { event: object; paidBy: Sold | null };

export class World {
  readonly sold: Sold[] = [];
  readonly quotes: Quote[] = [];
  /** Messages that Stripe will send, and those it has sent. */
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
    return this.quotes.at(-1)!; // the constructor adds one
  }
  tell(event: object, paidBy: Sold | null = null) {
    this.waiting.push({ event, paidBy });
  }
  /** One element, by a number that may exceed the length; undefined if the list is empty. */
  pick<T>(list: readonly T[], index: number): T | undefined {
    return list[index % Math.max(list.length, 1)];
  }

  /** Two people press the button at once. */
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

  /** The payer completes Stripe's page, if it is open. */
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

  /** Pays a checkout, then, before we learn of it, another one that was opened after the first had ended. */
  async payTwice(which: number) {
    await this.start(which);
    this.pay(which, false);
    this.payable.clock.advance(23 * HOUR_MS);
    await this.start(which + 1);
    this.pay(which, which % 2 === 0);
  }

  /**
   * Opens a checkout in a quote's last minutes and pays it after the quote has expired, because Stripe keeps
   * its page open longer.
   */
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

  /** Money on its way arrives, or fails. */
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

  /** Stripe closes pages whose time has ended, or that we asked it to close. */
  expire() {
    for (const { session, say } of this.sold) {
      if (session.status === "complete" || this.isOpen(session)) continue;
      session.status = "expired";
      this.tell(say.expired());
    }
  }

  /** Someone refunds in Stripe's dashboard. */
  refund(which: number, quarters: number) {
    const sale = this.pick(this.paidSales(), which);
    if (!sale) return;
    const { charge } = sale;
    const left = charge.cents - charge.refundedCents - charge.lostCents;
    charge.refundedCents += quarters >= 4 ? left : Math.floor((left * quarters) / 4);
    if (charge.refundedCents > 0) this.tell(sale.say.refunded(charge.refundedCents));
  }

  /** The payer's bank disputes the payment; the payer gets the money back only if we lose the dispute. */
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

  /** The need is reworded and quoted again. */
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

  /** The same wording is quoted again once its quote has expired. */
  async requote() {
    const { issue, operator, requestId } = this.payable;
    const { currentRevisionId } = await requests.get(operator, requestId);
    const quoteId = await issue(currentRevisionId).catch(allowed);
    if (!quoteId) return;
    expect(this.quote.expiresAt).toBeLessThanOrEqual(this.now().getTime());
    this.quote.endedIn ??= this.batch;
    this.addQuote(quoteId);
  }

  /** Delivers some of the waiting messages, in any order, each once or more often, all concurrently. */
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
    // A quote that was paid in this batch ends with it: only the first money counts.
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

  /**
   * The payments that may have paid a quote: in time, reported before it ended, and in the first such batch.
   */
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

  /** Runs the durable function twice at once for each pending refund; then Stripe reports the refunds. */
  async giveBack() {
    const { rows } = await pool.query<{ id: string }>(
      "SELECT id FROM payment_refund WHERE organization_id = $1 AND state = 'pending'",
      [this.payable.organizationId],
    );
    const before = stripe.refunds.length;
    await Promise.all(rows.flatMap(({ id }) => [id, id]).map((id) => payments.askForRefund(system, id)));
    for (const { intent } of stripe.refunds.slice(before)) {
      const sale = this.sold.find(({ say }) => say.intent === intent)!; // only this world requests refunds
      this.tell(sale.say.refunded(sale.charge.refundedCents));
    }
  }
}

/** Accepts the refusals that a late caller may get; any other error fails the test. */
function allowed(error: unknown): null {
  expect(error).toBeInstanceOf(Fault);
  expect(["Gone", "RequestStateConflict"]).toContain((error as Fault).code);
  return null;
}
