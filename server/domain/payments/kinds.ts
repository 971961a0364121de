import type { Queryable } from "@/server/db";
import { moveBalance, walletAccount } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import type { Micros } from "@/server/money";

export type Paid = {
  paymentId: string;
  organizationId: string;
  /** What is bought, for kinds that buy one thing. */
  subjectId: string | null;
  isTest: boolean;
};

/** What can be paid for. A kind says where its money goes; the rest is the same for all. */
export type PaymentKind = {
  /** What the payer reads on the checkout. */
  title: string;
  /** The page that started it, to which the payer returns. */
  returnPath: string;
  /** The ledger's account that gets the money. */
  account(paid: Paid): string;
  /**
   * In the transaction that books it: this much more was paid (or, negative, went back). Each micro is told once,
   * however often and in whatever order the provider tells of it.
   */
  onMoney(client: Queryable, ctx: Ctx, paid: Paid, micros: Micros): Promise<void>;
};

const kinds = new Map<string, PaymentKind>();

/** Adds something that can be paid for. A noun that sells calls it once, when it is loaded. */
export function definePaymentKind(name: string, kind: PaymentKind): void {
  if (kinds.has(name)) throw new Error(`the payment kind ${name} is defined twice`);
  kinds.set(name, kind);
}

export function kindOf(name: string): PaymentKind {
  const kind = kinds.get(name);
  if (!kind) throw new Error(`there is no payment kind ${name}`);
  return kind;
}

definePaymentKind("top_up", {
  title: "Capstan wallet top-up",
  returnPath: "/billing",
  account: ({ organizationId }) => walletAccount(organizationId),
  onMoney: (client, ctx, { organizationId, isTest }, amountMicros) =>
    moveBalance(client, { organizationId, isTest, amountMicros, at: ctx.now() }),
});
