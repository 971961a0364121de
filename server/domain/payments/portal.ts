import type { PortalSession } from "@/server/contract/billing";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { allPlans } from "@/server/domain/plans";
import { PaymentProviderDown } from "@/server/payments/define";
import { fail } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";
import { customerOf, paymentsAreDown } from "./checkout";
import { requireStripe } from "./provider";

/**
 * Opens Stripe's page with an organization's invoices and payment methods. For admins, after the first
 * payment.
 */
export async function openPortal(ctx: Ctx, named: string | undefined): Promise<PortalSession> {
  const organizationId = billedOrganization(ctx, named, "admin");
  const stripe = requireStripe();
  const customerId = await customerOf(organizationId, stripe.name, stripe.isTest);
  if (!customerId) fail("NotFound", "The billing portal is available after your first payment.");
  try {
    return { url: await stripe.openPortal!(customerId, `${publicUrl}/billing`) }; // Stripe's adapter has it
  } catch (cause) {
    if (!(cause instanceof PaymentProviderDown)) throw cause;
    ctx.log.error({ err: cause }, "the payment portal could not be opened");
    paymentsAreDown();
  }
}

/** Always refuses: the plan of a self-hosted installation costs nothing, so no plan is for sale. */
export function startPlanCheckout(ctx: Ctx, named: string | undefined, planKey: string): never {
  billedOrganization(ctx, named, "admin");
  requireStripe();
  fail("InvalidInput", `The plan ${planKey} cannot be bought in this installation. Ask your operator.`, {
    field: "planKey",
    plans: allPlans().map(({ planKey }) => planKey),
  });
}
