import type { AskedRefund, RetryRefund } from "@/server/contract/commissions";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { kindOf } from "./kinds";
import { renewRefund } from "./refund-rows";
import { handOnRefund } from "./refunds";
import { findPayment, lockPayment } from "./rows";

/**
 * Requests a failed refund again, whether an operator or the system started it. For operators. Attempts are
 * not limited, because the refund was promised. `refundId` names the failed refund, so a repeated request
 * starts only one successor and returns the current one.
 */
export async function retryRefund(ctx: Ctx, { paymentId, refundId }: RetryRefund): Promise<AskedRefund> {
  access.authorize(ctx, "operator");
  const located = (await findPayment(paymentId)) ?? noSuchRefund();
  const refund = await inTransaction(async (client) => {
    if (located.subject_id !== null) await kindOf(located.kind).lock?.(client, located.subject_id);
    const row = await lockPayment.first(client, { paymentId });
    return (await renewRefund(client, ctx, row!, refundId)) ?? noSuchRefund(); // payments are never deleted
  });
  return { refundId: refund.id, paymentId, state: await handOnRefund(ctx, refund) };
}

function noSuchRefund(): never {
  fail("NotFound", "There is no such refund.");
}
