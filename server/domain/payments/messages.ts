import { type Ctx, systemClock, systemCtx } from "@/server/domain/ctx";
import { BadSignature, PaymentProviderDown } from "@/server/payments/define";
import { fail } from "@/server/platform/errors/errors";
import { type Applied, applyPaymentMessage } from "./apply";
import { paymentsAreDown } from "./checkout";
import { findStripe } from "./provider";

/** Maximum size of a message in bytes; those of Stripe have a few thousand. */
export const MOST_MESSAGE_BYTES = 262_144;

/**
 * Receives a Stripe webhook: its raw body and its signature. Refuses it unless Stripe signed it within the
 * last five minutes. Stripe repeats a message until this succeeds.
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
