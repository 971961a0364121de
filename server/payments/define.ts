import type { Micros } from "@/server/platform/money";

/** What is to be paid, as a provider has to know it. */
export type CheckoutOrder = {
  /** Ours; also the key by which a repeated request is one. */
  paymentId: string;
  organizationId: string;
  currency: string;
  /** A whole number of cents; before tax. */
  amountMicros: Micros;
  /** Is tax to be added to it? */
  isTaxed: boolean;
  /** What the payer reads. */
  title: string;
  email: string | null;
  /** The payer, as the provider has called them before. */
  customerId: string | null;
  successUrl: string;
  cancelUrl: string;
  createdAt: Date;
  /** When its page closes; later where a provider keeps every page open for a while. */
  expiresAt: Date;
};

/** A page of the provider on which a person pays. */
export type OpenedCheckout = { sessionId: string; url: string };

/** A payment that is to go back: the part that has not yet. */
export type RefundOrder = {
  /** Ours; also the key by which a repeated request is one. */
  refundId: string;
  paymentId: string;
  providerPaymentId: string;
  /** All that was paid, tax included. */
  paidMicros: Micros;
  currency: string;
  at: Date;
};

/**
 * A provider's answer to a refund. taken: it goes back, or has gone back already; with what the provider reports at
 * once, else it sends a message. refused: asking again will not help.
 */
export type RefundAnswer =
  | { state: "taken"; message: PaymentMessage | null }
  | { state: "refused"; reason: string };

/** What a message reports of a payment. Each is a state and not a step: repeated or late it says the same. */
export type PaymentNews =
  | {
      about: "checkout";
      sessionId: string;
      paymentId: string | null;
      organizationId: string | null;
      providerPaymentId: string | null;
      customerId: string | null;
      /** open: completed, and the money is still on its way. */
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
      /** All that was paid, tax included. */
      amountMicros: Micros;
      currency: string;
      /** Everything given back so far, less what had failed by then. */
      refundedMicros: Micros;
      /** The same before this refund; null if the provider does not say. */
      beforeMicros: Micros | null;
    }
  | {
      /** It was taken, and then did not reach the payer: the money is ours again. */
      about: "failed_refund";
      providerRefundId: string;
      /** Ours; null: it was not asked for by us. */
      refundId: string | null;
      paymentId: string | null;
      providerPaymentId: string;
      /** Of this refund alone. */
      amountMicros: Micros;
      currency: string;
      /** In the provider's words. */
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

/** One message of a provider. Without news it concerns nothing we keep. */
export type PaymentMessage = {
  id: string;
  type: string;
  /** When it happened, by the provider's clock. */
  at: Date;
  isTest: boolean;
  news: PaymentNews | null;
};

/** A way to pay. The product knows nothing of a vendor but this. */
export type PaymentProvider = {
  name: "stripe" | "test";
  /** Money of the sandbox: fills test wallets only. */
  isTest: boolean;
  /** The least it takes. */
  leastMicros: Micros;
  /** Does it work out tax where it is asked to? */
  addsTax: boolean;
  openCheckout(order: CheckoutOrder): Promise<OpenedCheckout>;
  /** Closes a page on which no one has paid. Resolves once it is not open any more, for whatever reason. */
  closeCheckout(sessionId: string): Promise<void>;
  refund(order: RefundOrder): Promise<RefundAnswer>;
  /** Reads a message its sender has signed; throws BadSignature. */
  readMessage?(raw: string, signature: string, now: Date): PaymentMessage;
  /** Asks which of our payments one of theirs is for; null: none. */
  findPaymentId?(providerPaymentId: string): Promise<string | null>;
  /** Opens the page where a payer finds invoices and means of payment. */
  openPortal?(customerId: string, returnUrl: string): Promise<string>;
};

/** A message that its sender did not sign, or too long ago. */
export class BadSignature extends Error {
  override readonly name = "BadSignature";
}

/** The provider did not do what it was asked. */
export class PaymentProviderDown extends Error {
  override readonly name = "PaymentProviderDown";
  constructor(
    message: string,
    options?: ErrorOptions,
    /** It works on the same request already. */
    readonly isBusy = false,
  ) {
    super(message, options);
  }
}
