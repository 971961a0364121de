import { canonicalText, sha256Hex } from "@/server/canonical";
import type { Maturity } from "@/server/contract/envelope";
import type { JobArtifactRef, JobStatus } from "@/server/contract/jobs";
import type { Receipt } from "@/server/contract/receipts";
import { present } from "@/server/domain/billing";
import type { Funding } from "@/server/domain/budgets";
import { ROUTING_POLICY_VERSION } from "@/server/domain/catalog";
import { describeAdapters, type Estimate, pricingOf, serviceFee } from "@/server/domain/quotes";
import { receiptIdOf } from "@/server/ids";
import { type Micros, microsToUsd, toMoney } from "@/server/money";
import type { SubmissionState, Tier, Usage } from "@/server/providers/define";
import type { Json } from "@/server/step";

type ReceiptAttempt = Receipt["attempts"][number];

/** Everything a receipt says, gathered by the execution that ends. Content stays outside: hashes and figures only. */
export type ReceiptFacts = {
  jobId: string;
  capabilityKey: string;
  status: JobStatus;
  principalId: string;
  principalKind: string;
  /** The person behind the principal. */
  submittedBy: string | null;
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
  maturity: Maturity | null;
  mode: string;
  retryOf: string | null;
  executionSeconds: number;
  requestHash: string;
  /** Null: unknown, where the request was not kept. */
  inputHash: string | null;
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
    errorCode: string | null;
    /** Requests the provider may have taken on; 2 where an unfit answer was given back. */
    submissions: number;
    capacityRejections: number;
    /** The tier that is asked for by now, and the one that was refused before. */
    tier: Tier;
    tierRefusal: ReceiptAttempt["tierRefusal"];
    startedAt: Date;
    submissionBegunAt: Date | null;
    answeredAt: Date | null;
    /** Which call before the main one; null: the main one. */
    stage: string | null;
    provider: string;
    model: string;
    usage: Usage | null;
    /** At list price; null: unknown. */
    costMicros: Micros | null;
  } | null;
  /** The attempts before that one, of an execution of several calls. */
  earlier: NonNullable<ReceiptFacts["attempt"]>[];
  /** The tier that ran; null: no answer tells. */
  tier: Tier | null;
  usage: Usage | null;
  finishReason: string | null;
  requestedVariants: number | null;
  /** How the files were made: the method of transparency, how a sheet was cut. */
  media: Record<string, Json> | null;
  error: { code: string; message: string } | null;
  /** What the provider's work cost at list price; null: unknown. */
  costMicros: Micros | null;
  /** What leaves the customer's balance; null: not settled. */
  chargedMicros: Micros | null;
  holdState: "settled" | "released" | "ambiguous" | null;
  /** What pays, copied from the admission. */
  funding: Funding;
  isTest: boolean;
};

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

/** The fee as far as anything was charged: on an unknown cost the fee of the whole hold. */
function feeOf({ estimate, costMicros, chargedMicros }: ReceiptFacts): Micros {
  if (chargedMicros === null || chargedMicros === 0) return 0;
  return costMicros === null
    ? estimate.maximumMicros - estimate.maximumUpstreamMicros
    : serviceFee(costMicros, estimate.serviceFeeBps);
}

type Charged = {
  /** What the customer was charged, in real or in test money: 0 where the service covers it. */
  customer: Micros;
  /** Null: nothing tells what paid. */
  trialCovered: Micros | null;
  /** Out of the prepaid balance, in real money. */
  debited: Micros | null;
};

/** Who pays the provider, and where the money comes from: copied from the admission, else unknown. */
function fundingOf({ isTest, provider, estimate, funding }: ReceiptFacts): {
  source: "sandbox" | "none" | "customer" | "managed_trial" | "managed_wallet" | "unknown";
  bearer: "none" | "customer" | "service";
} {
  if (isTest) return { source: "sandbox", bearer: "none" };
  if (provider === null) return { source: "none", bearer: "none" };
  if (estimate.billingMode === "byok") return { source: "customer", bearer: "customer" };
  if (estimate.maximumMicros === 0) return { source: "none", bearer: "service" };
  if (funding === "allowance") return { source: "managed_trial", bearer: "service" };
  return { source: funding === "wallet" ? "managed_wallet" : "unknown", bearer: "service" };
}

type FundingSource = ReturnType<typeof fundingOf>["source"];

/** What an amount that left the reservation took from whom. */
function chargedTo(source: FundingSource, charged: Micros): Charged {
  if (charged === 0) return { customer: 0, trialCovered: 0, debited: 0 };
  switch (source) {
    case "managed_trial":
      return { customer: 0, trialCovered: charged, debited: 0 };
    case "managed_wallet":
      return { customer: charged, trialCovered: 0, debited: charged };
    case "unknown":
      return { customer: charged, trialCovered: null, debited: null };
    default:
      // A test balance, and the customer's own account with the provider: nothing the service took.
      return { customer: charged, trialCovered: 0, debited: 0 };
  }
}

function chargeStateOf({ estimate }: ReceiptFacts, charged: Charged | null): ChargeState {
  if (charged === null) return "unsettled";
  if (estimate.billingMode === "byok") return "byok";
  return charged.debited === 0 ? "covered" : "charged";
}
type ChargeState = NonNullable<Receipt["pricing"]["chargeState"]>;

/** What the provider's work cost: by its own word where it gave one, else at list price. The list price is charged. */
function providerCostOf({ estimate, costMicros, usage }: ReceiptFacts): Receipt["pricing"]["providerCost"] {
  const reported = usage?.reportedCostMicros;
  const priceScheduleId = estimate.pricingVersion;
  if (reported !== undefined)
    return { amount: toMoney(reported), status: "reported", basis: "provider_reported", priceScheduleId };
  if (costMicros === null) return { amount: null, status: "unknown", basis: "unknown", priceScheduleId };
  return { amount: toMoney(costMicros), status: "computed", basis: "list_price", priceScheduleId };
}

function pricing(facts: ReceiptFacts): Receipt["pricing"] {
  const { estimate, costMicros: cost } = facts;
  const fee = feeOf(facts);
  const funding = fundingOf(facts);
  const charged = facts.chargedMicros === null ? null : chargedTo(funding.source, facts.chargedMicros);
  const reported = facts.usage?.reportedCostMicros ?? null;
  const sealed = estimate.sealed;
  const money = (micros: Micros | null | undefined) => (micros == null ? null : toMoney(micros));
  return {
    ...pricingOf(
      estimate,
      facts.quoteId,
      sealed?.expiresAt ? new Date(sealed.expiresAt) : null,
      sealed?.hash ?? null,
    ),
    executionPlanId: estimate.route?.key ?? null,
    serviceInferenceFeeMicros: fee,
    service: { serviceFeeRateBps: estimate.serviceFeeBps, inferenceFeeMicros: fee },
    charge: charged && {
      customerCharge: toMoney(charged.customer),
      customerDebit: money(charged.debited),
      chargedAt: charged.customer > 0 ? facts.completedAt.toISOString() : null,
    },
    customerCharge:
      cost === null
        ? null
        : {
            upstreamMicros: cost,
            serviceFeeMicros: fee,
            customerTotalMicros: cost + fee,
            currency: "USD",
            lineItems: [
              {
                label: `${facts.capabilityKey} by ${estimate.route?.key ?? "this service"}`,
                upstreamMicros: cost,
                serviceFeeMicros: fee,
                includedProcessing: facts.provider === null,
              },
            ],
          },
    providerUsage: { reportedCost: money(reported), costBearer: funding.bearer },
    providerReportedCostMicros: reported,
    providerCost: providerCostOf(facts),
    // What was charged, not what was expected.
    presentation: estimate.fx && charged ? present(charged.customer, estimate.fx) : null,
    basisActual: money(cost),
    discountedUpstreamBasisMicros: facts.tier === "flex" ? cost : null,
    actualCharge: money(charged?.customer),
    price: money(charged?.customer),
    observedUsage: facts.usage,
    fundingSource: funding.source,
    trialCoveredMicros: charged?.trialCovered ?? null,
    customerDebitedMicros: charged?.debited ?? null,
    chargeState: chargeStateOf(facts, charged),
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

/** The tier of the last request that left; null: none did. */
function tierAskedLast(attempt: ReceiptFacts["attempt"]): Tier | null {
  if (!attempt) return null;
  const { submission, tier, tierRefusal, capacityRejections } = attempt;
  if (submission !== "not_attempted" || (capacityRejections > 0 && !tierRefusal)) return tier;
  return tierRefusal?.tier ?? null;
}

const tierAskedFirst = (processing: Estimate["processing"]): Tier =>
  processing === "deferred" ? "flex" : "standard";

/** Which tier was asked for, which one ran, and why they differ. */
function processingOf({
  provider,
  estimate,
  attempt,
  tier,
}: ReceiptFacts): Pick<
  Receipt,
  "fallbacks" | "processingTier" | "requestedProcessingTier" | "processingFallback" | "deferredDiscountBps"
> {
  if (provider === null)
    return {
      fallbacks: [],
      processingTier: null,
      requestedProcessingTier: null,
      processingFallback: null,
      deferredDiscountBps: null,
    };
  const from = tierAskedFirst(estimate.processing);
  const isRefused = Boolean(attempt?.tierRefusal);
  const isReplaced = isRefused || (from === "flex" && tier === "standard");
  return {
    fallbacks: isReplaced ? [`processing:${from}->standard`] : [],
    processingTier: tier ?? tierAskedLast(attempt),
    requestedProcessingTier: from,
    processingFallback: isReplaced
      ? { from, to: "standard", reason: isRefused ? "refused" : "served_standard" }
      : null,
    deferredDiscountBps: tier === "flex" ? estimate.deferredDiscountBps : 0,
  };
}

const everyAttempt = ({ earlier, attempt }: ReceiptFacts) => [...earlier, ...(attempt ? [attempt] : [])];

/** Of an execution of several calls: whom each went to, what it used, and what that cost. */
function stagesOf(facts: ReceiptFacts): Pick<Receipt, "stages"> {
  if (!facts.estimate.stages) return {};
  return {
    stages: everyAttempt(facts).map(({ attemptId, stage, provider, model, usage, costMicros }) => ({
      attemptId,
      stage: stage ?? "main",
      provider,
      model,
      usage,
      cost: costMicros === null ? null : toMoney(costMicros),
    })),
  };
}

function attemptsOf(facts: ReceiptFacts): Receipt["attempts"] {
  return everyAttempt(facts).map((attempt) => ({
    attemptId: attempt.attemptId,
    number: attempt.number,
    providerSubmission: attempt.submission,
    providerRequestId: attempt.providerRequestId,
    providerModel: attempt.providerModel,
    httpStatus: attempt.httpStatus,
    errorCode: attempt.errorCode,
    tier: tierAskedLast(attempt),
    tierRefusal: attempt.tierRefusal,
    submissions: attempt.submissions,
    capacityRejections: attempt.capacityRejections,
    startedAt: attempt.startedAt.toISOString(),
    submissionBegunAt: attempt.submissionBegunAt?.toISOString() ?? null,
    answeredAt: attempt.answeredAt?.toISOString() ?? null,
  }));
}

/** How often a request left for a provider under one attempt. */
const submissionsOf = (attempt: NonNullable<ReceiptFacts["attempt"]>) =>
  attempt.capacityRejections + (attempt.tierRefusal ? 1 : 0) + attempt.submissions;

/** The receipt of an execution, to be sealed as it is. */
export function composeReceipt(facts: ReceiptFacts): Unsealed {
  const { estimate, attempt } = facts;
  const isProvider = facts.provider !== null;
  const attempts = everyAttempt(facts);
  // What an earlier call did stays done.
  const last = attempt?.submission ?? "not_attempted";
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
      modelBacked: isProvider,
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
