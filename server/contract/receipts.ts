import { z } from "zod";
import { AdapterSourceKind } from "./adapters";
import { DateTime, JsonObject, JsonValue, Money } from "./common";
import { JobArtifactRef, JobStatus } from "./jobs";
import { ReceiptPricing } from "./pricing";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Submission = z.enum(["not_attempted", "ambiguous", "attempted"]);
const Tier = z.enum(["standard", "flex"]);

export const RoutingSelection = z
  .object({
    routingPolicy: z.string(),
    selectedPlanId: z.string(),
    selectionReason: z.string(),
    eligiblePlanIds: z.array(z.string()),
    taskFamily: z.string().nullable(),
    computeLevel: z.enum(["auto", "low", "medium", "high"]).nullable(),
    serviceClass: z.enum(["background", "economical", "standard", "priority"]).nullable(),
    validationGate: z
      .object({
        kind: z.enum(["schema", "tool_schema", "capability"]),
        validatorKey: z.string().nullable(),
        parameters: JsonObject,
      })
      .nullable(),
    authorizedFallbackPlanIds: z.array(z.string()),
    evidenceConfidence: z.number().min(0).max(1).nullable(),
    evidenceSourceIds: z.array(z.string()),
  })
  .meta({ id: "RoutingSelection" });

const ReceiptAttempt = z.object({
  attemptId: z.string(),
  number: z.int(),
  providerSubmission: Submission,
  providerRequestId: z.string().nullable(),
  /** The model that answered, as the provider named it. */
  providerModel: z.string().nullable(),
  httpStatus: z.int().nullable(),
  errorCode: z.string().nullable(),
  /** The tier of the last request; null if no request was sent. */
  tier: Tier.nullable(),
  /** A definite refusal of the cheaper tier, after which the same request was sent once more on the standard tier. */
  tierRefusal: z
    .object({
      tier: Tier,
      httpStatus: z.int(),
      message: z.string(),
      providerRequestId: z.string().nullable(),
      submittedAt: DateTime,
      refusedAt: DateTime,
    })
    .nullable(),
  /**
   * Requests sent, except those refused for lack of capacity or for their tier; 2 if an invalid answer was returned once for
   * repair.
   */
  submissions: z.int(),
  /** Definite refusals for lack of capacity. Another submission followed each, unless the execution ended first. */
  capacityRejections: z.int(),
  startedAt: DateTime,
  submissionBegunAt: DateTime.nullable(),
  answeredAt: DateTime.nullable(),
});

/** An item of `media.adapters`: LoRA weights as they were on admission. */
export const ReceiptAdapter = z
  .object({
    adapterId: z.string(),
    displayName: z.string(),
    /** Null if the request named the adapter by its id. */
    alias: z.string().nullable(),
    aliasVersionId: z.string().nullable(),
    aliasVersionNumber: z.int().nullable(),
    weight: z.number(),
    /** Words that trigger the weights; the service never adds them to a prompt. */
    triggerWords: z.array(z.string()),
    source: z.object({
      kind: AdapterSourceKind,
      ref: z.string(),
      revision: z.string().nullable(),
      filePath: z.string().nullable(),
      provider: z.string().nullable(),
    }),
    /** Hash of the weights; null if their source does not provide one. */
    sha256: Sha256.nullable(),
    /** True if the request named no adapter and the project's default applied. */
    byDefault: z.boolean(),
  })
  .meta({ id: "ReceiptAdapter" });
export type ReceiptAdapter = z.output<typeof ReceiptAdapter>;

/**
 * An EdDSA (Ed25519) signature. A job's receipt signs its canonical body: everything except this member and
 * `provenance.receiptHash`.
 */
export const ReceiptSignature = z
  .object({ alg: z.literal("EdDSA"), keyId: z.string(), value: z.string() })
  .meta({ id: "ReceiptSignature" });

/** Evidence of an execution: hashes and figures, never content. An unknown value is null, never zero. */
export const Receipt = z
  .object({
    schemaVersion: z.literal("service.receipt.v1"),
    receiptId: z.string(),
    jobId: z.string(),
    capabilityKey: z.string(),
    status: JobStatus,
    principalId: z.string(),
    principalKind: z.string(),
    /** The person behind the principal. For a key it is the key's creator, or the key itself if that is unknown. */
    submittedBy: z.string().nullable(),
    organizationId: z.string(),
    projectId: z.string(),
    productId: z.string(),
    environment: z.string(),
    externalRef: z.string().nullable(),
    tags: z.array(z.string()),
    metadata: JsonObject,
    correlationId: z.string().nullable(),
    taskKind: z.string().nullable(),
    dataClassification: z.string(),
    retentionRequirement: z.string(),
    maturity: JsonObject.nullable(),
    executionMode: z.string(),
    retryOf: z.string().nullable(),
    /** Hash of the canonical request, including its settings. */
    requestHash: z.string(),
    /** Null if the request was not kept and its hash is unknown. */
    inputHash: Sha256.nullable(),
    /** Null if no output was returned. */
    outputHash: Sha256.nullable(),
    /** Limits in force, with defaults filled in. */
    settings: JsonObject,
    admission: z.object({
      admitted: z.boolean(),
      rejectionCode: z.string().nullable(),
      rejectionMessage: z.string().nullable(),
    }),
    route: z.object({
      provider: z.string().nullable(),
      model: z.string().nullable(),
      /** The provider's interface that was called. */
      api: z.string().nullable(),
      routeBundleVersion: z.string().nullable(),
      routeBundleHash: Sha256.nullable(),
    }),
    routing: RoutingSelection.nullable(),
    targetRouting: z.object({
      profile: z.string().nullable(),
      policyVersion: z.string().nullable(),
      requestedTarget: z.string().nullable(),
      resolvedTarget: z.string().nullable(),
      substituted: z.boolean(),
    }),
    benchmarkContext: z
      .object({
        benchmarkPolicyId: z.string().nullable(),
        workloadProfileId: z.string().nullable(),
        derivedScoreHash: z.string().nullable(),
      })
      .nullable(),
    customerSavings: z
      .object({
        selectedPlanCostMicros: z.int(),
        comparisonBaselineMicros: z.int(),
        baselinePlanId: z.string(),
        estimatedSavingsMicros: z.int(),
        savingsPercent: z.number(),
      })
      .nullable(),
    timestamps: z.object({
      createdAt: DateTime,
      startedAt: DateTime.nullable(),
      completedAt: DateTime,
    }),
    provenance: z.object({
      bundleVersion: z.string().nullable(),
      bundleHash: Sha256.nullable(),
      policyHash: Sha256.nullable(),
      execution: z.enum(["provider", "local"]),
      engine: z.string().nullable(),
      providerBacked: z.boolean(),
      modelBacked: z.boolean(),
      deterministic: z.boolean(),
      receiptHash: Sha256,
    }),
    attempts: z.array(ReceiptAttempt),
    /** Calls of an execution with several, in their order; `main` is the last one. Absent if there was one call. */
    stages: z
      .array(
        z.object({
          attemptId: z.string(),
          stage: z.string(),
          provider: z.string(),
          model: z.string(),
          usage: JsonObject.nullable(),
          /** At list price; null if unknown. */
          cost: Money.nullable(),
        }),
      )
      .optional(),
    logicalAttempts: z.int(),
    /** Total of requests sent to the provider. */
    providerSubmissions: z.int(),
    providerSubmission: Submission,
    capacityRejections: z.int(),
    /**
     * Differences between the caller's request and the sent one; `from` is null if the caller left the choice to the
     * service.
     */
    rewrites: z.array(
      z.object({ field: z.string(), from: JsonValue, to: z.union([z.string(), z.number()]) }),
    ),
    /** Replacements of the chosen route, such as `processing:flex->standard`. */
    fallbacks: z.array(z.string()),
    /** Tier that ran; the requested tier if the provider did not report one. Null if no provider was called. */
    processingTier: Tier.nullable(),
    /** The tier of the first request; null for a job without a provider. */
    requestedProcessingTier: Tier.nullable(),
    /**
     * Why the tier that ran differs from the one requested first: it was refused, or the provider served standard
     * anyway.
     */
    processingFallback: z
      .object({ from: Tier, to: Tier, reason: z.enum(["refused", "served_standard"]) })
      .nullable(),
    /** Discount on the provider's token rates; 0 unless deferred work ran, null for a job without a provider. */
    deferredDiscountBps: z.int().nullable(),
    usage: JsonObject.nullable(),
    text: JsonObject.nullable(),
    media: JsonObject.nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    artifacts: z.array(JobArtifactRef),
    pricing: ReceiptPricing,
    estimatedCost: z.number().nullable().meta({
      deprecated: true,
      description: "`pricing.quote.customerTotal` in dollars: the expected price with the service fee.",
    }),
    actualCost: z.number().nullable().meta({
      deprecated: true,
      description: "`pricing.charge.customerCharge` in dollars. Null: not settled.",
    }),
    currency: z.string().meta({ deprecated: true }),
    holdState: z.enum(["settled", "released", "ambiguous"]).nullable(),
    isTest: z.boolean(),
    signature: ReceiptSignature,
  })
  .meta({ id: "Receipt" });
export type Receipt = z.output<typeof Receipt>;

export const JsonWebKeySet = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        x: z.string(),
        kid: z.string(),
        use: z.literal("sig"),
        alg: z.literal("EdDSA"),
      }),
    ),
  })
  .meta({ id: "JsonWebKeySet" });
export type JsonWebKeySet = z.output<typeof JsonWebKeySet>;

export const SigningKey = z.object({
  keyId: z.string(),
  algorithm: z.literal("EdDSA"),
  active: z.boolean(),
  createdAt: DateTime,
  retiredAt: DateTime.nullable(),
});
export type SigningKey = z.output<typeof SigningKey>;
