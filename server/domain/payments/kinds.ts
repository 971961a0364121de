import type { RefundReason } from "@/server/contract/commissions";
import { moveBalance, walletAccount } from "@/server/domain/billing";
import type { Ctx, Role } from "@/server/domain/ctx";
import type { Transaction } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";

export type Paid = {
  paymentId: string;
  organizationId: string;
  /** The purchased thing, for kinds that sell one. */
  subjectId: string | null;
  isTest: boolean;
  /** Payment time by the provider's clock, but never later than ours. */
  paidAt: Date;
};

/**
 * A kind of purchase. It defines the checkout's title, the payers, the credited account and what a booking
 * changes; everything else is common to all kinds.
 */
export type PaymentKind = {
  /** Title on the checkout. It must never change, because a repeated request must be identical. */
  title(subjectId: string | null): string;
  /** Path of the page to which the payer returns. It must never change either. */
  returnPath(subjectId: string | null): string;
  /** Lowest role that may pay. */
  leastRole: Role;
  /** True if tax is added in installations that charge it. */
  isTaxed: boolean;
  /** Ledger account that receives the money. */
  account(paid: Paid): string;
  /**
   * Locks the rows that its bookings change. It runs before the payment is locked, which prevents
   * deadlocks.
   */
  lock?(client: Transaction, subjectId: string): Promise<void>;
  /** Throws if the purchase is no longer possible. Called before the built-in test checkout pays. */
  refuse?(ctx: Ctx, subjectId: string): Promise<void>;
  /**
   * Runs in the transaction that books the payment. A returned reason rejects the payment, and the whole
   * amount is refunded.
   */
  onPaid(client: Transaction, ctx: Ctx, paid: Paid, micros: Micros): Promise<RefundReason | null>;
  /** Runs in the transaction that books a further returned amount. `returned` reports only the increase. */
  onReturned(client: Transaction, ctx: Ctx, paid: Paid, returned: ReturnedAmount): Promise<void>;
  /**
   * Runs in the transaction that books a reversal: part of the returned money is ours again, because a
   * refund failed or a dispute was won.
   */
  onReversed(client: Transaction, ctx: Ctx, paid: Paid, cameBack: Reversal): Promise<void>;
  /** Runs in the transaction that records a failed or rejected refund; a person has to look at it. */
  onRefundFailed?(client: Transaction, ctx: Ctx, refund: { id: string; subjectId: string }): Promise<void>;
};

type ReturnedAmount = {
  /** Micros in the currency of the credit, without tax. */
  micros: Micros;
  /** True if the whole amount has been returned. */
  isWhole: boolean;
  /** Note of the operator who requested the refund; null if there is none. */
  note: string | null;
};

type Reversal = {
  /** Micros in the currency of the credit, without tax. */
  micros: Micros;
  /** True if the whole amount had been returned. */
  wasWhole: boolean;
};

const kinds = new Map<string, PaymentKind>();

/** Registers a kind of purchase. Each domain module that sells something calls this when it loads. */
export function definePaymentKind(name: string, kind: PaymentKind): void {
  kinds.set(name, kind); // a development server defines a kind again when its file changes
}

export function kindOf(name: string): PaymentKind {
  const kind = kinds.get(name);
  if (!kind) throw new Error(`there is no payment kind ${name}`);
  return kind;
}

definePaymentKind("top_up", {
  title: () => "Capstan wallet top-up",
  returnPath: () => "/billing",
  leastRole: "admin",
  isTaxed: false,
  account: ({ organizationId }) => walletAccount(organizationId),
  async onPaid(client, ctx, { organizationId, isTest }, amountMicros) {
    await moveBalance(client, { organizationId, isTest, amountMicros, at: ctx.now() });
    return null;
  },
  onReturned: (client, ctx, { organizationId, isTest }, { micros }) =>
    moveBalance(client, { organizationId, isTest, amountMicros: -micros, at: ctx.now() }),
  onReversed: (client, ctx, { organizationId, isTest }, { micros }) =>
    moveBalance(client, { organizationId, isTest, amountMicros: micros, at: ctx.now() }),
});
