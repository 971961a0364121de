import { createServer } from "node:http";
import Stripe from "stripe";
import { ulid } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";

const WEBHOOK_SECRET = "whsec_of_a_test";

export type StripeCall = {
  method: string;
  path: string;
  idempotencyKey: string | null;
  /** The request's form, by Stripe's names: `line_items[0][quantity]`. */
  form: Record<string, string>;
};

/** A payment at Stripe: the amounts charged, refunded and lost in a dispute. */
export type Charge = { cents: number; refundedCents: number; lostCents: number };
export type Session = {
  id: string;
  object: "checkout.session";
  status: "open" | "complete" | "expired";
  url: string;
  expires_at: number;
  form: Record<string, string>;
};
type Answer = { status: number; value: object };

const refusal = (message: string, code?: string, status = 400): Answer => ({
  status,
  value: { error: { type: "invalid_request_error", message, code } },
});

/**
 * A local server for the part of Stripe's API that the product uses, with this process's settings pointed at it. It keeps
 * checkouts and charges, repeats its response to the same request under an idempotency key, and rejects another request under
 * the key. `state` makes it refuse; `intents` are its payments, `charges` those that can be refunded.
 */
export async function startStripe(secretKey = "sk_test_of_a_test") {
  const calls: StripeCall[] = [];
  const intents = new Map<string, Record<string, string>>();
  const sessions = new Map<string, Session>();
  const charges = new Map<string, Charge>();
  /** The refunds that were really made, in order. */
  const refunds: { intent: string; cents: number; idempotencyKey: string | null }[] = [];
  const answers = new Map<string, { request: string; answer: Answer }>();
  const state: {
    isDown: boolean;
    refusesRefunds: string | null;
    /** Runs between a refund and its response. */
    beforeRefundAnswer: (() => Promise<unknown>) | null;
  } = { isDown: false, refusesRefunds: null, beforeRefundAnswer: null };

  function work({ method, path, form, idempotencyKey }: StripeCall): Answer {
    const [, , resource, ...rest] = path.split("/");
    const session = resource === "checkout" ? sessions.get(rest[1] ?? "") : undefined;
    if (path === "/v1/checkout/sessions") {
      const id = `cs_test_${ulid()}`;
      const url = `https://checkout.stripe.test/${id}`;
      const expires_at = Number(form.expires_at);
      const made: Session = { id, object: "checkout.session", status: "open", url, expires_at, form };
      sessions.set(id, made);
      return { status: 200, value: made };
    }
    if (session && method === "GET") return { status: 200, value: session };
    if (session && rest[2] === "expire") {
      if (session.status !== "open")
        return refusal(`Only Checkout Sessions with a status in ["open"] can be expired.`);
      session.status = "expired";
      return { status: 200, value: session };
    }
    if (path === "/v1/refunds") {
      const intent = form.payment_intent ?? "";
      const charge = charges.get(intent);
      if (!charge) return refusal("No such payment_intent", "resource_missing", 404);
      if (state.refusesRefunds) return refusal("This charge cannot be refunded.", state.refusesRefunds);
      const cents = charge.cents - charge.refundedCents - charge.lostCents;
      if (cents <= 0) return refusal("Charge has already been refunded.", "charge_already_refunded");
      charge.refundedCents += cents;
      refunds.push({ intent, cents, idempotencyKey });
      return {
        status: 200,
        value: { id: `re_${ulid()}`, object: "refund", amount: cents, status: "succeeded" },
      };
    }
    if (path === "/v1/billing_portal/sessions")
      return {
        status: 200,
        value: {
          id: "bps_1",
          object: "billing_portal.session",
          url: `https://portal.stripe.test/${form.customer}`,
        },
      };
    const metadata = intents.get(path.replace("/v1/payment_intents/", ""));
    if (metadata)
      return { status: 200, value: { id: path.split("/").at(-1), object: "payment_intent", metadata } };
    return refusal("No such thing", undefined, 404);
  }

  function once(call: StripeCall): Answer {
    const { idempotencyKey: key, path, form } = call;
    if (call.method !== "POST" || key === null) return work(call);
    const request = JSON.stringify([path, form]);
    const known = answers.get(key);
    if (known && known.request !== request)
      return {
        status: 400,
        value: { error: { type: "idempotency_error", message: "The parameters differ from the first." } },
      };
    const answer = known?.answer ?? work(call);
    answers.set(key, { request, answer: structuredClone(answer) });
    return answer;
  }

  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", async () => {
      const key = request.headers["idempotency-key"];
      const call: StripeCall = {
        method: request.method ?? "",
        path: request.url ?? "",
        idempotencyKey: typeof key === "string" ? key : null,
        form: Object.fromEntries(new URLSearchParams(body)),
      };
      calls.push(call);
      const isRefused = state.isDown || request.headers.authorization !== `Bearer ${secretKey}`;
      const { status, value } = isRefused
        ? refusal(`Invalid API Key: ${secretKey}`, undefined, 401)
        : once(call);
      if (call.path === "/v1/refunds") await state.beforeRefundAnswer?.();
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const before = {
    STRIPE_SECRET_KEY: env.STRIPE_SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: env.STRIPE_WEBHOOK_SECRET,
    STRIPE_API_BASE: env.STRIPE_API_BASE,
  };
  const settings = {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: `http://127.0.0.1:${port}`,
  };
  setSettings(settings);
  return {
    calls,
    intents,
    sessions,
    charges,
    refunds,
    state,
    /** Settings for another process that uses this server. */
    settings,
    async stop() {
      setSettings(before);
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const signer = new Stripe("sk_test_signer");

/** An event as Stripe sends it: the raw body, and the signature header. */
export function signed(event: object, at = new Date(), secret = WEBHOOK_SECRET) {
  const raw = JSON.stringify(event, null, 2);
  const signature = signer.webhooks.generateTestHeaderString({
    payload: raw,
    secret,
    timestamp: Math.floor(at.getTime() / 1000),
  });
  return { raw, signature };
}

type Sold = {
  paymentId: string;
  organizationId: string;
  sessionId: string;
  /** The amount before tax. */
  cents: number;
  /** The tax that Stripe adds. */
  taxCents?: number;
  currency?: string;
  livemode?: boolean;
  /** The time of the events, by Stripe's clock. */
  at?: () => Date;
};

/** Every kind of event about one payment, in Stripe's wire format, with new ids. */
export function messagesOf({
  paymentId,
  organizationId,
  sessionId,
  cents,
  taxCents = 0,
  currency = "usd",
  livemode = false,
  at = () => new Date(),
}: Sold) {
  const intent = `pi_${paymentId}`;
  const metadata = { paymentId, organizationId };
  const event = (type: string, object: object, previous?: object) => ({
    id: `evt_${ulid()}`,
    object: "event",
    api_version: "2026-10-28.endive",
    created: Math.floor(at().getTime() / 1000),
    livemode,
    pending_webhooks: 1,
    request: null,
    type,
    data: { object, ...(previous && { previous_attributes: previous }) },
  });
  const session = (type: string, payment_status: string, changed: object = {}) =>
    event(type, {
      id: sessionId,
      object: "checkout.session",
      client_reference_id: paymentId,
      metadata,
      amount_subtotal: cents,
      amount_total: cents + taxCents,
      total_details: { amount_discount: 0, amount_shipping: null, amount_tax: taxCents },
      currency,
      customer: `cus_${organizationId}`,
      payment_intent: intent,
      payment_status,
      ...changed,
    });
  return {
    intent,
    metadata,
    completed: (changed?: object) => session("checkout.session.completed", "paid", changed),
    completedUnpaid: () => session("checkout.session.completed", "unpaid"),
    succeeded: () => session("checkout.session.async_payment_succeeded", "paid"),
    failed: () => session("checkout.session.async_payment_failed", "unpaid"),
    expired: () => session("checkout.session.expired", "unpaid", { payment_intent: null, customer: null }),
    /** `beforeCents` is the total before this refund, which Stripe includes. */
    refunded: (refundedCents: number, changed: object = {}, beforeCents?: number) =>
      event(
        "charge.refunded",
        {
          id: `ch_${paymentId}`,
          object: "charge",
          amount: cents + taxCents,
          amount_refunded: refundedCents,
          currency,
          payment_intent: intent,
          metadata,
          ...changed,
        },
        beforeCents === undefined ? undefined : { amount_refunded: beforeCents },
      ),
    /** `refundId` is our refund that requested it; null if it was made in Stripe's dashboard. */
    refundFailed: (
      stripeRefundId: string,
      failedCents: number,
      refundId: string | null = null,
      {
        type = "refund.failed",
        ...changed
      }: { type?: "refund.failed" | "refund.updated" | "charge.refund.updated" } & Record<
        string,
        unknown
      > = {},
    ) =>
      event(type, {
        id: stripeRefundId,
        object: "refund",
        amount: failedCents,
        charge: `ch_${paymentId}`,
        currency,
        failure_reason: "lost_or_stolen_card",
        payment_intent: intent,
        metadata: refundId === null ? {} : { refundId, paymentId },
        status: "failed",
        ...changed,
      }),
    disputed: (disputeId: string, disputedCents: number, status: string) =>
      event(`charge.dispute.${status === "needs_response" ? "created" : "closed"}`, {
        id: disputeId,
        object: "dispute",
        amount: disputedCents,
        currency,
        status,
        charge: `ch_${paymentId}`,
        payment_intent: intent,
        metadata: {},
      }),
    unrelated: () => event("customer.updated", { id: "cus_x", object: "customer" }),
  };
}
