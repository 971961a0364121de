import { z } from "zod";
import {
  BillingCurrency,
  PaymentRef,
  PaymentView,
  WalletTransaction,
  WalletTransactionPage,
} from "@/server/contract/billing";
import { ListCommissionPayments, PaidCommissionPage } from "@/server/contract/commissions";
import { Role } from "@/server/contract/organizations";
import { ofWork } from "@/server/contract/work";
import * as billing from "@/server/domain/billing";
import { listJoinedOrganizations } from "@/server/domain/organizations";
import * as payments from "@/server/domain/payments";
import * as requests from "@/server/domain/requests"; // registers commissions, which the test checkout shows and pays
import * as api from "@/server/operations/billing";
import { router } from "../init";
import { does, mutation, Nothing, query, reads, widerQuery } from "../of";
import { pageWithWork } from "../works";

const ofOrganization = { needs: ["organizationId"] } as const;
const WorkPage = WalletTransactionPage.extend({ items: z.array(WalletTransaction.extend(ofWork)) });
const Account = z.object({ organizationId: z.string(), displayName: z.string(), role: Role });

export const billingRouter = router({
  /** The organizations whose money the person may see: only their own, even for operators. */
  accounts: reads(Nothing, z.array(Account), listJoinedOrganizations),
  /** The payment provider of this installation; null if there is none. */
  checkout: reads(
    Nothing,
    z
      .object({ provider: z.string(), test: z.boolean(), currencies: z.array(BillingCurrency).readonly() })
      .nullable(),
    () => {
      const offered = payments.checkoutOffered();
      return offered && { ...offered, currencies: billing.payableIn() };
    },
  ),
  wallet: query(api.getWallet, ofOrganization),
  transactions: widerQuery(api.listWalletTransactions, {
    ...ofOrganization,
    shown: WorkPage,
    view: pageWithWork,
  }),
  /** Payments for commissions, which are not wallet transactions. */
  commissions: reads(ListCommissionPayments, PaidCommissionPage, requests.listPaid),
  topUp: mutation(api.createTopUpSession, ofOrganization),
  setCurrency: mutation(api.setBillingCurrency, ofOrganization),
  payment: reads(PaymentRef, PaymentView, (ctx, input) => payments.payment(ctx, input.paymentId)),
  testPayment: reads(PaymentRef, PaymentView, (ctx, input) => payments.testPayment(ctx, input.paymentId)),
  decideTestPayment: does(
    PaymentRef.extend({ decision: z.enum(["pay", "cancel"]) }),
    PaymentView,
    (ctx, input) => payments.decideTestPayment(ctx, input.paymentId, input.decision),
  ),
});
