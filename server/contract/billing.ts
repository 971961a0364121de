import { z } from "zod";
import { DateTime, Money, pageLimit, queryFlag } from "./common";
import { BILLING_CURRENCIES } from "./enums";

export { TOP_UP_PRESETS } from "./enums";

const Id = z.string().max(64);

/** The organization is required only if the caller belongs to several. */
export const BillingQuery = z.object({ organizationId: Id.optional() });

/** The currency a customer is charged in. The wallet itself is in US dollars. */
export const BillingCurrency = z.enum(BILLING_CURRENCIES);
export type BillingCurrency = z.output<typeof BillingCurrency>;

/** An exchange rate as integers: one unit of the base currency is `rateScaled` / 10^`scale` of the quote currency. */
export const ScaledFxRate = z
  .object({
    rateScaled: z.int(),
    scale: z.int(),
    baseCurrency: z.string(),
    quoteCurrency: z.string(),
    /** `operator`: a setting of this installation. `development`: a built-in rate for trials only. */
    source: z.string().nullish(),
    asOf: z.string().nullish(),
  })
  .meta({ id: "ScaledFxRate" });
export type ScaledFxRate = z.output<typeof ScaledFxRate>;

export const WalletMoney = z
  .object({
    /** The prepaid balance minus reservations. A refund of money that is already spent can make it negative. */
    available: Money,
    /** Reserved from balance and allowance for executions that have not ended. */
    reserved: Money,
    balance: Money,
    /** The one-time credit for use before any payment. */
    allowance: z.object({ granted: Money, used: Money, reserved: Money, remaining: Money }),
  })
  .meta({ id: "WalletMoney" });
export type WalletMoney = z.output<typeof WalletMoney>;

export const Wallet = WalletMoney.extend({
  organizationId: z.string(),
  billingCurrency: BillingCurrency,
  /** The maximum share of the allowance that one execution can use. */
  trialCeiling: Money,
  serviceFeeBps: z.int(),
  /** Test money, which never pays a real provider. */
  test: WalletMoney,
  /**
   * The rate for displaying amounts to accounts that are billed in another currency; null if they are billed in US
   * dollars.
   */
  fx: ScaledFxRate.nullable(),
}).meta({ id: "Wallet" });
export type Wallet = z.output<typeof Wallet>;

export const WalletTransactionsQuery = BillingQuery.extend({
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,17}$/, "is not valid for this list; start again without a cursor")
    .optional(),
  limit: pageLimit(200, 50),
  /** True lists test money only, false live money only. */
  test: queryFlag.optional(),
});
export type WalletTransactionsQuery = z.output<typeof WalletTransactionsQuery>;

export const WalletTransaction = z
  .object({
    /** Id of the ledger posting; one transaction can have a posting in the wallet and one in the allowance. */
    entryId: z.string(),
    transactionId: z.string(),
    account: z.enum(["wallet", "allowance"]),
    kind: z.string(),
    /** Negative if money left the account. */
    amount: Money,
    test: z.boolean(),
    projectId: z.string().nullable(),
    jobId: z.string().nullable(),
    /** A comparison that is not judged yet; the amount is its total. */
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
    /** The credit to buy, in micros of US dollars; must be whole cents. */
    amountMicros: z.int().positive().max(MOST_MICROS),
    /** The key of an offered amount; `amountMicros` must be equal to that amount. */
    presetKey: z.string().min(1).max(64).nullish(),
  })
  .meta({ id: "WalletTopUpRequest" });
export type WalletTopUpRequest = z.output<typeof WalletTopUpRequest>;

/** The payment provider's page on which a person pays. */
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
/** Limits of a plan; null means no limit. */
export const PlanLimits = z
  .object({
    /** Members and open invitations together. */
    users: limit(1),
    /** Counts active projects. */
    projects: limit(1),
    /** Counts active environments of one project; every project starts with two. */
    environments: limit(2),
    /** Counts keys that are not revoked, replaced in a rotation or expired. */
    apiKeys: limit(1),
    /** Jobs that run at the same time; further jobs wait in the queue. */
    concurrentDurableJobs: limit(1),
    /** Jobs that have not ended. */
    activeDurableJobs: limit(1),
    /** Synchronous and pinned executions within one clock hour. */
    lightweightInferencesPerHour: limit(1),
    /** The longest time content is kept, except content that is kept until it is deleted. */
    historyDays: limit(1),
  })
  .meta({ id: "PlanLimits" });
export type PlanLimits = z.output<typeof PlanLimits>;
export type PlanLimit = keyof PlanLimits;

/** Features that a plan can lack. */
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
    /** The `planKey` of the organization's plan. */
    currentPlan: z.string(),
    organizationId: z.string(),
    plans: z.array(Plan),
    /** Limits in force for this organization: those of its plan, changed by what an operator agreed with it. */
    limits: PlanLimits,
    features: PlanFeatures,
    /** Current use of each limit. */
    used: z.object({
      users: z.int(),
      projects: z.int(),
      apiKeys: z.int(),
      concurrentDurableJobs: z.int(),
      activeDurableJobs: z.int(),
      /** Executions in the current clock hour; null without a limit, because they are counted only if there is one. */
      lightweightInferencesPerHour: z.int().nullable(),
    }),
  })
  .meta({ id: "PlanList" });
export type PlanList = z.output<typeof PlanList>;

export const PlanCheckoutRequest = z.strictObject({ planKey: z.string().min(1).max(128) });

export const PaymentState = z.enum(["open", "paid", "failed", "expired"]);
export type PaymentState = z.output<typeof PaymentState>;
export const PaymentView = z
  .object({
    paymentId: z.string(),
    organizationId: z.string(),
    kind: z.string(),
    title: z.string(),
    provider: z.string(),
    state: PaymentState,
    /** The payer has paid and the money has not arrived yet. This can also hold for an expired checkout. */
    processing: z.boolean(),
    /** `amount` is the price before tax, `tax` the tax the provider added, `credit` the value that is bought. */
    amount: Money,
    tax: Money,
    credit: Money,
    /** The part of amount and tax that has been refunded so far. */
    refunded: Money,
    fx: ScaledFxRate.nullable(),
    test: z.boolean(),
    /** Path of the page that started the payment. */
    returnPath: z.string(),
    createdAt: DateTime,
    expiresAt: DateTime,
    paidAt: DateTime.nullable(),
  })
  .meta({ id: "Payment" });
export type PaymentView = z.output<typeof PaymentView>;

/** State of a payment's refund. `done`: the provider accepted it. `failed`: an operator must act. */
export const RefundState = z.enum(["pending", "done", "failed"]);
export type RefundState = z.output<typeof RefundState>;

export const PaymentRef = z.object({ paymentId: Id });
