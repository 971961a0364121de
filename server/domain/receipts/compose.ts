import { canonicalText, sha256Hex } from "@/server/canonical";
import type { JobArtifactRef, JobStatus } from "@/server/contract/jobs";
import { type Estimate, pricingOf, serviceFee } from "@/server/domain/quotes";
import { receiptIdOf } from "@/server/ids";
import { type Micros, microsToUsd, toMoney } from "@/server/money";
import type { SubmissionState, Usage } from "@/server/providers/define";
import type { Json } from "@/server/step";

/** Everything a receipt says, gathered by the execution that ends. Content stays outside: hashes and figures only. */
export type ReceiptFacts = {
  jobId: string;
  capabilityKey: string;
  status: JobStatus;
  principalId: string;
  principalKind: string;
  organizationId: string;
  projectId: string;
  productId: string;
  environment: string;
  externalRef: string | null;
  tags: string[];
  metadata: unknown;
  correlationId: string | null;
  taskKind: string | null;
  dataClassification: string;
  retentionRequirement: string;
  mode: string;
  requestHash: string;
  inputHash: string;
  outputHash: string | null;
  provider: string | null;
  model: string | null;
  engine: string | null;
  estimate: Estimate;
  quoteId: string | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date;
  artifacts: JobArtifactRef[];
  attempt: {
    attemptId: string;
    number: number;
    submission: SubmissionState;
    providerRequestId: string | null;
    providerModel: string | null;
    httpStatus: number | null;
    capacityRejections: number;
    submissionBegunAt: Date | null;
    answeredAt: Date | null;
  } | null;
  usage: Usage | null;
  error: { code: string; message: string } | null;
  /** What the provider's work cost at list price; null: unknown. */
  costMicros: Micros | null;
  /** What leaves the customer's balance; null: not settled. */
  chargedMicros: Micros | null;
  holdState: "settled" | "released" | "ambiguous" | null;
  isTest: boolean;
};

/** What was asked for by name and what was taken; another model only where the caller allowed it. */
function targetRoutingOf({ requestedTarget, route }: Estimate) {
  const isTaken = requestedTarget === route?.key || requestedTarget === route?.model;
  return {
    requestedTarget,
    resolvedTarget: route?.key ?? null,
    substituted: requestedTarget !== null && route !== null && !isTaken,
  };
}

/** The receipt as canonical text with its hash: SHA-256 of the RFC 8785 form of exactly this body. */
export function composeReceipt(facts: ReceiptFacts): { id: string; body: string; hash: string } {
  const { estimate, attempt } = facts;
  const isProvider = facts.provider !== null;
  const isFree = !isProvider;
  const charged = facts.chargedMicros;
  const fee = facts.costMicros === null ? null : serviceFee(facts.costMicros, estimate.serviceFeeBps);
  const id = receiptIdOf(facts.jobId);
  const fundingSource = facts.isTest
    ? "sandbox"
    : isFree
      ? "none"
      : estimate.billingMode === "byok"
        ? "customer"
        : "unknown";
  const receipt = {
    schemaVersion: "service.receipt.v1",
    receiptId: id,
    jobId: facts.jobId,
    capabilityKey: facts.capabilityKey,
    status: facts.status,
    principalId: facts.principalId,
    principalKind: facts.principalKind,
    organizationId: facts.organizationId,
    projectId: facts.projectId,
    productId: facts.productId,
    environment: facts.environment,
    externalRef: facts.externalRef,
    tags: facts.tags,
    metadata: facts.metadata,
    correlationId: facts.correlationId,
    taskKind: facts.taskKind,
    dataClassification: facts.dataClassification,
    retentionRequirement: facts.retentionRequirement,
    executionMode: facts.mode,
    requestHash: facts.requestHash,
    inputHash: facts.inputHash,
    outputHash: facts.outputHash,
    admission: { admitted: true, rejectionCode: null, rejectionMessage: null },
    route: {
      provider: facts.provider,
      model: facts.model,
      routeBundleVersion: estimate.pricingVersion,
      routeBundleHash: null,
    },
    targetRouting: targetRoutingOf(estimate),
    timestamps: {
      createdAt: facts.createdAt.toISOString(),
      startedAt: facts.startedAt?.toISOString() ?? null,
      completedAt: facts.completedAt.toISOString(),
    },
    provenance: {
      execution: isProvider ? "provider" : "local",
      engine: facts.engine,
      providerBacked: isProvider,
      modelBacked: isProvider,
      deterministic: !isProvider,
    },
    attempts: attempt
      ? [
          {
            attemptId: attempt.attemptId,
            number: attempt.number,
            providerSubmission: attempt.submission,
            providerRequestId: attempt.providerRequestId,
            providerModel: attempt.providerModel,
            httpStatus: attempt.httpStatus,
            capacityRejections: attempt.capacityRejections,
            submissionBegunAt: attempt.submissionBegunAt?.toISOString() ?? null,
            answeredAt: attempt.answeredAt?.toISOString() ?? null,
          },
        ]
      : [],
    providerSubmission: attempt?.submission ?? "not_attempted",
    capacityRejections: attempt?.capacityRejections ?? 0,
    processingTier: isProvider ? "standard" : null,
    deferredDiscountBps: 0,
    usage: facts.usage,
    error: facts.error,
    artifacts: facts.artifacts,
    estimatedCost: microsToUsd(estimate.expectedMicros),
    actualCost: charged === null ? null : microsToUsd(charged),
    currency: "USD",
    pricing: {
      ...pricingOf(estimate, facts.quoteId, null, null),
      serviceInferenceFeeMicros: fee ?? 0,
      charge:
        charged === null
          ? null
          : { customerCharge: toMoney(charged), customerDebit: toMoney(facts.isTest ? 0 : charged) },
      customerCharge:
        facts.costMicros === null || fee === null
          ? null
          : {
              upstreamMicros: facts.costMicros,
              serviceFeeMicros: fee,
              customerTotalMicros: facts.costMicros + fee,
              currency: "USD",
              lineItems: [],
            },
      providerUsage: {
        reportedCost: null,
        costBearer:
          facts.isTest || isFree ? "none" : estimate.billingMode === "byok" ? "customer" : "service",
      },
      providerCost: {
        amount: facts.costMicros === null ? null : toMoney(facts.costMicros),
        status: facts.costMicros === null ? "unknown" : "computed",
        basis: facts.costMicros === null ? "unknown" : "list_price",
        priceScheduleId: estimate.pricingVersion,
      },
      basisActual: facts.costMicros === null ? null : toMoney(facts.costMicros),
      actualCharge: charged === null ? null : toMoney(charged),
      observedUsage: facts.usage,
      fundingSource,
    },
    holdState: facts.holdState,
    isTest: facts.isTest,
  };
  // Sound: every field above is a string, a number, a list of them, or JSON that was parsed before.
  const body = canonicalText(receipt as unknown as Json);
  return { id, body, hash: sha256Hex(body) };
}
