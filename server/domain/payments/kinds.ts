import type { RefundReason } from "@/server/contract/commissions";
import { moveBalance, walletAccount } from "@/server/domain/billing";
import type { Ctx, Role } from "@/server/domain/ctx";
import type { Transaction } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";

export type Paid = {
  paymentId: string;
  organizationId: string;
  /** What is bought, for kinds that buy one thing. */
  subjectId: string | null;
  isTest: boolean;
  /** When it was paid, as the provider says. */
  paidAt: Date;
};

/** What can be paid for. A kind says where its money goes; the rest is the same for all. */
export type PaymentKind = {
  /** What the payer reads on the checkout. The same for ever: a repeated request has to be the same. */
  title(subjectId: string | null): string;
  /** The page that started it, from the root, to which the payer returns. The same for ever, too. */
  returnPath(subjectId: string | null): string;
  /** The least role of those who may pay it. */
  leastRole: Role;
  /** Is tax added, where the installation asks for it? */
  isTaxed: boolean;
  /** The ledger's account that gets the money. */
  account(paid: Paid): string;
  /** Locks what its bookings change. Called before the payment itself is locked, and so is never waited for crosswise. */
  lock?(client: Transaction, subjectId: string): Promise<void>;
  /** Refuses, before anything is paid, what cannot be bought any more. */
  refuse?(ctx: Ctx, subjectId: string): Promise<void>;
  /** In the transaction that books it: this was paid. A reason: it is not wanted, and goes back whole. */
  onPaid(client: Transaction, ctx: Ctx, paid: Paid, micros: Micros): Promise<RefundReason | null>;
  /** In the transaction that books it: this much more went back. Each micro is reported once. */
  onReturned(client: Transaction, ctx: Ctx, paid: Paid, returned: Returned): Promise<void>;
  /** In the transaction that books it: this much of what had gone back is ours again; a refund failed, or a dispute was won. */
  onReversed(client: Transaction, ctx: Ctx, paid: Paid, cameBack: Reversal): Promise<void>;
  /** The provider will not give it back, or could not: somebody has to look. In the transaction that writes it down. */
  onRefundFailed?(client: Transaction, ctx: Ctx, refund: { id: string; subjectId: string }): Promise<void>;
};

export type Returned = {
  /** In the units of what was bought. */
  micros: Micros;
  /** Has the whole amount gone back? */
  isWhole: boolean;
  /** What an operator wrote who asked for it. */
  note: string | null;
};

export type Reversal = {
  /** In the units of what was bought. */
  micros: Micros;
  /** Had the whole amount gone back? */
  wasWhole: boolean;
};

const kinds = new Map<string, PaymentKind>();

/** Adds something that can be paid for. A noun that sells calls it when it is loaded. */
export function definePaymentKind(name: string, kind: PaymentKind): void {
  kinds.set(name, kind); // again, where a development server loads a changed file anew
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
