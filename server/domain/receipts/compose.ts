import type { Receipt } from "@/server/contract/receipts";
import { isModelBacked, ROUTING_POLICY_VERSION } from "@/server/domain/catalog";
import { describeAdapters, type Estimate } from "@/server/domain/quotes";
import { receiptIdOf } from "@/server/platform/ids";
import { microsToUsd } from "@/server/platform/money";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { bareDigest } from "@/server/verify";
import type { ReceiptFacts } from "./facts";
import { pricing } from "./pricing";
import {
  everyAttempt,
  processingOf,
  receiptAttempts,
  receiptStages,
  receiptSubmission,
  submissionsOf,
  tierAskedFirst,
  tierAskedLast,
} from "./submissions";

/** A receipt before it is hashed and signed. */
type Unsealed = Omit<Receipt, "signature" | "provenance"> & {
  provenance: Omit<Receipt["provenance"], "receiptHash">;
};

/** Returns the target requested by name and the one taken. They differ only if the caller allowed a substitute. */
function targetRoutingOf({ requestedTarget, route }: Estimate): Receipt["targetRouting"] {
  const isTaken = requestedTarget === route?.key || requestedTarget === route?.model;
  return {
    profile: null,
    policyVersion: route ? ROUTING_POLICY_VERSION : null,
    requestedTarget,
    resolvedTarget: route?.key ?? null,
    substituted: requestedTarget !== null && route !== null && !isTaken,
  };
}

function routingOf({ estimate, attempt, tier }: ReceiptFacts): Receipt["routing"] {
  const { route, choice, processing } = estimate;
  if (!route || !choice) return null;
  return {
    routingPolicy: choice.policy,
    selectedPlanId: route.key,
    selectionReason: choice.reason,
    eligiblePlanIds: choice.eligible,
    taskFamily: null,
    computeLevel: null,
    serviceClass:
      (tier ?? tierAskedLast(attempt) ?? tierAskedFirst(processing)) === "flex" ? "economical" : "standard",
    validationGate: null,
    authorizedFallbackPlanIds: [],
    evidenceConfidence: null,
    evidenceSourceIds: [],
  };
}

/**
 * Hashes the rules that this execution was subject to. All of them are on the receipt, so that anyone can compute the
 * hash again.
 */
function policyHashOf(facts: ReceiptFacts): string {
  const { job, estimate } = facts;
  return sha256Hex(
    canonicalText({
      routingPolicy: estimate.choice?.policy ?? null,
      policyVersion: estimate.route ? ROUTING_POLICY_VERSION : null,
      pricingMode: estimate.billingMode,
      serviceFeeBps: estimate.serviceFeeBps,
      dataClassification: job.data_classification,
      retentionRequirement: job.retention_requirement,
      maturity: job.maturity,
    }),
  );
}

/** Returns figures on the output by its kind, and never its content. */
function outcomeOf(facts: ReceiptFacts): Pick<Receipt, "text" | "media"> {
  const { job, estimate, usage, artifacts } = facts;
  if (!estimate.route) return { text: null, media: null };
  const { bounds } = estimate;
  if (bounds.characters !== undefined || bounds.durationMs !== undefined) {
    return {
      text: null,
      media: {
        requestedVariants: job.requested_variants,
        durationMs: bounds.durationMs ?? null,
        characters: bounds.characters ?? null,
        artifactIds: artifacts.map(({ artifactId }) => artifactId),
        mediaTypes: [...new Set(artifacts.map(({ mediaType }) => mediaType))],
        ...facts.media,
      },
    };
  }
  // A capability that is billed by request only looks something up, so no text or media was made.
  if (bounds.requests !== undefined) return { text: null, media: null };
  if (bounds.images !== undefined) {
    return {
      text: null,
      media: {
        requestedVariants: job.requested_variants,
        quality: estimate.bounds.quality ?? null,
        images: usage?.images ?? null,
        ...(estimate.adapters ? { adapters: describeAdapters(estimate.adapters) } : {}),
        artifactIds: artifacts.map(({ artifactId }) => artifactId),
        mediaTypes: [...new Set(artifacts.map(({ mediaType }) => mediaType))],
        ...facts.media,
      },
    };
  }
  if (estimate.bounds.meshes !== undefined) {
    return {
      text: null,
      media: {
        meshes: usage?.meshes ?? null,
        images: usage?.images ?? null,
        artifactIds: artifacts.map(({ artifactId }) => artifactId),
        mediaTypes: [...new Set(artifacts.map(({ mediaType }) => mediaType))],
        ...facts.media,
      },
    };
  }
  return {
    media: null,
    text: {
      finishReason: facts.finishReason,
      inputTokens: usage?.inputTokens ?? null,
      outputTokens: usage?.outputTokens ?? null,
      // This is the limit of one call, whereas the estimate bounds all calls together.
      maxOutputTokens:
        estimate.bounds.outputTokens === undefined
          ? null
          : estimate.bounds.outputTokens / (estimate.bounds.submissions ?? 1),
    },
  };
}

/** Composes the receipt of an execution that ended. The receipt is sealed unchanged. */
export function composeReceipt(facts: ReceiptFacts): Unsealed {
  const { job, estimate, attempt } = facts;
  const isProvider = facts.provider !== null;
  const attempts = everyAttempt(facts);
  // An earlier call remains attempted even if the last one never left.
  const last = attempt ? receiptSubmission(attempt) : "not_attempted";
  const submission = facts.earlier.length > 0 && last === "not_attempted" ? "attempted" : last;
  const priced = pricing(facts);
  const { charge } = priced;
  return {
    schemaVersion: "service.receipt.v1",
    receiptId: receiptIdOf(job.id),
    jobId: job.id,
    capabilityKey: job.capability_key,
    status: facts.status,
    principalId: job.principal_id,
    principalKind: job.principal_kind,
    submittedBy: job.submitted_by,
    organizationId: job.organization_id,
    projectId: job.project_id,
    productId: job.product_id,
    environment: job.environment,
    externalRef: job.external_ref,
    tags: job.tags,
    metadata: job.metadata,
    correlationId: job.correlation_id,
    taskKind: job.task_kind,
    dataClassification: job.data_classification,
    retentionRequirement: job.retention_requirement,
    maturity: job.maturity,
    executionMode: job.mode,
    retryOf: job.retry_of,
    requestHash: bareDigest(job.request_hash),
    inputHash: facts.inputHash,
    outputHash: facts.outputHash,
    settings: {
      billingMode: estimate.billingMode,
      executionSeconds: job.execution_seconds,
      ...estimate.bounds,
    },
    admission: { admitted: true, rejectionCode: null, rejectionMessage: null },
    route: {
      provider: facts.provider,
      model: facts.model,
      api: estimate.route?.api ?? null,
      routeBundleVersion: estimate.pricingVersion,
      routeBundleHash: estimate.bundleHash,
    },
    routing: routingOf(facts),
    targetRouting: targetRoutingOf(estimate),
    benchmarkContext: null,
    customerSavings: null,
    timestamps: {
      createdAt: job.created_at.toISOString(),
      startedAt: job.started_at?.toISOString() ?? null,
      completedAt: facts.completedAt.toISOString(),
    },
    provenance: {
      bundleVersion: estimate.pricingVersion,
      bundleHash: estimate.bundleHash,
      policyHash: policyHashOf(facts),
      execution: isProvider ? "provider" : "local",
      engine: facts.engine,
      providerBacked: isProvider,
      modelBacked: isProvider && isModelBacked(job.capability_key),
      deterministic: !isProvider,
    },
    attempts: receiptAttempts(facts),
    ...receiptStages(facts),
    logicalAttempts: attempts.length,
    providerSubmissions: attempts.reduce((sum, each) => sum + submissionsOf(each), 0),
    providerSubmission: submission,
    capacityRejections: attempts.reduce((sum, each) => sum + each.capacityRejections, 0),
    rewrites: estimate.rewrites,
    ...processingOf(facts),
    usage: facts.usage,
    ...outcomeOf(facts),
    error: facts.error,
    artifacts: facts.artifacts,
    estimatedCost: microsToUsd(estimate.expectedMicros),
    actualCost: charge ? microsToUsd(charge.customerCharge.amountMicros) : null,
    currency: "USD",
    pricing: priced,
    holdState: facts.holdState,
    isTest: facts.isTest,
  };
}
