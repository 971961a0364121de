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
  /** The model that answered, by the provider's own word. */
  providerModel: z.string().nullable(),
  httpStatus: z.int().nullable(),
  errorCode: z.string().nullable(),
  /** The tier that was asked for last. Null: no request left. */
  tier: Tier.nullable(),
  /** A definite no to a cheaper tier, after which the same request went out once more on standard. */
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
  /** Requests the provider took on, or may have: 2 where an answer that did not fit was given back once to be repaired. */
  submissions: z.int(),
  /** Definite refusals for want of capacity, each followed by another try. */
  capacityRejections: z.int(),
  startedAt: DateTime,
  submissionBegunAt: DateTime.nullable(),
  answeredAt: DateTime.nullable(),
});

/** One of `media.adapters`: LoRA weights as they were when the execution was admitted. */
export const ReceiptAdapter = z
  .object({
    adapterId: z.string(),
    displayName: z.string(),
    /** Null where it was named by its id. */
    alias: z.string().nullable(),
    aliasVersionId: z.string().nullable(),
    aliasVersionNumber: z.int().nullable(),
    weight: z.number(),
    /** What the weights answer to; never put into a prompt by the service. */
    triggerWords: z.array(z.string()),
    source: z.object({
      kind: AdapterSourceKind,
      ref: z.string(),
      revision: z.string().nullable(),
      filePath: z.string().nullable(),
      provider: z.string().nullable(),
    }),
    /** Of the weights; null where their source does not tell. */
    sha256: Sha256.nullable(),
    /** The request named none: it is the project's default. */
    byDefault: z.boolean(),
  })
  .meta({ id: "ReceiptAdapter" });
export type ReceiptAdapter = z.output<typeof ReceiptAdapter>;

/** EdDSA (Ed25519) over the canonical body: everything but this member and `provenance.receiptHash`. */
export const ReceiptSignature = z
  .object({ alg: z.literal("EdDSA"), keyId: z.string(), value: z.string() })
  .meta({ id: "ReceiptSignature" });

/** What an execution was, as evidence: hashes and figures, never content. What is not known is null, never zero. */
export const Receipt = z
  .object({
    schemaVersion: z.literal("service.receipt.v1"),
    receiptId: z.string(),
    jobId: z.string(),
    capabilityKey: z.string(),
    status: JobStatus,
    principalId: z.string(),
    principalKind: z.string(),
    /** The person behind the principal: of a key, who created it, or the key itself where no one is known. */
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
    /** Of the canonical request, settings included. */
    requestHash: z.string(),
    /** Null: the request was not kept, and no one knows any more. */
    inputHash: Sha256.nullable(),
    /** Null: nothing came back. */
    outputHash: Sha256.nullable(),
    /** The limits and caps that held, defaults filled in. */
    settings: JsonObject,
    admission: z.object({
      admitted: z.boolean(),
      rejectionCode: z.string().nullable(),
      rejectionMessage: z.string().nullable(),
    }),
    route: z.object({
      provider: z.string().nullable(),
      model: z.string().nullable(),
      /** The provider's own interface that was called. */
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
    /** Of an execution of several calls, each in its order: `main` is the last one. Absent: it was one call. */
    stages: z
      .array(
        z.object({
          attemptId: z.string(),
          stage: z.string(),
          provider: z.string(),
          model: z.string(),
          usage: JsonObject.nullable(),
          /** At list price; null: unknown. */
          cost: Money.nullable(),
        }),
      )
      .optional(),
    logicalAttempts: z.int(),
    /** How often a request left for the provider. */
    providerSubmissions: z.int(),
    providerSubmission: Submission,
    capacityRejections: z.int(),
    /** Where the sent request differs from the caller's; `from` is null where the caller left it to us. */
    rewrites: z.array(
      z.object({ field: z.string(), from: JsonValue, to: z.union([z.string(), z.number()]) }),
    ),
    /** What was tried in place of what was chosen: other routes, or `processing:flex->standard`. */
    fallbacks: z.array(z.string()),
    /** The tier the work ran on; where no answer tells, the one asked for last. Null: no provider was asked. */
    processingTier: Tier.nullable(),
    /** The tier that was asked for first. */
    requestedProcessingTier: Tier.nullable(),
    /** Why another tier ran than was asked for first: it was refused, or the provider served standard all the same. */
    processingFallback: z
      .object({ from: Tier, to: Tier, reason: z.enum(["refused", "served_standard"]) })
      .nullable(),
    /** Taken off the provider's token rates; 0 unless deferred work ran. */
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
