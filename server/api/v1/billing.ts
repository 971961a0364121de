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
  summary: "Read what is there to spend on managed work",
  description:
    "In US dollars. At the top what is live, under `test` what the sandbox spends; the two never meet. A person who belongs to several organizations names one in `organizationId`.",
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
  summary: "List what moved the wallet and the allowance, newest first",
  description:
    "Entries of the append-only ledger: nothing in this list ever changes. `test` true or false shows sandbox or live money only. A key sees the charges of its environment only, and where it is bound to a project of no other.",
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
  summary: "Open a checkout that fills the wallet",
  description:
    "`amountMicros` is what the wallet gets, in US dollars; an account billed in Canadian dollars pays it in those. Outside production and without Stripe a built-in test checkout fills the test wallet; so does Stripe with keys of its test mode. For owners and admins.",
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
  summary: "Choose the currency an organization pays in",
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
  summary: "List the plans of this installation, and what holds for the caller",
  description:
    "`limits` and `features` are those of the organization's plan, with what an operator agreed with it; null is no limit. `used` is counted now. A person who belongs to several organizations names one in `organizationId`.",
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
  summary: "Open a checkout for a plan",
  description: "A self-hosted installation sells none.",
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
  summary: "Open the payment provider's page with invoices and means of payment",
  tags,
  auth: people,
  query: BillingQuery,
  output: PortalSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query }) => payments.openPortal(ctx, query.organizationId),
});
