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
import { SHORT_PAGES } from "@/server/contract/common";
import * as billing from "@/server/domain/billing";
import * as payments from "@/server/domain/payments";
import { byKeysAndPeople, byPeople, operations } from "./define";
import "@/server/domain/requests"; // registers commissions, whose payments a process handles only with this import

const read = operations("Billing", byKeysAndPeople("billing:read"));
const people = operations("Billing", byPeople);

export const getWallet = read.get("/v1/billing/wallet", {
  summary: "Retrieve the wallet",
  description:
    "What is available for managed work, in US dollars. The top level is live money and `test` is sandbox money; the two are never mixed. If you belong to several organizations, name one in `organizationId`.",
  query: BillingQuery,
  output: Wallet,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => billing.wallet(ctx, query.organizationId),
});

export const listWalletTransactions = read.get("/v1/billing/wallet/transactions", {
  summary: "List wallet and allowance entries, newest first",
  description: `Entries of the append-only ledger; they never change. Set \`test\` to true for sandbox money only, or to false for live money only. A key bound to a project does not see the charges of other projects. ${SHORT_PAGES}`,
  query: WalletTransactionsQuery,
  output: WalletTransactionPage,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => billing.walletTransactions(ctx, query),
});

export const createTopUpSession = people.post("/v1/billing/wallet/top-up-session", {
  summary: "Create a checkout session to top up the wallet",
  description:
    "`amountMicros` is the amount added to the wallet, in US dollars; an organization billed in Canadian dollars pays the equivalent. Outside production and without Stripe, a built-in test checkout fills the test wallet; Stripe with test-mode keys does the same. For owners and admins.",
  query: BillingQuery,
  body: WalletTopUpRequest,
  example: { amountMicros: 20_000_000 },
  output: CheckoutSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query, body }) => payments.startTopUp(ctx, query.organizationId, body),
});

export const setBillingCurrency = people.patch("/v1/billing/currency", {
  summary: "Set an organization's billing currency",
  description: "The wallet stays in US dollars. For owners and admins.",
  query: BillingQuery,
  body: BillingCurrencyUpdate,
  example: { billingCurrency: "USD" },
  output: BillingCurrencySettings,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query, body }) => billing.setBillingCurrency(ctx, query.organizationId, body),
});

export const listPlans = read.get("/v1/billing/plans", {
  summary: "List plans, with the caller's limits and usage",
  description:
    "`limits` and `features` are those of the organization's plan, including any custom terms set by an operator; null means no limit. `used` is current usage. If you belong to several organizations, name one in `organizationId`.",
  query: BillingQuery,
  output: PlanList,
  errors: ["NotFound", "InvalidInput"],
  run: (ctx, { query }) => billing.plans(ctx, query.organizationId),
});

export const createPlanCheckout = people.post("/v1/billing/checkout-session", {
  summary: "Create a checkout session for a plan",
  description: "A self-hosted installation does not sell plans.",
  query: BillingQuery,
  body: PlanCheckoutRequest,
  example: { planKey: "builder" },
  output: CheckoutSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: async (ctx, { query, body }) => payments.startPlanCheckout(ctx, query.organizationId, body.planKey),
});

export const createPortalSession = people.post("/v1/billing/portal-session", {
  summary: "Create a portal session for invoices and payment methods",
  query: BillingQuery,
  output: PortalSession,
  errors: ["NotFound", "InvalidInput", "billing_not_configured"],
  run: (ctx, { query }) => payments.openPortal(ctx, query.organizationId),
});
