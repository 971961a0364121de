import { createServer } from "node:http";
import Stripe from "stripe";
import { env } from "@/server/env";
import { ulid } from "@/server/ids";

const WEBHOOK_SECRET = "whsec_of_a_test";

export type StripeCall = {
  method: string;
  path: string;
  idempotencyKey: string | null;
  /** The form Stripe gets, by its own names: `line_items[0][quantity]`. */
  form: Record<string, string>;
};

/**
 * A local server that speaks as much of Stripe's API as the product uses, and this process's settings pointed at it.
 * `fail` makes it refuse everything; `intents` are what it knows of payments.
 */
export async function startStripe(secretKey = "sk_test_of_a_test") {
  const calls: StripeCall[] = [];
  const intents = new Map<string, Record<string, string>>();
  const sessions = new Map<string, object>();
  const state = { isDown: false };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const path = request.url ?? "";
      const form = Object.fromEntries(new URLSearchParams(body));
      const key = request.headers["idempotency-key"];
      const idempotencyKey = typeof key === "string" ? key : null;
      calls.push({ method: request.method ?? "", path, idempotencyKey, form });
      const answer = (status: number, value: object) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
      if (state.isDown || request.headers.authorization !== `Bearer ${secretKey}`)
        return answer(401, {
          error: { type: "invalid_request_error", message: `Invalid API Key: ${secretKey}` },
        });
      if (path === "/v1/checkout/sessions") {
        const id = `cs_test_${ulid()}`;
        const session = sessions.get(idempotencyKey ?? id) ?? {
          id,
          object: "checkout.session",
          url: `https://checkout.stripe.test/${id}`,
        };
        sessions.set(idempotencyKey ?? id, session);
        return answer(200, session);
      }
      if (path === "/v1/billing_portal/sessions")
        return answer(200, {
          id: "bps_1",
          object: "billing_portal.session",
          url: `https://portal.stripe.test/${form.customer}`,
        });
      const metadata = intents.get(path.replace("/v1/payment_intents/", ""));
      if (metadata) return answer(200, { id: path.split("/").at(-1), object: "payment_intent", metadata });
      return answer(404, { error: { type: "invalid_request_error", message: "No such thing" } });
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
  Object.assign(env, {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: `http://127.0.0.1:${port}`,
  });
  return {
    calls,
    intents,
    state,
    async stop() {
      Object.assign(env, before);
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const signer = new Stripe("sk_test_signer");

/** A message as Stripe sends it: the raw body, and the header that signs it. */
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
  cents: number;
  currency?: string;
  livemode?: boolean;
};

/** Every kind of message about one payment, in Stripe's wire format, under fresh ids. */
export function messagesOf({
  paymentId,
  organizationId,
  sessionId,
  cents,
  currency = "usd",
  livemode = false,
}: Sold) {
  const intent = `pi_${paymentId}`;
  const metadata = { paymentId, organizationId };
  const event = (type: string, object: object) => ({
    id: `evt_${ulid()}`,
    object: "event",
    api_version: "2026-10-28.endive",
    created: 1_790_000_000,
    livemode,
    pending_webhooks: 1,
    request: null,
    type,
    data: { object },
  });
  const session = (type: string, payment_status: string, changed: object = {}) =>
    event(type, {
      id: sessionId,
      object: "checkout.session",
      client_reference_id: paymentId,
      metadata,
      amount_total: cents,
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
    refunded: (refundedCents: number, changed: object = {}) =>
      event("charge.refunded", {
        id: `ch_${paymentId}`,
        object: "charge",
        amount: cents,
        amount_refunded: refundedCents,
        currency,
        payment_intent: intent,
        metadata,
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
