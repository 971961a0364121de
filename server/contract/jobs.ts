import { z } from "zod";
import { Charge, ChargeEstimates, ProviderCostEstimatedMicros, ProviderCostMicros } from "./charge";
import {
  DateTime,
  JsonObject,
  JsonValue,
  PathId,
  pageLimit,
  queryFlag,
  SoughtKey,
  wholeNumber,
} from "./common";
import { JOB_OUTCOMES, JOB_STATUSES } from "./enums";
import { MatureContentTrait, MaturityRating, MaturitySource } from "./envelope";
import { ReceiptPricing } from "./pricing";

export { TERMINAL } from "./enums";

export const JobStatus = z.enum(JOB_STATUSES);
export type JobStatus = z.output<typeof JobStatus>;

export const JobRef = z.object({ job_id: PathId });
/** Shorter than the timeouts of common proxies and clients. */
const MOST_WAIT_SECONDS = 30;
export const GetJob = z.object({
  waitSeconds: wholeNumber(0, MOST_WAIT_SECONDS).default(0).meta({
    description:
      "Waits until the job's status changes, at most so many seconds. An ended job is returned at once.",
  }),
});
export const ExecutionRef = z.object({ execution_id: PathId });
export const ProjectRef = z.object({ project_id: PathId });

export const JobArtifactRef = z
  .object({
    artifactId: z.string(),
    mediaType: z.string(),
    kind: z.string(),
    downloadPath: z.string().nullable(),
    sha256: z.string().nullable(),
    byteLength: z.int().nullable(),
    label: z.string().nullable(),
    filename: z.string().nullable(),
    variantIndex: z.int().nullable(),
    sliceCellId: z.string().nullable(),
    slotStatus: z.string().nullable(),
    durationMs: z.int().optional().describe("For audio and video: the length measured in the file."),
    selected: z.boolean().optional(),
  })
  .meta({ id: "JobArtifactRef" });
export type JobArtifactRef = z.output<typeof JobArtifactRef>;

export const VariantSet = z
  .object({
    schemaVersion: z.literal("service.variant-set.v1"),
    requestedCount: z.int(),
    completedCount: z.int(),
    failedCount: z.int(),
    selectedArtifactId: z.string().nullable(),
  })
  .meta({ id: "VariantSet" });

export const JobError = z
  .looseObject({
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    terminal: z.boolean(),
    resolution: z.string().nullable(),
  })
  .meta({ id: "JobError" });
export type JobError = z.output<typeof JobError>;

export const JobProgress = z.object({
  phase: z.string(),
  step: z.string(),
  updatedAt: DateTime,
  percent: z.number().nullish(),
  etaSeconds: z.int().nullish(),
});

/** The facts for an approval decision; those of a blind job do not identify its provider. Steps can add fields for the reviewer. */
export const JobApproval = z
  .object({
    reason: z.string(),
    message: z.string(),
    step: z.string().nullable(),
    estimatedCost: z.number().describe("`chargeEstimatedMicros` in dollars."),
    maximumCost: z.number().describe("`chargeMaximumMicros` in dollars."),
    ...ChargeEstimates,
    threshold: z.number().nullable(),
    currency: z.string(),
    requestedAt: DateTime,
    deadlineAt: DateTime.nullable(),
    whoMayDecide: z.object({
      roles: z.array(z.string()),
      keyScope: z.string(),
      differentPersonRequired: z.boolean(),
    }),
    approvalUrl: z.string(),
    approvePath: z.string(),
    rejectPath: z.string(),
  })
  .catchall(z.unknown()) // JSON; with a named schema, some generators would retype every field above
  .meta({ id: "JobApproval" });
export type JobApproval = z.output<typeof JobApproval>;

/** Consents that actions with a price or an agreement need; Capstan itself checks the amount. */
export const JobApproveBody = z
  .strictObject({
    authorizedMaxAmount: z.number().min(0).max(1e9).nullish(),
    domain: z.string().max(253).nullish(),
    registrant: JsonObject.nullish(),
    firstYearPriceUsd: z.number().min(0).max(1e9).nullish(),
    renewalPriceUsd: z.number().min(0).max(1e9).nullish(),
    porkbunAgreementVersion: z.string().max(255).nullish(),
    agreeToPorkbunRegistrationAgreement: z.boolean().nullish(),
    recipientPorkbunUsername: z.string().max(255).nullish(),
  })
  .nullish();
export type JobApproveBody = z.output<typeof JobApproveBody>;

/**
 * The comparison a job competes in. Until it is judged, every answer leaves out the facts that identify the job's
 * provider.
 */
export const CompetesIn = z
  .object({ comparisonId: z.string(), isJudged: z.boolean() })
  .meta({ id: "JobComparison" });

/** Facts about the answered request: the source of its idempotency key, and whether it was a replay. */
export const Idempotency = z
  .object({ source: z.enum(["client", "minted"]), replayed: z.boolean() })
  .meta({ id: "Idempotency" });
export type Idempotency = z.output<typeof Idempotency>;

export const Job = z
  .object({
    jobId: z.string(),
    capabilityKey: z.string(),
    capability: z.string(),
    status: JobStatus,
    projectId: z.string(),
    productId: z.string(),
    environment: z.string(),
    externalRef: z.string().nullable(),
    tags: z.array(z.string()),
    metadata: JsonObject,
    correlationId: z.string().nullable(),
    taskKind: z.string().nullable(),
    idempotencyKey: z.string(),
    idempotency: Idempotency.optional().describe("In the answer to a submission alone."),
    createdAt: DateTime,
    startedAt: DateTime.nullable(),
    completedAt: DateTime.nullable(),
    estimatedCost: z.number().nullable().describe("`providerCostEstimatedMicros` in dollars."),
    actualCost: z
      .number()
      .nullable()
      .describe("`providerCostMicros` in dollars. What the customer pays is `charge`."),
    providerCostEstimatedMicros: ProviderCostEstimatedMicros,
    providerCostMicros: ProviderCostMicros,
    currency: z.string(),
    charge: Charge.nullable().describe("What the customer pays. Null while its comparison is not judged."),
    /**
     * `deferred`: on the provider's cheaper tier, unless the provider refuses it. Null if the job calls no provider, and
     * while its comparison is not judged.
     */
    processing: z.enum(["standard", "deferred"]).nullable(),
    /** A person's later finding about a charge that was unknown at the end; the sealed receipt does not change. */
    chargeResolution: z
      .object({
        outcome: z.enum(["charged", "not_charged"]),
        chargedMicros: z.int(),
        charged: z.number(),
        resolvedAt: DateTime,
      })
      .nullable(),
    dataClassification: z.string(),
    retentionRequirement: z.string(),
    maturityRating: MaturityRating.nullable(),
    matureContentTraits: z.array(MatureContentTrait),
    maturitySource: MaturitySource.nullable(),
    pricing: ReceiptPricing.nullable(),
    artifacts: z.array(JobArtifactRef),
    variantSet: VariantSet.nullable(),
    selectedArtifactId: z.string().nullable(),
    primaryArtifactId: z.string().nullable(),
    receiptId: z.string().nullable(),
    typedOutput: JsonValue,
    outputs: JsonValue,
    warnings: z.array(JsonObject),
    error: JobError.nullable(),
    progress: JobProgress.nullable(),
    diagnostics: z
      .object({ backendKind: z.string(), backendState: z.string(), backendId: z.string() })
      .nullable(),
    requestSnapshot: JsonObject.nullable(),
    nextAction: z.enum([
      "poll",
      "download_artifacts",
      "retry_new",
      "present_approval",
      "inspect_error",
      "stop",
    ]),
    pollAfterSeconds: z.int().nullable(),
    retry: z.object({ sameKey: z.boolean(), newKeySafe: z.boolean() }),
    approval: JobApproval.nullable(),
    retryOf: z.string().nullable(),
    comparison: CompetesIn.nullable(),
  })
  .meta({ id: "Job" });
export type Job = z.output<typeof Job>;

export const JobResult = z
  .object({
    jobId: z.string(),
    status: JobStatus,
    typedOutput: JsonValue,
    outputPayloadRef: z.string().nullable(),
    payloadState: z.string().nullable(),
    artifacts: z.array(JobArtifactRef),
    error: JobError.nullable(),
  })
  .meta({ id: "JobResult" });
export type JobResult = z.output<typeof JobResult>;

export const InvocationResult = z
  .object({
    executionId: z.string(),
    idempotency: Idempotency.optional(),
    status: z.string(),
    resolvedProvider: z.string().nullable(),
    resolvedModel: z.string().nullable(),
    externalRef: z.string().nullable(),
    tags: z.array(z.string()),
    metadata: JsonObject,
    typedOutput: JsonValue,
    outputPayloadRef: z.string().nullable(),
    generatedArtifacts: z.array(z.string()),
    usage: z
      .object({
        inputTokens: z.int().nullable(),
        outputTokens: z.int().nullable(),
        estimatedCost: z.number().describe("`providerCostEstimatedMicros` in dollars."),
        actualCost: z
          .number()
          .describe("The same as `actualCost` of the result: 0 also where it is not known."),
        providerCostEstimatedMicros: ProviderCostEstimatedMicros,
        providerCostMicros: ProviderCostMicros,
        currency: z.string(),
      })
      .nullable(),
    actualCost: z
      .number()
      .describe(
        "Cost of the provider's work, in dollars at list price; 0 also where it is not known, so read `providerCostMicros`. What the customer pays is `charge`.",
      ),
    providerCostMicros: ProviderCostMicros,
    charge: Charge,
    terminationReason: z.string().nullable(),
    receiptId: z.string().nullable(),
    errorCode: z.string().nullable(),
    dispatchStatus: z.string().nullable(),
    warnings: z.array(JsonObject),
  })
  .meta({ id: "InvocationResult" });
export type InvocationResult = z.output<typeof InvocationResult>;

/** Median duration of earlier runs like this one, and the number of those runs. */
export const UsualRun = z.object({ medianMs: z.number(), runs: z.int() });
export type UsualRun = z.output<typeof UsualRun>;

export const JobListItem = z
  .object({
    jobId: z.string(),
    status: JobStatus,
    capabilityKey: z.string(),
    capability: z.string(),
    createdAt: DateTime,
    completedAt: DateTime.nullable(),
    artifactCount: z.int(),
    errorCode: z.string().nullable(),
    selectedArtifactId: z.string().nullable(),
    receiptId: z.string().nullable(),
    actualCost: z
      .number()
      .nullable()
      .describe("`providerCostMicros` in dollars. What the customer pays is `charge`."),
    providerCostMicros: ProviderCostMicros,
    charge: Charge.nullable().describe("What the customer pays. Null while its comparison is not judged."),
    comparison: CompetesIn.nullable(),
  })
  .meta({ id: "ProjectJobListItem" });
export type JobListItem = z.output<typeof JobListItem>;

/** A job that needs an operator: the reason and the start of the wait, without any content. */
export const AttentionItem = z
  .object({
    jobId: z.string(),
    projectId: z.string(),
    organizationId: z.string(),
    capabilityKey: z.string(),
    createdAt: DateTime,
    since: DateTime,
    reason: z.string(),
    step: z.string(),
    isAnswerKept: z.boolean(),
    providerCost: z.number().nullable(),
    projectName: z.string(),
    organizationName: z.string(),
    /** The maximum charge in US dollars, which stays reserved until the job ends. */
    held: z.number(),
  })
  .meta({ id: "AttentionItem" });
export type AttentionItem = z.output<typeof AttentionItem>;

/** Options of a retry. Unknown fields are ignored. */
export const JobRetryBody = z
  .object({
    acceptPossibleDuplicateCharge: z.boolean().nullish().meta({
      description:
        "true runs a failed or canceled job again although its provider may have run it and may charge for both.",
    }),
    model: z.string().trim().min(1).max(256).nullish().meta({
      description: "Runs the same request on this model instead, as `provider/model` or a model's id.",
    }),
  })
  .meta({ id: "JobRetry" });
export type JobRetryBody = z.output<typeof JobRetryBody>;

/** Actions on the job that the caller is allowed now; the panel shows their buttons. */
export const JobRights = z.object({
  cancel: z.boolean(),
  approve: z.boolean(),
  reject: z.boolean(),
  retry: z.boolean(),
  /** The job can be run again, although its provider may have run it and may charge for it. */
  runAgain: z.boolean(),
  operate: z.boolean(),
  /** Why the caller cannot decide on the waiting job; null if they can or if it waits for no decision. */
  whyNotDecide: z.string().nullable(),
});
export type JobRights = z.output<typeof JobRights>;

/** Exact tags; with several, a job must have all of them. */
const TagFilter = z.array(z.string().max(256)).max(32).optional();
export const ListJobs = z.object({
  limit: pageLimit(100, 25),
  cursor: z.string().max(64).optional(),
  tag: TagFilter,
  status: JobStatus.optional(),
  capabilityKey: z.string().max(128).optional(),
  outcome: z.enum(JOB_OUTCOMES).optional().describe("`reusable`: jobs that succeeded and have artifacts."),
  createdAfter: DateTime.optional().describe("Jobs created at this time or later."),
  createdBefore: DateTime.optional().describe("Jobs created before this time."),
  provider: z.string().max(64).optional().describe("The provider that the job was planned on."),
  model: z.string().max(255).optional().describe("The model's id, or `provider/model`."),
  principalId: z.string().max(64).optional().describe("The key, person or embed session that submitted it."),
  idempotencyKey: SoughtKey.optional().describe(
    "Jobs that were submitted with exactly this idempotency key.",
  ),
  minCostUsd: z
    .preprocess(
      (given) => (typeof given === "string" && /^\d+(\.\d+)?$/.test(given) ? Number(given) : given),
      z.number().min(0).max(1_000_000),
    )
    .optional()
    .describe("Jobs that cost at least this; of one that has no cost yet, its estimate."),
});
export type ListJobs = z.output<typeof ListJobs>;
export const ListProjectJobs = ListJobs.extend({ selected: queryFlag.optional() });
export type ListProjectJobs = z.output<typeof ListProjectJobs>;
export const JobPage = z
  .object({ items: z.array(JobListItem), nextCursor: z.string().nullable() })
  .meta({ id: "ProjectJobListResponse" });
export type JobPage = z.output<typeof JobPage>;

export const SelectVariant = z.strictObject({ artifactId: z.string().min(1).max(64) });
