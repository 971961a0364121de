import { z } from "zod";
import { WalletMoney } from "./billing";
import { Charge } from "./charge";
import { wholeNumber } from "./common";
import { USAGE_GROUPS } from "./enums";

const Id = z.string().min(1).max(64);
/** A day in UTC. */
export const Day = z.iso.date();

const whole = z.int();
/** Totals of executions, with amounts in micros of US dollars. */
export const UsageFigures = z
  .object({
    executions: whole,
    succeeded: whole,
    failed: whole,
    canceled: whole,
    /** Executions that have not ended; their cost is added later. */
    unfinished: whole,
    /**
     * Ended executions of comparisons that are not judged. Their outcome and provider are counted after the judgement.
     */
    unjudged: whole,
    providerCostMicros: whole.describe(
      "Cost of the providers' work at list price, as far as it is known, on whoever's account it ran.",
    ),
    /** Ended executions with an unknown provider cost, which `providerCostMicros` leaves out. */
    unknownCosts: whole,
    chargedMicros: whole.describe(
      "What was taken from balance and credits, the fee included. Executions on your own provider accounts are not part of it.",
    ),
    feeMicros: whole.describe(
      "The part of `chargedMicros` that is the service fee; the rest is for the work.",
    ),
    inputTokens: whole,
    outputTokens: whole,
    images: whole,
  })
  .meta({ id: "UsageFigures" });
export type UsageFigures = z.output<typeof UsageFigures>;

const Principal = z.object({
  principalId: z.string(),
  kind: z.enum(["key", "person", "other"]),
  /** A key's name or a person's email address; null for any other or unknown principal. */
  name: z.string().nullable(),
});

/** Usage of live money or of test money; the two are never added. */
export const UsageSide = z
  .object({
    totals: UsageFigures,
    byDay: z.array(UsageFigures.and(z.object({ day: Day }))),
    byProject: z.array(UsageFigures.and(z.object({ projectId: z.string(), name: z.string() }))),
    byCapability: z.array(UsageFigures.and(z.object({ capabilityKey: z.string() }))),
    /** `provider` is null for executions without a provider. */
    byProvider: z.array(UsageFigures.and(z.object({ provider: z.string().nullable() }))),
    byModel: z.array(
      UsageFigures.and(z.object({ provider: z.string().nullable(), model: z.string().nullable() })),
    ),
    byPrincipal: z.array(UsageFigures.and(Principal)),
    byBillingMode: z.array(UsageFigures.and(z.object({ billingMode: z.string() }))),
    funds: WalletMoney.meta({ description: "Balance and credits of the whole organization." }),
  })
  .meta({ id: "UsageSide" });
export type UsageSide = z.output<typeof UsageSide>;

export const BillingSummaryQuery = z.object({
  days: wholeNumber(7, 90).default(30),
  projectId: Id.optional(),
  organizationId: Id.optional(),
});
export type BillingSummaryQuery = z.output<typeof BillingSummaryQuery>;

export const BillingSummary = z
  .object({
    organizationId: z.string(),
    /** Null for the whole organization. */
    projectId: z.string().nullable(),
    days: whole,
    /** The first and the last day counted, in UTC. An execution counts on the day of its submission. */
    from: Day,
    to: Day,
    currency: z.literal("USD"),
    live: UsageSide,
    test: UsageSide,
  })
  .meta({ id: "BillingSummary" });
export type BillingSummary = z.output<typeof BillingSummary>;

export const UsageExportQuery = z.object({
  /** The first day included. */
  from: Day,
  /** The first day not included. */
  to: Day,
  projectId: Id.optional(),
  organizationId: Id.optional(),
});
export type UsageExportQuery = z.output<typeof UsageExportQuery>;

/** Dimensions by which the panel stacks a day's usage. */
export const UsageGroup = z.enum(USAGE_GROUPS);
export type UsageGroup = z.output<typeof UsageGroup>;
export const UsageDaysQuery = z.object({
  project_id: Id,
  days: z.union([z.literal(7), z.literal(30), z.literal(90)]),
});
/** A project's usage per day, in every dimension of the panel's chart. */
export const UsageDays = z.object({
  from: Day,
  to: Day,
  days: z.array(Day),
  rows: z.array(
    UsageFigures.extend({
      day: Day,
      test: z.boolean(),
      capabilityKey: z.string(),
      provider: z.string().nullable(),
      principalId: z.string(),
    }),
  ),
  principals: z.array(Principal),
});
export type UsageDays = z.output<typeof UsageDays>;

/** Cost and payer of one execution; an unknown value is null, never 0. */
export const ExecutionCost = z.object({
  charge: Charge,
  holdState: z.enum(["open", "settled", "released", "ambiguous"]).nullable(),
  /** The service fee within the charge. */
  feeMicros: whole.nullable(),
  providerCostMicros: whole.nullable(),
  paidBy: z.enum(["allowance", "wallet", "own_account", "nobody"]),
  test: z.boolean(),
  /** True if a person decided the charge. */
  corrected: z.boolean(),
});
export type ExecutionCost = z.output<typeof ExecutionCost>;
