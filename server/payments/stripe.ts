import Stripe from "stripe";
import { MINUTE_MS } from "@/server/platform/time/units";
import {
  BadSignature,
  type CheckoutOrder,
  type DisputeOutcome,
  type PaymentMessage,
  type PaymentNews,
  type PaymentProvider,
  PaymentProviderDown,
} from "./define";

export type StripeSettings = {
  secretKey: string;
  webhookSecret: string;
  apiBase: string;
  /** True if Stripe Tax is set up, so that checkouts may ask for it. */
  addsTax: boolean;
};

/** Older messages are rejected as possible replays. */
const MOST_AGE_SECONDS = 300;
/** Stripe's minimum charge in both of our currencies. */
const LEAST_MICROS = 500_000;
const MICROS_PER_CENT = 10_000;
const TIMEOUT_MS = 15_000;
/** Stripe keeps every checkout open for at least half an hour; the extra minute covers a slow request. */
const LEAST_OPEN_MS = 31 * MINUTE_MS;

/** Stripe Checkout. Keys of its test mode move test money only. */
export function stripeProvider({
  secretKey,
  webhookSecret,
  apiBase,
  addsTax,
}: StripeSettings): PaymentProvider {
  const base = new URL(apiBase);
  const isHttp = base.protocol === "http:";
  const stripe = new Stripe(secretKey, {
    host: base.hostname,
    port: base.port || (isHttp ? 80 : 443),
    protocol: isHttp ? "http" : "https",
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 2, // safe: requests that move money carry an idempotency key
    telemetry: false,
  });
  return {
    name: "stripe",
    isTest: /^(sk|rk)_test_/.test(secretKey),
    leastMicros: LEAST_MICROS,
    addsTax,

    async openCheckout(order) {
      const session = await asked(() =>
        stripe.checkout.sessions.create(checkoutOf(order), { idempotencyKey: order.paymentId }),
      );
      if (!session.url) throw new PaymentProviderDown("Stripe returned a checkout without a URL");
      return { sessionId: session.id, url: session.url };
    },

    async closeCheckout(sessionId) {
      try {
        await stripe.checkout.sessions.expire(sessionId);
      } catch (cause) {
        // Stripe refuses to expire a session that is paid, completing or closed, and one that does not exist
        // needs no closing. Any other failure is thrown, for the caller to retry.
        if (!isRefusal(cause)) throw down(cause);
        if (cause.statusCode === 404) return;
        const { status } = await asked(() => stripe.checkout.sessions.retrieve(sessionId));
        if (status === "open") throw down(cause);
      }
    },

    async refund(order) {
      try {
        const refund = await stripe.refunds.create(
          {
            payment_intent: order.providerPaymentId, // without an amount Stripe refunds the rest
            metadata: { refundId: order.refundId, paymentId: order.paymentId },
          },
          { idempotencyKey: order.refundId },
        );
        const reason = whyFailed(refund);
        return reason === null ? { state: "taken", message: null } : { state: "refused", reason };
      } catch (cause) {
        if (!isRefusal(cause)) throw down(cause);
        return cause.code === "charge_already_refunded"
          ? { state: "taken", message: null }
          : { state: "refused", reason: cause.code ?? `HTTP ${cause.statusCode}` };
      }
    },

    readMessage(raw, signature, now) {
      try {
        const event = stripe.webhooks.constructEvent(
          raw,
          signature,
          webhookSecret,
          MOST_AGE_SECONDS,
          undefined,
          now.getTime(),
        );
        return toMessage(event);
      } catch (cause) {
        if (cause instanceof Stripe.errors.StripeSignatureVerificationError || cause instanceof SyntaxError)
          throw new BadSignature("the webhook is not signed by Stripe, or is too old", { cause });
        throw cause;
      }
    },

    async findPaymentId(providerPaymentId) {
      const intent = await asked(() => stripe.paymentIntents.retrieve(providerPaymentId));
      return intent.metadata?.paymentId ?? null;
    },

    async openPortal(customerId, returnUrl) {
      const session = await asked(() =>
        stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl }),
      );
      return session.url;
    },
  };
}

/** Parameters of Stripe's checkout session for an order. */
function checkoutOf(order: CheckoutOrder): Stripe.Checkout.SessionCreateParams {
  const metadata = { paymentId: order.paymentId, organizationId: order.organizationId };
  return {
    mode: "payment",
    client_reference_id: order.paymentId,
    metadata,
    payment_intent_data: { metadata }, // copied to its charges, so that a refund names our payment
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: order.currency.toLowerCase(),
          unit_amount: order.amountMicros / MICROS_PER_CENT,
          product_data: { name: order.title },
          ...(order.isTaxed ? { tax_behavior: "exclusive" as const } : {}),
        },
      },
    ],
    ...(order.isTaxed ? { automatic_tax: { enabled: true } } : {}),
    ...(order.customerId
      ? {
          customer: order.customerId,
          // Calculates tax for the address that the payer gives now, not for one stored years ago.
          ...(order.isTaxed ? { customer_update: { address: "auto" as const } } : {}),
        }
      : {
          customer_creation: "always" as const,
          ...(order.email ? { customer_email: order.email } : {}),
        }),
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
    expires_at: Math.floor(
      Math.max(order.expiresAt.getTime(), order.createdAt.getTime() + LEAST_OPEN_MS) / 1000,
    ),
  };
}

/**
 * Rethrows failures as PaymentProviderDown. Stripe's own message stays in the cause, for the log: it may name keys and accounts.
 */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw down(cause);
  }
}

function down(cause: unknown): PaymentProviderDown {
  const isBusy = cause instanceof Stripe.errors.StripeError && cause.statusCode === 409;
  return new PaymentProviderDown("Stripe rejected the request or did not answer", { cause }, isBusy);
}

/** True if Stripe understood the request and refused it; false while it is busy, limits our rate or rejects the key. */
function isRefusal(cause: unknown): cause is InstanceType<typeof Stripe.errors.StripeError> {
  return (
    cause instanceof Stripe.errors.StripeInvalidRequestError &&
    [400, 402, 404].includes(cause.statusCode ?? 0)
  );
}

const idOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === "string" ? value : (value?.id ?? null);
const toMicros = (cents: number) => cents * MICROS_PER_CENT;

function toMessage(event: Stripe.Event): PaymentMessage {
  return {
    id: event.id,
    type: event.type,
    at: new Date(event.created * 1000),
    isTest: !event.livemode,
    news: toNews(event),
  };
}

function toNews(event: Stripe.Event): PaymentNews | null {
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return ofSession(event.data.object, event.data.object.payment_status === "unpaid" ? "open" : "paid");
    case "checkout.session.async_payment_failed":
      return ofSession(event.data.object, "failed");
    case "checkout.session.expired":
      return ofSession(event.data.object, "expired");
    case "charge.refunded": {
      const charge = event.data.object;
      const providerPaymentId = idOf(charge.payment_intent);
      if (!providerPaymentId) return null;
      const before = event.data.previous_attributes?.amount_refunded;
      return {
        about: "refund",
        paymentId: charge.metadata.paymentId ?? null,
        providerPaymentId,
        amountMicros: toMicros(charge.amount),
        currency: charge.currency.toUpperCase(),
        refundedMicros: toMicros(charge.amount_refunded),
        beforeMicros: before === undefined ? null : toMicros(before),
      };
    }
    // Stripe may report one failed refund by several of these events.
    case "refund.failed":
    case "refund.updated":
    case "charge.refund.updated":
      return ofRefund(event.data.object);
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated": {
      const dispute = event.data.object;
      const providerPaymentId = idOf(dispute.payment_intent);
      if (!providerPaymentId) return null;
      return {
        about: "dispute",
        disputeId: dispute.id,
        providerPaymentId,
        amountMicros: toMicros(dispute.amount),
        currency: dispute.currency.toUpperCase(),
        outcome: toOutcome(dispute.status),
      };
    }
    default:
      return null;
  }
}

function ofSession(
  session: Stripe.Checkout.Session,
  state: Extract<PaymentNews, { about: "checkout" }>["state"],
): PaymentNews {
  return {
    about: "checkout",
    sessionId: session.id,
    paymentId: session.metadata?.paymentId ?? session.client_reference_id ?? null,
    organizationId: session.metadata?.organizationId ?? null,
    providerPaymentId: idOf(session.payment_intent),
    customerId: idOf(session.customer),
    state,
    amountMicros: session.amount_total === null ? null : toMicros(session.amount_total),
    taxMicros: toMicros(session.total_details?.amount_tax ?? 0),
    currency: session.currency?.toUpperCase() ?? null,
  };
}

/** Reports a refund only if it failed; the charge's event reports the others. */
function ofRefund(refund: Stripe.Refund): PaymentNews | null {
  const reason = whyFailed(refund);
  const providerPaymentId = idOf(refund.payment_intent);
  if (reason === null || !providerPaymentId) return null;
  return {
    about: "failed_refund",
    providerRefundId: refund.id,
    refundId: refund.metadata?.refundId ?? null,
    paymentId: refund.metadata?.paymentId ?? null,
    providerPaymentId,
    amountMicros: toMicros(refund.amount),
    currency: refund.currency.toUpperCase(),
    reason,
  };
}

/** Stripe's reason; null if the refund has not failed. */
function whyFailed({ status, failure_reason }: Stripe.Refund): string | null {
  if (status !== "failed" && status !== "canceled") return null;
  return failure_reason ?? `the refund is ${status}`;
}

function toOutcome(status: string): DisputeOutcome {
  if (status === "lost") return "lost";
  return status === "won" || status === "warning_closed" || status === "prevented" ? "won" : "open";
}
