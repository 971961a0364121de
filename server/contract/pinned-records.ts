import { z } from "zod";
import { BillingMode, DateTime, JsonObject, JsonValue, Money, PathId, pageLimit } from "./common";
import { Pin } from "./pinned";
import { ReceiptSignature } from "./receipts";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Submission = z.enum(["not_attempted", "ambiguous", "attempted"]);
export const PinnedStatus = z.enum(["succeeded", "failed", "ambiguous"]);
export type PinnedStatus = z.output<typeof PinnedStatus>;

export const PinnedAttemptView = z.object({
  number: z.int(),
  startedAt: DateTime,
  endedAt: DateTime.nullable(),
  submission: Submission,
  httpStatus: z.int().nullable(),
  errorCode: z.string().nullable(),
});

export const PinnedOutput = z
  .object({
    text: z.string(),
    toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
    finishReason: z.string(),
  })
  .meta({ id: "PinnedOutput" });
export type PinnedOutput = z.output<typeof PinnedOutput>;

const Clock = z.int().min(0);

/** The hashed and signed body: all facts that were known at the end. It has hashes and figures, never content. */
export const SealedPinned = z.object({
  schemaVersion: z.literal("service.pinned-record.v1"),
  receiptId: z.string(),
  pinnedId: z.string(),
  projectId: z.string(),
  organizationId: z.string(),
  environment: z.string(),
  principalId: z.string(),
  principalKind: z.string(),
  submittedBy: z.string().nullable(),
  /** Bulk and item id, for an item of a bulk; otherwise null. */
  bulkId: z.string().nullable(),
  itemId: z.string().nullable(),
  externalRef: z.string().nullable(),
  tags: z.array(z.string()),
  metadata: JsonObject,
  correlationId: z.string().nullable(),
  dataClassification: z.string(),
  retentionRequirement: z.string(),
  pin: Pin,
  isolation: z.literal("stateless"),
  processing: z.enum(["standard", "deferred"]),
  /** SHA-256 of the RFC 8785 form of the fields that identify the request; older records have `v1:` before it. */
  requestHash: z.string(),
  /**
   * Instructions and input are hashed as UTF-8 text; tools, response format, output and native response in their RFC
   * 8785 form.
   */
  instructionsHash: Sha256.nullable(),
  inputHash: Sha256,
  toolsHash: Sha256.nullable(),
  responseFormatHash: Sha256.nullable(),
  /** SHA-256 of the body's bytes, which are the same for each submission; null if nothing could be sent. */
  sentHash: Sha256.nullable(),
  /** Settings as sent to the vendor, under the vendor's names, without model, prompt, tools and response format. */
  settings: JsonObject,
  limits: z.object({ timeoutSeconds: z.int(), admissionDeadlineSeconds: z.int() }),
  status: PinnedStatus,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  attempts: z.array(PinnedAttemptView),
  outputHash: Sha256.nullable(),
  nativeResponseHash: Sha256.nullable(),
  finishReason: z.string().nullable(),
  usage: JsonObject.nullable(),
  /** At list price; null if unknown. */
  cost: Money.nullable(),
  costStatus: z.enum(["computed", "unknown", "none"]),
  /**
   * The provider reported no usage, so the cost is an estimate of the tokens sent and received. Absent if the cost
   * follows from reported usage.
   */
  costBasis: z.literal("estimated").optional(),
  discountedUpstreamBasisMicros: z.int().nullable(),
  billingMode: BillingMode,
  costBearer: z.enum(["customer", "none"]),
  holdState: z.enum(["settled", "released", "ambiguous"]).nullable(),
  pricingVersion: z.string(),
  providerRequestId: z.string().nullable(),
  providerModel: z.string().nullable(),
  providerFingerprint: z.string().nullable(),
  processingTier: z.enum(["standard", "flex"]).nullable(),
  deferredDiscountBps: z.int(),
  logicalAttempts: z.literal(1),
  providerSubmissions: z.int(),
  capacityRejections: z.int(),
  retryWaitMs: Clock,
  providerExecutionMs: Clock.nullable(),
  wallClockMs: Clock,
  schedulerWaitMs: Clock.nullable(),
  providerSubmission: Submission,
  /** If false, posting the same request again may run and charge it twice. */
  safelyRetryable: z.boolean(),
  isTest: z.boolean(),
  createdAt: DateTime,
  startedAt: DateTime,
  completedAt: DateTime,
});
export type SealedPinned = z.output<typeof SealedPinned>;

/** A fact that became known after sealing. It is outside the record's seal and has its own signature. */
export const PinnedCorrectionView = z.object({
  correctionId: z.string(),
  /** The record that is corrected. */
  receiptId: z.string(),
  kind: z.enum(["late_answer", "charge_resolved"]),
  details: JsonObject,
  createdAt: DateTime,
  /** Ed25519 over the RFC 8785 form of all other members. */
  signature: ReceiptSignature,
});
export type PinnedCorrectionView = z.output<typeof PinnedCorrectionView>;

/**
 * A pinned record: the immutable sealed body with its hash and signature, and members outside the seal, which can
 * change.
 */
export const PinnedRecord = SealedPinned.extend({
  /** The same as `receiptId`. */
  receipt_id: z.string(),
  recordHash: Sha256,
  signature: ReceiptSignature,
  /** Null if the output was removed by retention or never existed. */
  output: PinnedOutput.nullable(),
  /** Present if it was requested and is still kept. */
  nativeResponse: JsonValue.optional(),
  corrections: z.array(PinnedCorrectionView),
}).meta({ id: "PinnedRecord" });
export type PinnedRecord = z.output<typeof PinnedRecord>;

/** Members that hash and signature do not cover. */
export const UNSEALED = [
  "receipt_id",
  "recordHash",
  "signature",
  "output",
  "nativeResponse",
  "corrections",
] as const;

const Result = z.object({
  receipt: PinnedRecord,
  output: PinnedOutput.nullable(),
  nativeResponse: JsonValue.optional(),
});
/** Repeats the members of `result` at the top level, because clients read either. */
export const PinnedAnswer = Result.extend({
  status: z.enum(["succeeded", "failed", "ambiguous"]),
  receiptId: z.string(),
  executionId: z.string(),
  result: Result,
  warnings: z.array(JsonObject),
}).meta({ id: "PinnedAnswer" });
export type PinnedAnswer = z.output<typeof PinnedAnswer>;

export const PinnedRef = z.object({ receipt_id: PathId });
export const ListPinned = z.object({
  projectId: z.string().min(1).max(64).optional(),
  bulkId: z.string().min(1).max(64).optional(),
  limit: pageLimit(100, 25),
  cursor: z.string().max(64).optional(),
});
/** An item of a list, without content. */
export const PinnedListItem = SealedPinned.pick({
  receiptId: true,
  pinnedId: true,
  projectId: true,
  environment: true,
  bulkId: true,
  itemId: true,
  pin: true,
  processing: true,
  status: true,
  requestHash: true,
  providerSubmission: true,
  safelyRetryable: true,
  cost: true,
  createdAt: true,
  completedAt: true,
})
  .extend({ receipt_id: z.string(), errorCode: z.string().nullable() })
  .meta({ id: "PinnedListItem" });
export type PinnedListItem = z.output<typeof PinnedListItem>;
export const PinnedPage = z
  .object({ items: z.array(PinnedListItem), nextCursor: z.string().nullable() })
  .meta({ id: "PinnedPage" });
export type PinnedPage = z.output<typeof PinnedPage>;

/** A record with its request, while that is kept. */
export const PinnedContentView = z.object({
  record: PinnedRecord,
  /** Null if the request was removed by retention or never stored. */
  request: JsonObject.nullable(),
});
export type PinnedContentView = z.output<typeof PinnedContentView>;
