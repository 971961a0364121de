import { z } from "zod";
import { BillingMode, DateTime, JsonObject, Money } from "./common";

/** Service fee on top of the provider's price, in hundredths of a percent. */
export const SERVICE_FEE_BPS = 600;

export const ReceiptQuote = z
  .object({
    quoteId: z.string().nullable(),
    kind: z.enum(["fixed", "estimate", "range"]),
    chargeBasis: Money.nullable(),
    serviceFee: Money.nullable(),
    customerTotal: Money.nullable(),
    maximumCustomerTotal: Money.nullable(),
    expiresAt: DateTime.nullable(),
    pricingInputsHash: z.string().nullable(),
    /** `exact`: a listed price, or the price of counted tokens. `upper_bound`: a documented bound. */
    qualifier: z.enum(["exact", "upper_bound"]).optional(),
  })
  .meta({ id: "ReceiptQuote" });

export const ReceiptPricing = z
  .object({
    quote: ReceiptQuote.nullish(),
    charge: z
      .object({ customerCharge: Money, customerDebit: Money.nullish(), chargedAt: DateTime.nullish() })
      .nullish()
      .describe(
        "What the customer owes the service. `byok`: 0, from the quote on; the list price of the work is `providerCost`.",
      ),
    providerUsage: z
      .object({
        reportedCost: Money.nullish(),
        costBearer: z.enum(["service", "customer", "none", "unknown"]),
      })
      .nullish(),
    providerCost: z
      .object({
        amount: Money.nullable(),
        /** `reported`: named by the provider. `computed`: from its usage at list price. */
        status: z.enum(["reported", "computed", "unknown"]),
        /** `estimated`: the provider reported no usage, so the sent and received data was counted at list price. */
        basis: z.enum(["provider_reported", "list_price", "estimated", "unknown"]),
        priceScheduleId: z.string().nullish(),
      })
      .nullish(),
    policy: z.object({ serviceFeeBps: z.int(), pricingMode: BillingMode }).nullish(),
    mode: BillingMode.nullish(),
    /** For display only: the charge in another currency. */
    presentation: z
      .object({
        convertedTotal: Money,
        fx: z.object({
          rateScaled: z.int(),
          scale: z.int(),
          baseCurrency: z.string(),
          quoteCurrency: z.string(),
          source: z.string().nullish(),
          asOf: z.string().nullish(),
        }),
      })
      .nullish(),
    estimatedProviderPriceBasisMicros: z.int().nullish(),
    /** The cost that the provider reported; null if it reported none. */
    providerReportedCostMicros: z.int().nullish(),
    observedUsage: JsonObject.nullish(),
    serviceInferenceFeeMicros: z.int().default(0),
    customerCharge: z
      .object({
        upstreamMicros: z.int(),
        serviceFeeMicros: z.int(),
        customerTotalMicros: z.int(),
        currency: z.string(),
        lineItems: z.array(
          z.object({
            label: z.string(),
            upstreamMicros: z.int(),
            serviceFeeMicros: z.int().default(0),
            includedProcessing: z.boolean().default(false),
          }),
        ),
      })
      .nullish(),
    service: z.object({ serviceFeeRateBps: z.int(), inferenceFeeMicros: z.int() }).nullish(),
    executionPlanId: z.string().nullish(),
    pricingSnapshotIds: z.array(z.string()).default([]),
    quoteId: z.string().nullish(),
    estimateId: z.string().nullish(),
    pricingVersion: z.string().nullish(),
    pricingInputFingerprint: z.string().nullish(),
    resolvedRoute: JsonObject.nullish(),
    estimatedCharge: Money.nullish(),
    maximumAuthorizedCharge: Money.nullish(),
    actualCharge: Money.nullish(),
    basisEstimated: Money.nullish(),
    basisActual: Money.nullish(),
    /** The provider's price minus the deferred discount; present only if deferred work ran. */
    discountedUpstreamBasisMicros: z.int().nullish(),
    /** The customer's price; null if not settled. */
    price: Money.nullish(),
    fundingSource: z.string().nullish(),
    /** Paid by the one-time allowance; null if not settled. */
    trialCoveredMicros: z.int().nullish(),
    /** Taken from the customer's prepaid balance; null if not settled. */
    customerDebitedMicros: z.int().nullish(),
    /**
     * `covered`: no real money was taken. `charged`: taken from the prepaid balance. `byok`: the customer's own account
     * pays.
     */
    chargeState: z.enum(["covered", "charged", "byok", "unsettled"]).nullish(),
  })
  .meta({ id: "ReceiptPricing" });
export type ReceiptPricing = z.output<typeof ReceiptPricing>;

export const PricingFactor = z.object({
  key: z.string(),
  display: z.string(),
  kind: z.enum(["selection", "usage-ceiling", "measured-usage", "retention"]),
  requiredForEstimate: z.boolean(),
});

export const PricingContract = z
  .object({
    mode: z.enum(["free", "zero", "fixed", "metered", "hybrid"]),
    billingCurrency: z.string(),
    display: z.string(),
    pricingVersion: z.string(),
    estimateRequired: z.boolean(),
    quoteEndpoint: z.string().nullable(),
    estimateEndpoint: z.string().nullable(),
    pricingFactors: z.array(PricingFactor),
    startingAt: Money.nullish(),
    pricingContext: z.enum(["catalog_default", "account"]),
    authoritativeForExecution: z.boolean(),
    examples: z.array(JsonObject),
    billable: z.boolean(),
    /** `requirements`: JSON pointers to the fields that a request to quote must have. */
    quote: z.object({ supported: z.boolean(), requirements: z.array(z.string()) }),
    requiresInput: z.boolean().optional(),
    estimateAvailable: z.boolean().optional(),
    /** Ways to pay that are available here; only in a capability's descriptor. */
    managed: z.boolean().optional(),
    byok: z.boolean().optional(),
  })
  .meta({ id: "RetailPricingContract" });
export type PricingContract = z.output<typeof PricingContract>;

export const ResolvedRoute = z.object({
  billingMode: BillingMode,
  provider: z.string().nullish(),
  model: z.string().nullish(),
  routeKey: z.string().nullish(),
  vendor: z.string().nullish(),
  vendorModel: z.string().nullish(),
});

export const RetailQuote = z
  .object({
    status: z.enum(["ok", "pricing_inputs_required"]),
    missing: z.array(z.string()),
    quoteId: z.string().nullable(),
    estimateId: z.string().nullable(),
    capabilityKey: z.string(),
    pricingVersion: z.string(),
    pricingInputFingerprint: z.string().nullable(),
    pricing: ReceiptPricing.nullable(),
    resolved: ResolvedRoute.nullable(),
    basis: JsonObject,
    expectedCharge: Money.nullable(),
    maximumAuthorizedCharge: Money.nullable(),
    expiresAt: DateTime.nullable(),
    /** Prices of other models that could draw this image. They explain the choice and bind no one. */
    routingAlternatives: z
      .array(ResolvedRoute.extend({ expectedCharge: Money, maximumAuthorizedCharge: Money }))
      .optional(),
    spending: z.literal("none"),
  })
  .meta({ id: "RetailEstimateResponse" });
export type RetailQuote = z.output<typeof RetailQuote>;
