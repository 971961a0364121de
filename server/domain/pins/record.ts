import type {
  PinnedCorrectionView,
  PinnedListItem,
  PinnedOutput,
  PinnedRecord,
  PinnedStatus,
  SealedPinned,
} from "@/server/contract/pinned-records";
import type { Ending } from "@/server/domain/executions";
import { type Sealed, sealDocument, signatureOf } from "@/server/domain/receipts";
import { pinnedExecution } from "@/server/generated/schema";
import type { Json } from "@/server/platform/durable/step";
import { receiptIdOf } from "@/server/platform/ids";
import { type Micros, toMoney } from "@/server/platform/money";
import { plainObject } from "@/server/platform/text/json";
import type { Price } from "@/server/providers/define";
import { type Of, pick } from "@/server/sql/column";
import { bareDigest } from "@/server/verify";
import { type PinnedAttemptRow, type PinnedPlan, startOf, submissionOf } from "./rows";

/** The columns that a record needs. */
export const RECORD_ROW = pick(
  pinnedExecution,
  "id project_id organization_id environment principal_id principal_kind submitted_by bulk_id item_id",
  "request_hash input_hash maximum_micros is_test created_at started_at",
);
export type RecordRow = Of<typeof RECORD_ROW>;

/**
 * Durations in whole milliseconds, measured by the process that ran the execution or computed from the rows.
 * `providerExecutionMs` is null if it was not measured.
 */
export type Clocks = { retryWaitMs: number; providerExecutionMs: number | null; wallClockMs: number };

/** Everything that a record contains, gathered when the execution ends. */
export type RecordFacts = {
  row: RecordRow;
  plan: PinnedPlan;
  status: PinnedStatus;
  error: { code: string; message: string } | null;
  /** Every submission; all of them have ended. */
  attempts: PinnedAttemptRow[];
  outputHash: string | null;
  nativeResponseHash: string | null;
  finishReason: string | null;
  observed: Ending["observed"];
  /** The cost of the work at list price; null if unknown. */
  costMicros: Micros | null;
  /** Null if nothing was held. */
  holdState: "settled" | "released" | "ambiguous" | null;
  /** The model's list price; null if this installation no longer has the model. */
  price: Price | null;
  clocks: Clocks;
  safelyRetryable: boolean;
  completedAt: Date;
};

/** A capacity refusal: the provider answered, and nothing ran. Any other answer ends the execution. */
const isCapacity = ({ submission, error_code }: PinnedAttemptRow) =>
  submission === "attempted" && error_code === "ProviderUnavailable";

/** Composes the document that is sealed. It has hashes and figures, and no content. */
function composeRecord(facts: RecordFacts): SealedPinned {
  const { row, plan, attempts, observed, costMicros, price } = facts;
  const submission = submissionOf(attempts);
  const isFlex = observed.tier === "flex";
  const discountBps = price?.per === "million_tokens" ? (price.flexDiscountBps ?? 0) : 0;
  const startedAt = startOf(row);
  return {
    schemaVersion: "service.pinned-record.v1",
    receiptId: receiptIdOf(row.id),
    pinnedId: row.id,
    projectId: row.project_id,
    organizationId: row.organization_id,
    environment: row.environment,
    principalId: row.principal_id,
    principalKind: row.principal_kind,
    submittedBy: row.submitted_by,
    bulkId: row.bulk_id,
    itemId: row.item_id,
    externalRef: plan.externalRef,
    tags: plan.tags,
    metadata: plan.metadata,
    correlationId: plan.correlationId,
    dataClassification: plan.dataClassification,
    retentionRequirement: plan.retentionRequirement,
    pin: plan.pin,
    isolation: plan.isolation,
    processing: plan.processing,
    requestHash: bareDigest(row.request_hash),
    instructionsHash: plan.instructionsHash,
    inputHash: row.input_hash,
    toolsHash: plan.toolsHash,
    responseFormatHash: plan.responseFormatHash,
    sentHash: attempts.find((each) => each.submission !== "not_attempted")?.sent_hash ?? null,
    settings: plan.settings,
    limits: plan.limits,
    status: facts.status,
    error: facts.error,
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      startedAt: attempt.started_at.toISOString(),
      endedAt: attempt.ended_at?.toISOString() ?? null,
      submission: attempt.submission,
      httpStatus: attempt.http_status,
      errorCode: attempt.error_code,
    })),
    outputHash: facts.outputHash,
    nativeResponseHash: facts.nativeResponseHash,
    finishReason: facts.finishReason,
    usage: observed.usage,
    cost: costMicros === null ? null : toMoney(costMicros),
    costStatus: costMicros === null ? "unknown" : facts.holdState === "released" ? "none" : "computed",
    ...(observed.estimated === undefined || costMicros === null ? {} : { costBasis: "estimated" as const }),
    discountedUpstreamBasisMicros: isFlex ? costMicros : null,
    billingMode: plan.billingMode,
    costBearer: row.is_test ? "none" : "customer",
    holdState: facts.holdState,
    pricingVersion: plan.pricingVersion,
    providerRequestId: observed.providerRequestId,
    providerModel: observed.providerModel,
    providerFingerprint: observed.providerFingerprint ?? null,
    processingTier: observed.tier ?? (submission === "not_attempted" ? null : plan.tier),
    deferredDiscountBps: isFlex ? discountBps : 0,
    logicalAttempts: 1,
    providerSubmissions: attempts.filter((each) => each.submission !== "not_attempted").length,
    capacityRejections: attempts.filter(isCapacity).length,
    ...facts.clocks,
    schedulerWaitMs:
      row.bulk_id === null ? null : Math.max(0, startedAt.getTime() - row.created_at.getTime()),
    providerSubmission: submission,
    safelyRetryable: facts.safelyRetryable,
    isTest: row.is_test,
    createdAt: row.created_at.toISOString(),
    startedAt: startedAt.toISOString(),
    completedAt: facts.completedAt.toISOString(),
  };
}

export function sealRecord(facts: RecordFacts): Promise<Sealed> {
  return sealDocument(plainObject(composeRecord(facts)));
}

/** The parts of a record that its seal does not cover. */
type UnsealedParts = {
  /** Null if there is none, or if it was removed. */
  output: PinnedOutput | null;
  /** Undefined if it was not requested, or if it was removed. */
  native?: Json;
  corrections: PinnedCorrectionView[];
};

/**
 * The public form of a record: the signed document with its hash, its signature and the parts outside the
 * seal.
 */
export function toRecord(
  { body, hash, ...signed }: Sealed,
  { output, native, corrections }: UnsealedParts,
): PinnedRecord {
  const sealed: SealedPinned = JSON.parse(body); // written by composeRecord
  return {
    ...sealed,
    receipt_id: sealed.receiptId,
    recordHash: hash,
    signature: signatureOf(signed),
    output,
    ...(native === undefined ? {} : { nativeResponse: native as PinnedRecord["nativeResponse"] & {} }), // parsed JSON
    corrections,
  };
}

/** An entry of a list, which never has content. */
export function toPinListItem(body: string): PinnedListItem {
  const sealed: SealedPinned = JSON.parse(body); // written by composeRecord
  return {
    receiptId: sealed.receiptId,
    receipt_id: sealed.receiptId,
    pinnedId: sealed.pinnedId,
    projectId: sealed.projectId,
    environment: sealed.environment,
    bulkId: sealed.bulkId,
    itemId: sealed.itemId,
    pin: sealed.pin,
    processing: sealed.processing,
    status: sealed.status,
    requestHash: bareDigest(sealed.requestHash),
    providerSubmission: sealed.providerSubmission,
    safelyRetryable: sealed.safelyRetryable,
    cost: sealed.cost,
    errorCode: sealed.error?.code ?? null,
    createdAt: sealed.createdAt,
    completedAt: sealed.completedAt,
  };
}
