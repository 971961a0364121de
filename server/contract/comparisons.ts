import { z } from "zod";
import { Charge, ChargeEstimates, ProviderCostMicros } from "./charge";
import { DateTime, IdempotencyKey, JsonObject, JsonValue, PathId, pageLimit } from "./common";
import { COMPARISON_INTENTS, COMPARISON_STATUSES, FEWEST_COMPETITORS, MOST_COMPETITORS } from "./enums";
import { Context, Tags } from "./envelope";
import { JobArtifactRef, JobError, JobStatus } from "./jobs";
import { ofWork } from "./work";

export { MOST_COMPETITORS } from "./enums";

export const COMPARISON_AXES = ["provider", "recipe", "profile"] as const;

/** One side of a comparison: the provider, the input or the profile to compare with the others. */
export const Competitor = z
  .discriminatedUnion("axis", [
    z.strictObject({
      axis: z.literal("provider"),
      providerPin: z.string().trim().min(1).max(255).meta({
        description:
          "A provider (`openai`), a provider and a modality (`openai-image`), or one of its models (`openai/gpt-image-2`).",
      }),
    }),
    z.strictObject({
      axis: z.literal("recipe"),
      label: z.string().trim().max(255).nullish(),
      inputOverrides: JsonObject.default({}).meta({
        description: "Fields that replace those of `input` for this competitor. Null removes a field.",
      }),
    }),
    z.strictObject({
      axis: z.literal("profile"),
      profileKey: z.string().trim().min(1).max(128),
      profileVersion: z.string().trim().max(64).nullish(),
    }),
  ])
  .meta({ id: "ComparisonCompetitor" });
export type Competitor = z.output<typeof Competitor>;

const Competitors = z.array(Competitor).min(FEWEST_COMPETITORS).max(MOST_COMPETITORS);
export const ComparisonIntent = z.enum(COMPARISON_INTENTS);

export const ComparisonCreateRequest = z
  .strictObject({
    context: Context.prefault({}),
    competitors: Competitors,
    input: JsonObject.default({}),
    intent: ComparisonIntent.default("exploratory"),
    workloadTags: JsonObject.default({}),
    tags: Tags.describe("At most 32 labels of at most 256 characters. The job of each entry has them, too."),
    idempotencyKey: IdempotencyKey,
  })
  .meta({ id: "ComparisonCreateRequest" });
export type ComparisonCreateRequest = z.output<typeof ComparisonCreateRequest>;

export const ComparisonEstimateRequest = z
  .strictObject({ context: Context.optional(), competitors: Competitors, input: JsonObject.default({}) })
  .meta({ id: "ComparisonEstimateRequest" });
export type ComparisonEstimateRequest = z.output<typeof ComparisonEstimateRequest>;

/** Prices of one competitor; the dollar amounts are what the caller would be charged. */
const Estimated = z.object({
  currency: z.literal("USD"),
  estimatedCost: z.number().describe("`chargeEstimatedMicros` in dollars."),
  estimatedCostMicros: z.int().describe("The same as `chargeEstimatedMicros`."),
  maximumCost: z.number().describe("`chargeMaximumMicros` in dollars."),
  maximumCostMicros: z.int().describe("The same as `chargeMaximumMicros`."),
  ...ChargeEstimates,
});

/** The price of a comparison. Its ids cannot be used as `execution.quoteId`. */
export const ComparisonEstimate = z
  .object({
    estimateKind: z.literal("comparison"),
    isRetailQuote: z.literal(false),
    capabilityKey: z.string(),
    competitors: z.array(
      Estimated.extend({
        competitor: Competitor,
        billingMode: z.enum(["byok", "managed"]).nullable(),
      }),
    ),
    total: Estimated,
  })
  .meta({ id: "ComparisonEstimate" });
export type ComparisonEstimate = z.output<typeof ComparisonEstimate>;

/** Competitors that the caller can choose now for a capability. */
export const CompetitorOptions = z
  .object({
    capabilityKey: z.string(),
    axes: z.array(z.enum(COMPARISON_AXES)),
    /** Used if a comparison names no competitors: one of each provider, at most four. There can be fewer than two. */
    defaultCompetitors: z.array(Competitor),
    providers: z.array(
      z.object({
        providerPin: z.string(),
        provider: z.string(),
        model: z.string(),
        title: z.string(),
        available: z.boolean(),
        reason: z.string().nullable(),
      }),
    ),
    profiles: z.array(
      z.object({
        profileKey: z.string(),
        profileVersion: z.string(),
        title: z.string(),
        description: z.string(),
      }),
    ),
    recipes: z.object({ supported: z.boolean(), inputFields: z.array(z.string()) }),
  })
  .meta({ id: "ComparisonCompetitorOptions" });
export type CompetitorOptions = z.output<typeof CompetitorOptions>;

export const ComparisonRef = z.object({ comparison_id: PathId });
export const ComparisonStatus = z.enum(COMPARISON_STATUSES);

/** A competitor as requested. Its overrides are null if the content is not kept or was pruned. */
const ShownCompetitor = z
  .object({
    axis: z.enum(COMPARISON_AXES),
    providerPin: z.string().optional(),
    label: z.string().nullish(),
    inputOverrides: JsonObject.nullable().optional(),
    profileKey: z.string().optional(),
    profileVersion: z.string().optional(),
  })
  .meta({ id: "ComparisonShownCompetitor" });
export type ShownCompetitor = z.output<typeof ShownCompetitor>;

/**
 * Identity and cost of an entry, present only after the judgement. Provider and model are null if the entry ran without
 * a provider.
 */
const Revealed = z.object({
  competitor: ShownCompetitor,
  /** The pin that was requested, or the model that was chosen. */
  providerPin: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  cost: z.number().nullable().describe("`providerCostMicros` in dollars."),
  costMicros: z.int().nullable().describe("The same as `providerCostMicros`."),
  providerCostMicros: ProviderCostMicros,
  startedAt: DateTime.nullable(),
  completedAt: DateTime.nullable(),
  receiptId: z.string().nullable(),
});

export const ComparisonEntry = z
  .object({
    entryId: z.string(),
    jobId: z.string(),
    status: JobStatus,
    artifacts: z.array(JobArtifactRef),
    typedOutput: JsonValue,
    error: JobError.nullable(),
    charge: Charge.nullable().describe("What the customer pays. Null while the comparison is not judged."),
    ...Revealed.partial().shape,
  })
  .meta({ id: "ComparisonEntry" });
export type ComparisonEntry = z.output<typeof ComparisonEntry>;

export const ComparisonDecision = z.enum(["winner", "tie", "none"]);
export const Judgement = z
  .object({
    decision: ComparisonDecision,
    overallWinnerEntryId: z.string().nullable(),
    valueWinnerEntryId: z.string().nullable(),
    judgedBy: z.string(),
    judgedAt: DateTime,
  })
  .meta({ id: "ComparisonJudgement" });

export const Comparison = z
  .object({
    comparisonId: z.string(),
    capabilityKey: z.string(),
    projectId: z.string(),
    environment: z.string(),
    status: ComparisonStatus,
    intent: ComparisonIntent,
    workloadTags: JsonObject,
    tags: z.array(z.string()),
    idempotencyKey: z.string().nullable(),
    createdAt: DateTime,
    /** Total of all entries. The cost is known when all have ended. */
    estimatedCost: z.number().describe("`chargeEstimatedMicros` in dollars."),
    maximumCost: z.number().describe("`chargeMaximumMicros` in dollars."),
    cost: z.number().nullable().describe("`providerCostMicros` in dollars."),
    ...ChargeEstimates,
    chargedMicros: z
      .int()
      .nullable()
      .describe("The sum of the entries' `charge`. Null: not judged, or one is not known."),
    providerCostMicros: ProviderCostMicros,
    currency: z.literal("USD"),
    /** In random order. */
    entries: z.array(ComparisonEntry),
    judgement: Judgement.nullable(),
    nextAction: z.enum(["poll", "judge", "stop"]),
    pollAfterSeconds: z.int().nullable(),
  })
  .meta({ id: "Comparison" });
export type Comparison = z.output<typeof Comparison>;

export const JudgementRequest = z
  .strictObject({
    decision: ComparisonDecision,
    overallWinnerEntryId: z.string().min(1).max(64).nullish(),
    /** The best value for its expected price, judged before prices are shown; the winner if left out. */
    valueWinnerEntryId: z.string().min(1).max(64).nullish(),
  })
  .meta({ id: "ComparisonJudgementRequest" });
export type JudgementRequest = z.output<typeof JudgementRequest>;

/** A comparison as the panel shows it. */
export const ComparisonShown = Comparison.extend({
  /** An email address or a key's name; null before the judgement. */
  judgedByName: z.string().nullable(),
  /** Is the output private content, which is shown only on request? */
  isPrivate: z.boolean(),
  ...ofWork,
});
export type ComparisonShown = z.output<typeof ComparisonShown>;

export const ComparisonLine = z.object({
  comparisonId: z.string(),
  capabilityKey: z.string(),
  status: ComparisonStatus,
  intent: ComparisonIntent,
  createdAt: DateTime,
  entryCount: z.int(),
  decision: ComparisonDecision.nullable(),
});
export type ComparisonLine = z.output<typeof ComparisonLine>;

export const ListComparisons = z.object({
  limit: pageLimit(100, 25),
  cursor: z.string().max(64).optional(),
  status: ComparisonStatus.optional(),
  capabilityKey: z.string().max(128).optional(),
  judged: z.boolean().optional(),
});
export type ListComparisons = z.output<typeof ListComparisons>;
export const ComparisonPage = z.object({
  items: z.array(ComparisonLine),
  nextCursor: z.string().nullable(),
});
export type ComparisonPage = z.output<typeof ComparisonPage>;
