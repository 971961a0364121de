import { z } from "zod";
import {
  BillingCurrencySettings,
  BillingCurrencyUpdate,
  CheckoutSession,
  PaymentRef,
  PaymentView,
  Wallet,
  WalletTopUpRequest,
  WalletTransactionPage,
  WalletTransactionsQuery,
} from "@/server/contract/billing";
import { ListCommissionPayments, PaidCommissionPage } from "@/server/contract/commissions";
import { Role } from "@/server/contract/organizations";
import * as billing from "@/server/domain/billing";
import { listOrganizations } from "@/server/domain/organizations";
import * as payments from "@/server/domain/payments";
import * as requests from "@/server/domain/requests"; // also sells commissions, which the test checkout shows and pays
import { human, router } from "./init";

const OfOrganization = z.object({ organizationId: z.string().max(64) });
const Account = z.object({ organizationId: z.string(), displayName: z.string(), role: Role });

export const billingRouter = router({
  /** The organizations whose money the person may see: only their own, even for operators. */
  accounts: human.output(z.array(Account)).query(async ({ ctx }) => {
    const organizations = await listOrganizations(ctx);
    return organizations.flatMap(({ organizationId, displayName }) => {
      const role = ctx.principal.memberships.get(organizationId);
      return role ? [{ organizationId, displayName, role }] : [];
    });
  }),
  /** The payment provider of this installation; null if there is none. */
  checkout: human
    .output(z.object({ provider: z.string(), test: z.boolean() }).nullable())
    .query(() => payments.checkoutOffered()),
  wallet: human
    .input(OfOrganization)
    .output(Wallet)
    .query(({ ctx, input }) => billing.wallet(ctx, input.organizationId)),
  transactions: human
    .input(
      WalletTransactionsQuery.omit({ test: true }).extend({
        ...OfOrganization.shape,
        test: z.boolean().optional(),
      }),
    )
    .output(WalletTransactionPage)
    .query(({ ctx, input }) => billing.walletTransactions(ctx, input)),
  /** Payments for commissions, which are not wallet transactions. */
  commissions: human
    .input(ListCommissionPayments)
    .output(PaidCommissionPage)
    .query(({ ctx, input }) => requests.listPaid(ctx, input)),
  topUp: human
    .input(OfOrganization.extend(WalletTopUpRequest.shape))
    .output(CheckoutSession)
    .mutation(({ ctx, input: { organizationId, ...request } }) =>
      payments.startTopUp(ctx, organizationId, request),
    ),
  setCurrency: human
    .input(OfOrganization.extend(BillingCurrencyUpdate.shape))
    .output(BillingCurrencySettings)
    .mutation(({ ctx, input: { organizationId, ...update } }) =>
      billing.setBillingCurrency(ctx, organizationId, update),
    ),
  payment: human
    .input(PaymentRef)
    .output(PaymentView)
    .query(({ ctx, input }) => payments.payment(ctx, input.paymentId)),
  testPayment: human
    .input(PaymentRef)
    .output(PaymentView)
    .query(({ ctx, input }) => payments.testPayment(ctx, input.paymentId)),
  decideTestPayment: human
    .input(PaymentRef.extend({ decision: z.enum(["pay", "cancel"]) }))
    .output(PaymentView)
    .mutation(({ ctx, input }) => payments.decideTestPayment(ctx, input.paymentId, input.decision)),
});
