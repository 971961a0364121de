import type { Micros } from "@/server/money";

/** What is to be paid, as a provider has to know it. */
export type CheckoutOrder = {
  /** Ours; also the key by which a repeated request is one. */
  paymentId: string;
  organizationId: string;
  currency: string;
  /** A whole number of cents. */
  amountMicros: Micros;
  /** What the payer reads. */
  title: string;
  email: string | null;
  /** The payer, as the provider has called them before. */
  customerId: string | null;
  successUrl: string;
  cancelUrl: string;
  expiresAt: Date;
};

/** A page of the provider on which a person pays. */
export type OpenedCheckout = { sessionId: string; url: string };

/** What a message tells of a payment. Each is a state and not a step: told twice or late it says the same. */
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
      amountMicros: Micros | null;
      currency: string | null;
    }
  | {
      about: "refund";
      paymentId: string | null;
      providerPaymentId: string;
      amountMicros: Micros;
      currency: string;
      /** Everything given back so far. */
      refundedMicros: Micros;
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
export type PaymentMessage = { id: string; type: string; isTest: boolean; news: PaymentNews | null };

/** A way to pay. The product knows nothing of a vendor but this. */
export type PaymentProvider = {
  name: "stripe" | "test";
  /** Money of the sandbox: fills test wallets only. */
  isTest: boolean;
  /** The least it takes. */
  leastMicros: Micros;
  openCheckout(order: CheckoutOrder): Promise<OpenedCheckout>;
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
}
