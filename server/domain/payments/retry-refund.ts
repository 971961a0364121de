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
 * Asks the provider once more for a refund that failed, whether an operator wanted it or it began automatically. For operators,
 * and for as long as it takes: it was promised. The failed one is named, so that however often this is sent one other
 * follows it; who comes later is answered with that.
 */
export async function retryRefund(ctx: Ctx, { paymentId, refundId }: RetryRefund): Promise<AskedRefund> {
  access.authorize(ctx, "operator");
  const located = (await findPayment(paymentId)) ?? noSuchRefund();
  const refund = await inTransaction(async (client) => {
    if (located.subject_id !== null) await kindOf(located.kind).lock?.(client, located.subject_id);
    const rows = await lockPayment.all(client, { paymentId });
    return (await renewRefund(client, ctx, rows[0]!, refundId)) ?? noSuchRefund(); // payments are never deleted
  });
  return { refundId: refund.id, paymentId, state: await handOnRefund(ctx, refund) };
}

function noSuchRefund(): never {
  fail("NotFound", "There is no such refund.");
}
