import { z } from "zod";
import { DateTime, Money, pageLimit, queryFlag } from "./common";
import { BILLING_CURRENCIES } from "./enums";

export { TOP_UP_PRESETS } from "./enums";

const Id = z.string().max(64);

/** Names the organization, where the caller belongs to several. */
export const BillingQuery = z.object({ organizationId: Id.optional() });

/** What a person can be billed in. The wallet itself is in US dollars. */
export const BillingCurrency = z.enum(BILLING_CURRENCIES);
export type BillingCurrency = z.output<typeof BillingCurrency>;

/** An exchange rate as a whole number: `rateScaled` / 10^`scale` of the quote currency for one of the base currency. */
export const ScaledFxRate = z
  .object({
    rateScaled: z.int(),
    scale: z.int(),
    baseCurrency: z.string(),
    quoteCurrency: z.string(),
    /** operator: a setting of this installation; development: built in, for trying out only. */
    source: z.string().nullish(),
    asOf: z.string().nullish(),
  })
  .meta({ id: "ScaledFxRate" });
export type ScaledFxRate = z.output<typeof ScaledFxRate>;

export const WalletMoney = z
  .object({
    /** The prepaid balance less what is reserved; below zero after a refund of what was spent. */
    available: Money,
    /** Set aside for executions that have not ended, of balance and allowance. */
    reserved: Money,
    balance: Money,
    /** What may be run once before anything is paid. */
    allowance: z.object({ granted: Money, used: Money, reserved: Money, remaining: Money }),
  })
  .meta({ id: "WalletMoney" });
export type WalletMoney = z.output<typeof WalletMoney>;

export const Wallet = WalletMoney.extend({
  organizationId: z.string(),
  billingCurrency: BillingCurrency,
  /** Most of the allowance that one execution may take. */
  trialCeiling: Money,
  serviceFeeBps: z.int(),
  /** Test money: never spent on a real provider. */
  test: WalletMoney,
  /** Of accounts that are billed in another currency: the rate at which amounts may be shown. */
  fx: ScaledFxRate.nullable(),
}).meta({ id: "Wallet" });
export type Wallet = z.output<typeof Wallet>;

export const WalletTransactionsQuery = BillingQuery.extend({
  /** The `nextCursor` of the previous page. */
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,17}$/, "is not valid for this list; start again without a cursor")
    .optional(),
  limit: pageLimit(200, 50),
  /** Test money only, or live money only. */
  test: queryFlag.optional(),
});
export type WalletTransactionsQuery = z.output<typeof WalletTransactionsQuery>;

export const WalletTransaction = z
  .object({
    /** Of the ledger; one transaction may touch wallet and allowance. */
    entryId: z.string(),
    transactionId: z.string(),
    account: z.enum(["wallet", "allowance"]),
    kind: z.string(),
    /** Negative: it left. */
    amount: Money,
    test: z.boolean(),
    projectId: z.string().nullable(),
    jobId: z.string().nullable(),
    /** A comparison that no one has judged: this is its total. */
    comparisonId: z.string().nullable(),
    paymentId: z.string().nullable(),
    pricingVersion: z.string().nullable(),
    createdAt: DateTime,
  })
  .meta({ id: "WalletTransaction" });
export type WalletTransaction = z.output<typeof WalletTransaction>;

export const WalletTransactionPage = z
  .object({ items: z.array(WalletTransaction), nextCursor: z.string().optional() })
  .meta({ id: "WalletTransactionPage" });
export type WalletTransactionPage = z.output<typeof WalletTransactionPage>;

const MOST_MICROS = 999_999_000_000;
export const WalletTopUpRequest = z
  .strictObject({
    /** What the wallet gets, in micros of US dollars: whole cents. */
    amountMicros: z.int().positive().max(MOST_MICROS),
    /** The name of an amount that was offered; it must be that amount. */
    presetKey: z.string().min(1).max(64).nullish(),
  })
  .meta({ id: "WalletTopUpRequest" });
export type WalletTopUpRequest = z.output<typeof WalletTopUpRequest>;

/** Where a person pays. */
export const CheckoutSession = z
  .object({ url: z.string(), sessionId: z.string(), paymentId: z.string() })
  .meta({ id: "CheckoutSession" });
export type CheckoutSession = z.output<typeof CheckoutSession>;

export const PortalSession = z.object({ url: z.string() }).meta({ id: "PortalSession" });
export type PortalSession = z.output<typeof PortalSession>;

const Locale = z
  .string()
  .max(35)
  .refine((text) => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(text), "must be a locale, e.g. en-CA");
export const BillingCurrencyUpdate = z
  .strictObject({
    billingCurrency: BillingCurrency,
    billingCountry: z
      .string()
      .regex(/^[A-Z]{2}$/, "must be a country code, e.g. CA")
      .nullish(),
    billingLocale: Locale.nullish(),
  })
  .meta({ id: "BillingCurrencyUpdate" });
export type BillingCurrencyUpdate = z.output<typeof BillingCurrencyUpdate>;

export const BillingCurrencySettings = z
  .object({
    organizationId: z.string(),
    billingCurrency: BillingCurrency,
    billingCountry: z.string().optional(),
    billingLocale: z.string().optional(),
  })
  .meta({ id: "BillingCurrencySettings" });
export type BillingCurrencySettings = z.output<typeof BillingCurrencySettings>;

const limit = (least: number) => z.int().min(least).max(1_000_000_000).nullable();
/** What a plan bounds. Null: no limit. */
export const PlanLimits = z
  .object({
    /** Members and open invitations. */
    users: limit(1),
    /** Active ones. */
    projects: limit(1),
    /** Active ones of one project; every project starts with two. */
    environments: limit(2),
    /** Working ones. */
    apiKeys: limit(1),
    /** Running at a time; more of them wait. */
    concurrentDurableJobs: limit(1),
    /** Unfinished at a time. */
    activeDurableJobs: limit(1),
    /** Synchronous and pinned executions in one hour of the clock. */
    lightweightInferencesPerHour: limit(1),
    /** Content is kept no longer, but for what is kept until it is deleted. */
    historyDays: limit(1),
  })
  .meta({ id: "PlanLimits" });
export type PlanLimits = z.output<typeof PlanLimits>;
export type PlanLimit = keyof PlanLimits;

/** What a plan may be without. */
export const PlanFeatures = z
  .object({ cancel: z.boolean(), approve: z.boolean(), reject: z.boolean() })
  .meta({ id: "PlanFeatures" });
export type PlanFeatures = z.output<typeof PlanFeatures>;
export type PlanFeature = keyof PlanFeatures;

export const PlanSlug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be a slug: lowercase letters, digits and hyphens")
  .max(64);

export const Plan = z.object({
  planKey: z.string(),
  slug: z.string(),
  displayName: z.string(),
  monthlyUsd: z.number(),
  salesOnly: z.boolean(),
  tagline: z.string(),
  limits: PlanLimits,
  features: PlanFeatures,
});
export type Plan = z.output<typeof Plan>;

export const PlanList = z
  .object({
    /** The `planKey` of the caller's plan. */
    currentPlan: z.string(),
    organizationId: z.string(),
    plans: z.array(Plan),
    /** What holds for this organization: those of its plan, with what an operator agreed with it. */
    limits: PlanLimits,
    features: PlanFeatures,
    /** How much of each limit is used now. */
    used: z.object({
      users: z.int(),
      projects: z.int(),
      apiKeys: z.int(),
      concurrentDurableJobs: z.int(),
      activeDurableJobs: z.int(),
      /** In this hour of the clock; null: there is no limit, and without one they are not counted. */
      lightweightInferencesPerHour: z.int().nullable(),
    }),
  })
  .meta({ id: "PlanList" });
export type PlanList = z.output<typeof PlanList>;

export const PlanCheckoutRequest = z.strictObject({ planKey: z.string().min(1).max(128) });

export const PaymentState = z.enum(["open", "paid", "failed", "expired"]);
export const PaymentView = z
  .object({
    paymentId: z.string(),
    organizationId: z.string(),
    kind: z.string(),
    title: z.string(),
    provider: z.string(),
    state: PaymentState,
    /** The payer has paid, and the money has not arrived yet. True of an expired checkout too, for as long as it may. */
    processing: z.boolean(),
    /** What is paid, before tax; what the provider added as tax; and what is bought for it. */
    amount: Money,
    tax: Money,
    credit: Money,
    /** Of amount and tax, given back so far. */
    refunded: Money,
    fx: ScaledFxRate.nullable(),
    test: z.boolean(),
    /** The page that started it, from the root. */
    returnPath: z.string(),
    createdAt: DateTime,
    expiresAt: DateTime,
    paidAt: DateTime.nullable(),
  })
  .meta({ id: "Payment" });
export type PaymentView = z.output<typeof PaymentView>;

/** Of the refund of a payment. done: the provider took it; failed: an operator has to look. */
export const RefundState = z.enum(["pending", "done", "failed"]);
export type RefundState = z.output<typeof RefundState>;

export const PaymentRef = z.object({ paymentId: Id });
