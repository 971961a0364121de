import type { Micros } from "@/server/platform/money";

/** An order to be paid, with the facts that a provider needs. */
export type CheckoutOrder = {
  /** Our id; also the idempotency key of the request. */
  paymentId: string;
  organizationId: string;
  currency: string;
  /** A whole number of cents; before tax. */
  amountMicros: Micros;
  /** True if the provider is to add tax. */
  isTaxed: boolean;
  /** Shown to the payer. */
  title: string;
  email: string | null;
  /** The provider's id of the payer; null if the payer is new to the provider. */
  customerId: string | null;
  successUrl: string;
  cancelUrl: string;
  createdAt: Date;
  /** Time at which the page closes; later if the provider has a longer minimum. */
  expiresAt: Date;
};

/** The provider's page on which a person pays. */
export type OpenedCheckout = { sessionId: string; url: string };

/** A request to refund the part of a payment that has not been refunded yet. */
export type RefundOrder = {
  /** Our id; also the idempotency key of the request. */
  refundId: string;
  paymentId: string;
  providerPaymentId: string;
  /** Total paid, tax included. */
  paidMicros: Micros;
  currency: string;
  at: Date;
};

/**
 * The provider's answer to a refund. `taken`: the money goes back or already has; `message` is null if the provider reports the
 * refund later. `refused`: a retry would not help.
 */
export type RefundAnswer =
  | { state: "taken"; message: PaymentMessage | null }
  | { state: "refused"; reason: string };

/** A payment's state as a message reports it. It is a state and not a step, so a repeated message reports the same. */
export type PaymentNews =
  | {
      about: "checkout";
      sessionId: string;
      paymentId: string | null;
      organizationId: string | null;
      providerPaymentId: string | null;
      customerId: string | null;
      /** open: the checkout is complete and the money still on its way. */
      state: "open" | "paid" | "failed" | "expired";
      /** The total, tax included. */
      amountMicros: Micros | null;
      /** The part that the provider added as tax. */
      taxMicros: Micros;
      currency: string | null;
    }
  | {
      about: "refund";
      paymentId: string | null;
      providerPaymentId: string;
      /** Total paid, tax included. */
      amountMicros: Micros;
      currency: string;
      /** Total refunded so far, less the refunds that had failed by then. */
      refundedMicros: Micros;
      /** `refundedMicros` before this refund; null if the provider does not report it. */
      beforeMicros: Micros | null;
    }
  | {
      /** The refund was accepted and then did not reach the payer, so the money is ours again. */
      about: "failed_refund";
      providerRefundId: string;
      /** Our refund id; null if we did not start the refund. */
      refundId: string | null;
      paymentId: string | null;
      providerPaymentId: string;
      /** Amount of this refund alone. */
      amountMicros: Micros;
      currency: string;
      /** The provider's wording. */
      reason: string;
    }
  | {
      about: "dispute";
      disputeId: string;
      providerPaymentId: string;
      amountMicros: Micros;
      currency: string;
      outcome: DisputeOutcome;
    };

export type DisputeOutcome = "open" | "won" | "lost";

/** One message from a provider; `news` is null if the message concerns nothing that we store. */
export type PaymentMessage = {
  id: string;
  type: string;
  /** Time of the event, by the provider's clock. */
  at: Date;
  isTest: boolean;
  news: PaymentNews | null;
};

/** A payment provider. The product knows vendors only through this interface. */
export type PaymentProvider = {
  name: "stripe" | "test";
  /** True for sandbox money, which fills test wallets only. */
  isTest: boolean;
  /** Smallest amount that the provider accepts. */
  leastMicros: Micros;
  /** True if the provider can calculate tax on request. */
  addsTax: boolean;
  openCheckout(order: CheckoutOrder): Promise<OpenedCheckout>;
  /** Closes an unpaid page. Resolves once the page is closed, for whatever reason. */
  closeCheckout(sessionId: string): Promise<void>;
  refund(order: RefundOrder): Promise<RefundAnswer>;
  /** Reads a signed message; throws BadSignature. */
  readMessage?(raw: string, signature: string, now: Date): PaymentMessage;
  /** Finds our payment that a provider's payment is for; null if there is none. */
  findPaymentId?(providerPaymentId: string): Promise<string | null>;
  /** Returns the URL of the page with a payer's invoices and payment methods. */
  openPortal?(customerId: string, returnUrl: string): Promise<string>;
};

/** Thrown for a message that is not signed by its sender, or was signed too long ago. */
export class BadSignature extends Error {
  override readonly name = "BadSignature";
}

/** Thrown when the provider rejected the request or did not answer. */
export class PaymentProviderDown extends Error {
  override readonly name = "PaymentProviderDown";
  constructor(
    message: string,
    options?: ErrorOptions,
    /** True if the provider is still working on the same request. */
    readonly isBusy = false,
  ) {
    super(message, options);
  }
}
