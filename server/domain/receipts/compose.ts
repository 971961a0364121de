import { canonicalText, sha256Hex } from "@/server/canonical";
import type { Receipt } from "@/server/contract/receipts";
import { isModelBacked, ROUTING_POLICY_VERSION } from "@/server/domain/catalog";
import { describeAdapters, type Estimate } from "@/server/domain/quotes";
import { receiptIdOf } from "@/server/ids";
import { microsToUsd } from "@/server/money";
import type { ReceiptFacts } from "./facts";
import { pricing } from "./pricing";
import {
  attemptsOf,
  everyAttempt,
  processingOf,
  stagesOf,
  submissionOf,
  submissionsOf,
  tierAskedFirst,
  tierAskedLast,
} from "./submissions";

/** A receipt before it is hashed and signed. */
type Unsealed = Omit<Receipt, "signature" | "provenance"> & {
  provenance: Omit<Receipt["provenance"], "receiptHash">;
};

/** What was asked for by name and what was taken; another model only where the caller allowed it. */
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

/** Of the rules this execution was held to; each of them stands on the receipt, so anybody can hash them again. */
function policyHashOf(facts: ReceiptFacts): string {
  const { estimate } = facts;
  return sha256Hex(
    canonicalText({
      routingPolicy: estimate.choice?.policy ?? null,
      policyVersion: estimate.route ? ROUTING_POLICY_VERSION : null,
      pricingMode: estimate.billingMode,
      serviceFeeBps: estimate.serviceFeeBps,
      dataClassification: facts.dataClassification,
      retentionRequirement: facts.retentionRequirement,
      maturity: facts.maturity,
    }),
  );
}

/** What came back, by its kind: figures, never content. */
function outcomeOf(facts: ReceiptFacts): Pick<Receipt, "text" | "media"> {
  const { estimate, usage, artifacts } = facts;
  if (!estimate.route) return { text: null, media: null };
  const { bounds } = estimate;
  if (bounds.characters !== undefined || bounds.durationMs !== undefined) {
    return {
      text: null,
      media: {
        requestedVariants: facts.requestedVariants,
        durationMs: bounds.durationMs ?? null,
        characters: bounds.characters ?? null,
        artifactIds: artifacts.map(({ artifactId }) => artifactId),
        mediaTypes: [...new Set(artifacts.map(({ mediaType }) => mediaType))],
        ...facts.media,
      },
    };
  }
  // Looked up: nothing was written and nothing made.
  if (bounds.requests !== undefined) return { text: null, media: null };
  if (bounds.images !== undefined) {
    return {
      text: null,
      media: {
        requestedVariants: facts.requestedVariants,
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
      // Of one answer; the estimate bounds what may be all of them.
      maxOutputTokens:
        estimate.bounds.outputTokens === undefined
          ? null
          : estimate.bounds.outputTokens / (estimate.bounds.submissions ?? 1),
    },
  };
}

/** The receipt of an execution, to be sealed as it is. */
export function composeReceipt(facts: ReceiptFacts): Unsealed {
  const { estimate, attempt } = facts;
  const isProvider = facts.provider !== null;
  const attempts = everyAttempt(facts);
  // What an earlier call did stays done.
  const last = attempt ? submissionOf(attempt) : "not_attempted";
  const submission = facts.earlier.length > 0 && last === "not_attempted" ? "attempted" : last;
  const rejections = attempts.reduce((sum, { capacityRejections }) => sum + capacityRejections, 0);
  const priced = pricing(facts);
  const { charge } = priced;
  return {
    schemaVersion: "service.receipt.v1",
    receiptId: receiptIdOf(facts.jobId),
    jobId: facts.jobId,
    capabilityKey: facts.capabilityKey,
    status: facts.status,
    principalId: facts.principalId,
    principalKind: facts.principalKind,
    submittedBy: facts.submittedBy,
    organizationId: facts.organizationId,
    projectId: facts.projectId,
    productId: facts.productId,
    environment: facts.environment,
    externalRef: facts.externalRef,
    tags: facts.tags,
    metadata: facts.metadata as Receipt["metadata"], // an object by the envelope's schema
    correlationId: facts.correlationId,
    taskKind: facts.taskKind,
    dataClassification: facts.dataClassification,
    retentionRequirement: facts.retentionRequirement,
    maturity: facts.maturity,
    executionMode: facts.mode,
    retryOf: facts.retryOf,
    requestHash: facts.requestHash,
    inputHash: facts.inputHash,
    outputHash: facts.outputHash,
    settings: {
      billingMode: estimate.billingMode,
      executionSeconds: facts.executionSeconds,
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
      createdAt: facts.createdAt.toISOString(),
      startedAt: facts.startedAt?.toISOString() ?? null,
      completedAt: facts.completedAt.toISOString(),
    },
    provenance: {
      bundleVersion: estimate.pricingVersion,
      bundleHash: estimate.bundleHash,
      policyHash: policyHashOf(facts),
      execution: isProvider ? "provider" : "local",
      engine: facts.engine,
      providerBacked: isProvider,
      modelBacked: isProvider && isModelBacked(facts.capabilityKey),
      deterministic: !isProvider,
    },
    attempts: attemptsOf(facts),
    ...stagesOf(facts),
    logicalAttempts: attempts.length,
    providerSubmissions: attempts.reduce((sum, each) => sum + submissionsOf(each), 0),
    providerSubmission: submission,
    capacityRejections: rejections,
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
