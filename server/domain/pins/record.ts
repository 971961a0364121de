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
import type { Json } from "@/server/platform/durable/step";
import { receiptIdOf } from "@/server/platform/ids";
import { type Micros, toMoney } from "@/server/platform/money";
import { plainObject } from "@/server/platform/text/json";
import type { Price } from "@/server/providers/define";
import { bareDigest } from "@/server/verify";
import { type PinnedAttemptRow, type PinnedPlan, type PinnedRow, startOf, submissionOf } from "./rows";

/** What a record needs of the row. */
export type RecordRow = Pick<
  PinnedRow,
  | "id"
  | "project_id"
  | "organization_id"
  | "environment"
  | "principal_id"
  | "principal_kind"
  | "submitted_by"
  | "bulk_id"
  | "item_id"
  | "request_hash"
  | "input_hash"
  | "maximum_micros"
  | "is_test"
  | "created_at"
  | "started_at"
>;

/** Durations by a clock that only goes forward, in whole milliseconds. */
export type Clocks = { retryWaitMs: number; providerExecutionMs: number | null; wallClockMs: number };

/** Everything a record says, gathered by the execution that ends. */
export type RecordFacts = {
  row: RecordRow;
  plan: PinnedPlan;
  status: PinnedStatus;
  error: { code: string; message: string } | null;
  /** Every submission, the last one as it ended. */
  attempts: PinnedAttemptRow[];
  outputHash: string | null;
  nativeResponseHash: string | null;
  finishReason: string | null;
  observed: Ending["observed"];
  /** What its work cost at list price; null: unknown. */
  costMicros: Micros | null;
  /** Null: it held nothing. */
  holdState: "settled" | "released" | "ambiguous" | null;
  /** Of the model's list price. */
  price: Price | null;
  clocks: Clocks;
  safelyRetryable: boolean;
  completedAt: Date;
};

/** A full house: answered, and nothing ran. Any other answer ends an execution. */
const isCapacity = ({ submission, error_code }: PinnedAttemptRow) =>
  submission === "attempted" && error_code === "ProviderUnavailable";

/** The record of an execution, to be sealed as it is. Content stays outside: hashes and figures only. */
export function composeRecord(facts: RecordFacts): SealedPinned {
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

/** Composes a record and seals it. */
export function sealRecord(facts: RecordFacts): Promise<Sealed> {
  return sealDocument(plainObject(composeRecord(facts)));
}

/** What is beside a sealed record. */
export type Beside = {
  /** Null: none, or removed. */
  output: PinnedOutput | null;
  /** Undefined: not asked for, or removed. */
  native?: Json;
  corrections: PinnedCorrectionView[];
};

/** A sealed record as it is shown: as it was signed, with its hash, its signature, and what is no part of them. */
export function toRecord(
  { body, hash, ...signed }: Sealed,
  { output, native, corrections }: Beside,
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

/** A line of a list: never content. */
export function toListItem(body: string): PinnedListItem {
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
