import { access } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import type { Micros } from "@/server/platform/money";
import { book, moveBalance, walletAccount } from "./book";

export type Credit = { organizationId: string; amountMicros: Micros; isTest: boolean; reason: string };

/**
 * Adds money to an organization's live or test wallet for a stated reason; a negative amount removes it.
 * For operators.
 */
export async function credit(
  ctx: Ctx,
  { organizationId, amountMicros, isTest, reason }: Credit,
): Promise<{ transactionId: string }> {
  access.authorize(ctx, "operator");
  const transactionId = newId("transaction");
  await inTransaction(async (client) => {
    await moveBalance(client, { organizationId, isTest, amountMicros, at: ctx.now() });
    await book(client, {
      transactionId,
      organizationId,
      kind: "grant",
      isTest,
      at: ctx.now(),
      postings: [
        { account: "granted", amountMicros: -amountMicros },
        { account: walletAccount(organizationId), amountMicros },
      ],
    });
    await record(
      ctx,
      {
        organizationId,
        action: "wallet.credited",
        subject: organizationId,
        details: { amountMicros, isTest, reason },
      },
      client,
    );
  });
  return { transactionId };
}
