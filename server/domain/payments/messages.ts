import { type Ctx, systemClock, systemCtx } from "@/server/domain/ctx";
import { BadSignature, PaymentProviderDown } from "@/server/payments/define";
import { fail } from "@/server/platform/errors/errors";
import { type Applied, applyPaymentMessage } from "./apply";
import { paymentsAreDown } from "./checkout";
import { findStripe } from "./provider";

/** Most bytes of a message; Stripe's are a few thousand. */
export const MOST_MESSAGE_BYTES = 262_144;

/**
 * Takes a message of Stripe: its body as it came and its signature. Refuses what Stripe has not signed within the last
 * five minutes. What it answers with success is not sent again.
 */
export async function receiveStripeMessage(
  raw: string,
  signature: string,
  ctx: Ctx = systemCtx("stripe", systemClock),
): Promise<Applied> {
  const stripe = findStripe() ?? fail("NotFound", "There is no webhook endpoint at this path.");
  try {
    const message = stripe.readMessage!(raw, signature, ctx.now()); // Stripe's adapter has it
    return await applyPaymentMessage(ctx, stripe, message);
  } catch (cause) {
    if (cause instanceof BadSignature)
      fail("InvalidRequest", "The webhook's signature is missing, wrong or too old.");
    if (cause instanceof PaymentProviderDown) {
      ctx.log.warn({ err: cause }, "a Stripe webhook names no payment");
      paymentsAreDown();
    }
    throw cause;
  }
}
