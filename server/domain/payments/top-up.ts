import {
  type CheckoutSession,
  type PaymentView,
  TOP_UP_PRESETS,
  type WalletTopUpRequest,
} from "@/server/contract/billing";
import { roleIn } from "@/server/domain/access";
import { billingSettings } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { startCheckout } from "./checkout";
import { requirePayer } from "./payer";
import { findPaymentProvider } from "./provider";
import { findPayment, type PaymentRow, toPaymentView } from "./rows";

/** Opens a checkout that tops up the wallet, in the billing currency of the organization. For admins. */
export async function startTopUp(
  ctx: Ctx,
  named: string | undefined,
  { amountMicros, presetKey }: WalletTopUpRequest,
): Promise<CheckoutSession> {
  requirePayer(ctx);
  const organizationId = billedOrganization(ctx, named, "admin");
  const offered = new Map<string, number>(Object.entries(TOP_UP_PRESETS)).get(presetKey ?? "");
  if (offered !== undefined && offered !== amountMicros) {
    throw new ValidationFault([
      { loc: ["body", "presetKey"], msg: `means amountMicros ${offered}`, type: "preset_mismatch" },
    ]);
  }
  const { billingCurrency: currency } = await billingSettings(organizationId);
  return startCheckout(ctx, {
    organizationId,
    kind: "top_up",
    priceMicros: amountMicros,
    price: "dollars",
    currency,
    presetKey,
  });
}

/** Returns the provider of new payments, for a page that offers them; null if there is none. */
export function checkoutOffered(): { provider: string; test: boolean } | null {
  const provider = findPaymentProvider();
  return provider && { provider: provider.name, test: provider.isTest };
}

/**
 * Returns a payment of one of the caller's organizations, or any payment for an operator. Throws NotFound
 * otherwise.
 */
export async function payment(ctx: Ctx, paymentId: string): Promise<PaymentView> {
  return toPaymentView(await seenPayment(ctx, paymentId), ctx.now());
}

export async function seenPayment(ctx: Ctx, paymentId: string): Promise<PaymentRow> {
  const row = await findPayment(paymentId);
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such payment.");
  return row;
}
