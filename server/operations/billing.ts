import { endpoint } from "@/server/api/endpoint";
import {
  BillingCurrencySettings,
  BillingCurrencyUpdate,
  BillingQuery,
  CheckoutSession,
  PlanCheckoutRequest,
  PlanList,
  PortalSession,
  Wallet,
  WalletTopUpRequest,
  WalletTransactionPage,
  WalletTransactionsQuery,
} from "@/server/contract/billing";
import * as billing from "@/server/domain/billing";
import * as payments from "@/server/domain/payments";
import "@/server/domain/requests"; // sells commissions: no process knows payments without them

const tags = ["Billing"];
const readers = ["service_principal", "human_session"] as const;
const people = ["human_session"] as const;

export const getWallet = endpoint({
  method: "GET",
  path: "/v1/billing/wallet",
  summary: "Retrieve the wallet",
  description:
    "What is available for managed work, in US dollars. The top level is live money and `test` is sandbox money; the two are never mixed. If you belong to several organizations, name one in `organizationId`.",
  tags,
  auth: readers,
  scope: "billing:read",
  query: BillingQuery,
  output: Wallet,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => billing.wallet(ctx, query.organizationId),
});

export const listWalletTransactions = endpoint({
  method: "GET",
  path: "/v1/billing/wallet/transactions",
  summary: "List wallet and allowance entries, newest first",
  description:
    "Entries of the append-only ledger; they never change. Set `test` to true for sandbox money only, or to false for live money only. A key bound to a project does not see the charges of other projects.",
  tags,
  auth: readers,
  scope: "billing:read",
  query: WalletTransactionsQuery,
  output: WalletTransactionPage,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => billing.walletTransactions(ctx, query),
});

export const createTopUpSession = endpoint({
  method: "POST",
  path: "/v1/billing/wallet/top-up-session",
  summary: "Create a checkout session to top up the wallet",
  description:
    "`amountMicros` is the amount added to the wallet, in US dollars; an organization billed in Canadian dollars pays the equivalent. Outside production and without Stripe, a built-in test checkout fills the test wallet; Stripe with test-mode keys does the same. For owners and admins.",
  tags,
  auth: people,
  query: BillingQuery,
  body: WalletTopUpRequest,
  output: CheckoutSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query, body }) => payments.startTopUp(ctx, query.organizationId, body),
});

export const setBillingCurrency = endpoint({
  method: "PATCH",
  path: "/v1/billing/currency",
  summary: "Set an organization's billing currency",
  description: "The wallet stays in US dollars. For owners and admins.",
  tags,
  auth: people,
  query: BillingQuery,
  body: BillingCurrencyUpdate,
  output: BillingCurrencySettings,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query, body }) => billing.setBillingCurrency(ctx, query.organizationId, body),
});

export const listPlans = endpoint({
  method: "GET",
  path: "/v1/billing/plans",
  summary: "List plans, with the caller's limits and usage",
  description:
    "`limits` and `features` are those of the organization's plan, including any custom terms set by an operator; null means no limit. `used` is current usage. If you belong to several organizations, name one in `organizationId`.",
  tags,
  auth: readers,
  scope: "billing:read",
  query: BillingQuery,
  output: PlanList,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => billing.plans(ctx, query.organizationId),
});

export const createPlanCheckout = endpoint({
  method: "POST",
  path: "/v1/billing/checkout-session",
  summary: "Create a checkout session for a plan",
  description: "A self-hosted installation does not sell plans.",
  tags,
  auth: people,
  query: BillingQuery,
  body: PlanCheckoutRequest,
  output: CheckoutSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: async (ctx, { query, body }) => payments.startPlanCheckout(ctx, query.organizationId, body.planKey),
});

export const createPortalSession = endpoint({
  method: "POST",
  path: "/v1/billing/portal-session",
  summary: "Create a portal session for invoices and payment methods",
  tags,
  auth: people,
  query: BillingQuery,
  output: PortalSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query }) => payments.openPortal(ctx, query.organizationId),
});
