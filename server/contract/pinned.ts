import { z } from "zod";
import { Charge } from "./charge";
import {
  BillingMode,
  DateTime,
  IdempotencyKey,
  JsonObject,
  JsonValue,
  Money,
  PathId,
  pageLimit,
} from "./common";
import { Budget, Context } from "./envelope";
import { ReceiptSignature } from "./receipts";

/** Seconds: of one admitted submission, of the wait for one, and of an item's turn. */
export const PINNED_TIMEOUT = { least: 30, most: 600, standard: 600 } as const;
export const PINNED_ADMISSION = { most: 1_800, standard: 120, deferred: 900 } as const;
export const START_WINDOW_SECONDS = 1_200;
export const BULK_ITEMS = 10_000;
export const BULK_LANES = 64;
/** Items of a bulk that one answer carries at most. */
export const BULK_PAGE = 1_000;

export const Pin = z
  .strictObject({
    provider: z.string().min(1).max(64),
    model: z.string().min(1).max(255),
    /** The vendor's own interface: `responses`, `chat-completions`, `messages`, `generate-content`. */
    api: z.string().min(1).max(64),
  })
  .meta({ id: "Pin" });
export type Pin = z.output<typeof Pin>;

const Count = z.int().min(1).max(10_000_000);

/** What is left out stays left out on the wire. An interface that cannot say one of these refuses it; none is dropped. */
export const PinnedSampling = z
  .strictObject({
    temperature: z.number().min(0).max(2).optional(),
    topP: z.number().min(0).max(1).optional(),
    topK: z.int().min(1).max(10_000).optional(),
    maxOutputTokens: Count.optional(),
    seed: z.int().optional(),
    stop: z.array(z.string().min(1).max(1_000)).min(1).max(16).optional(),
    frequencyPenalty: z.number().min(-2).max(2).optional(),
    presencePenalty: z.number().min(-2).max(2).optional(),
    /** In the vendor's own words: `low`, `high`, `max` … */
    reasoningEffort: z.string().min(1).max(32).optional(),
    thinking: z.enum(["enabled", "disabled"]).optional(),
    thinkingBudgetTokens: Count.optional(),
    verbosity: z.string().min(1).max(32).optional(),
  })
  .meta({ id: "PinnedSampling" });
export type PinnedSampling = z.output<typeof PinnedSampling>;

export const PinnedResponseFormat = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("text") }),
    z.strictObject({ type: z.literal("json_object") }),
    z.strictObject({
      type: z.literal("json_schema"),
      name: z.string().regex(/^[\w-]{1,64}$/),
      schema: JsonObject,
      strict: z.boolean().optional(),
    }),
  ])
  .meta({ id: "PinnedResponseFormat" });
export type PinnedResponseFormat = z.output<typeof PinnedResponseFormat>;

const timeoutSeconds = z.int().min(PINNED_TIMEOUT.least).max(PINNED_TIMEOUT.most);

export const PinnedLimits = z
  .strictObject({
    timeoutSeconds: timeoutSeconds.optional(),
    /** 0: one HTTP submission. */
    admissionDeadlineSeconds: z.int().min(0).max(PINNED_ADMISSION.most).optional(),
  })
  .meta({ id: "PinnedLimits" });

export const PinnedConstraints = z.strictObject({ maxCostUsd: z.number().gt(0).nullish() });
export const PinnedExecution = z.strictObject({
  billingMode: BillingMode.nullish(),
  maxCostUsd: PinnedConstraints.shape.maxCostUsd,
  executionConstraints: PinnedConstraints.nullish(),
});

const text = z.string().min(1).max(8_000_000);

/** What all items of a bulk share. */
const shared = {
  pin: Pin,
  isolation: z.literal("stateless").default("stateless"),
  instructions: text.optional(),
  processing: z.enum(["standard", "deferred"]).default("standard"),
  sampling: PinnedSampling.optional(),
  responseFormat: PinnedResponseFormat.optional(),
  tools: z.array(JsonObject).min(1).max(128).optional(),
  toolChoice: z.union([z.string().min(1).max(64), JsonObject]).optional(),
  includeNativeResponse: z.boolean().default(false),
  limits: PinnedLimits.optional(),
  /** The same as `limits.timeoutSeconds`. */
  timeoutSeconds: timeoutSeconds.optional(),
  context: Context.prefault({}),
  billingMode: BillingMode.nullish(),
  execution: PinnedExecution.nullish(),
  budget: Budget.nullish(),
  /** Correlation only: recorded, never sent. */
  externalRef: z.string().max(255).nullish(),
  tags: z.array(z.string().min(1).max(256)).max(32).default([]),
  metadata: JsonObject.default({}),
  correlationId: z.string().max(255).nullish(),
  idempotencyKey: IdempotencyKey,
};

export const PinnedRequest = z.strictObject({ ...shared, input: text }).meta({ id: "PinnedRequest" });
export type PinnedRequest = z.output<typeof PinnedRequest>;

export const PinnedBulkItem = z
  .strictObject({ id: z.string().min(1).max(255), input: text })
  .meta({ id: "PinnedBulkItem" });

export const PinnedBulkRequest = z
  .strictObject({
    ...shared,
    concurrency: z.int().min(1).max(BULK_LANES).default(8),
    items: z.array(PinnedBulkItem).min(1).max(BULK_ITEMS),
  })
  .meta({ id: "PinnedBulkRequest" });
export type PinnedBulkRequest = z.output<typeof PinnedBulkRequest>;

/** What a caller may post; the domain parses it, so that every refusal is of one shape. */
export const RawPinned = JsonObject;

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

export const PinnedOutput = z.object({
  text: z.string(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
  finishReason: z.string(),
});
export type PinnedOutput = z.output<typeof PinnedOutput>;

const Clock = z.int().min(0);

/** What is hashed and signed: everything that was known when it ended. Hashes and figures, never content. */
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
  /** Of a bulk's item: its bulk and what the caller calls it. */
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
  /** `v1:` and the SHA-256 of the RFC 8785 form of what identifies the request. */
  requestHash: z.string(),
  /** SHA-256 of the text in UTF-8; of tools, response format, output and native response: of their RFC 8785 form. */
  instructionsHash: Sha256.nullable(),
  inputHash: Sha256,
  toolsHash: Sha256.nullable(),
  responseFormatHash: Sha256.nullable(),
  /** SHA-256 of the body's bytes as they were sent each time; null: nothing could be sent. */
  sentHash: Sha256.nullable(),
  /** As sent to the vendor, in its own words, less the model, the prompt, the tools and the response format. */
  settings: JsonObject,
  limits: z.object({ timeoutSeconds: z.int(), admissionDeadlineSeconds: z.int() }),
  status: PinnedStatus,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  attempts: z.array(PinnedAttemptView),
  outputHash: Sha256.nullable(),
  nativeResponseHash: Sha256.nullable(),
  finishReason: z.string().nullable(),
  usage: JsonObject.nullable(),
  /** At list price; null: unknown. */
  cost: Money.nullable(),
  costStatus: z.enum(["computed", "unknown", "none"]),
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
  /** False: this sealed pin must not be posted again. */
  safelyRetryable: z.boolean(),
  isTest: z.boolean(),
  createdAt: DateTime,
  startedAt: DateTime,
  completedAt: DateTime,
});
export type SealedPinned = z.output<typeof SealedPinned>;

/** What became known afterwards: outside the record's seal, so it has a signature of its own. */
export const PinnedCorrectionView = z.object({
  correctionId: z.string(),
  /** Of the record it corrects. */
  receiptId: z.string(),
  kind: z.enum(["late_answer", "charge_resolved"]),
  details: JsonObject,
  createdAt: DateTime,
  /** Ed25519 over the RFC 8785 form of all members but this. */
  signature: ReceiptSignature,
});
export type PinnedCorrectionView = z.output<typeof PinnedCorrectionView>;

/** The immutable record: what was sealed, its hash and signature, and beside them what is no part of the seal. */
export const PinnedRecord = SealedPinned.extend({
  /** The same as `receiptId`. */
  receipt_id: z.string(),
  recordHash: Sha256,
  signature: ReceiptSignature,
  /** Null: removed when its retention ended, or there was none. */
  output: PinnedOutput.nullable(),
  /** Where it was asked for, and still is kept. */
  nativeResponse: JsonValue.optional(),
  corrections: z.array(PinnedCorrectionView),
}).meta({ id: "PinnedRecord" });
export type PinnedRecord = z.output<typeof PinnedRecord>;

/** The members of a record that its hash and signature are not of. */
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
/** `result` and its parts once more at the top: both are read. */
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
/** Of lists: never content. */
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

// ---- bulks

export const BulkItemStatus = z.enum(["queued", "running", "succeeded", "failed", "ambiguous", "canceled"]);
export const BulkStatus = z.enum(["accepted", "running", "succeeded", "partial", "failed"]);
export type BulkStatus = z.output<typeof BulkStatus>;

export const BulkItemView = z.object({
  id: z.string(),
  status: BulkItemStatus,
  receiptId: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  safelyRetryable: z.boolean().nullable(),
  charge: Charge,
});
export type BulkItemView = z.output<typeof BulkItemView>;

export const PinnedBulk = z
  .object({
    bulkId: z.string(),
    projectId: z.string(),
    environment: z.string(),
    status: BulkStatus,
    nextAction: z.enum(["poll", "stop"]),
    pollAfterSeconds: z.number(),
    pin: Pin,
    processing: z.enum(["standard", "deferred"]),
    concurrency: z.int(),
    /** How many work at once now: lower while the provider refuses for want of capacity. */
    currentConcurrency: z.int(),
    itemCount: z.int(),
    counts: z.record(BulkItemStatus, z.int()),
    /** Items that may be sent again without anything running twice. */
    safelyRetryable: z.int(),
    retryOf: z.string().nullable(),
    createdAt: DateTime,
    startedAt: DateTime.nullable(),
    completedAt: DateTime.nullable(),
    cancelRequestedAt: DateTime.nullable(),
    items: z.array(BulkItemView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "PinnedBulk" });
export type PinnedBulk = z.output<typeof PinnedBulk>;

export const BulkRef = z.object({ bulk_id: PathId });
export const BulkQuery = z.object({
  limit: pageLimit(BULK_PAGE, BULK_PAGE),
  cursor: z.string().max(64).optional(),
  status: BulkItemStatus.optional(),
});
export const ListBulks = z.object({
  projectId: z.string().min(1).max(64).optional(),
  limit: pageLimit(100, 25),
  cursor: z.string().max(64).optional(),
});
export const BulkPage = z
  .object({
    items: z.array(PinnedBulk.omit({ items: true, nextCursor: true })),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "PinnedBulkPage" });

// ---- what the panel offers

/** A pin that a project may write, as a form offers it. */
export const PinChoice = z.object({
  pin: Pin,
  providerTitle: z.string(),
  modelTitle: z.string(),
  /** An account of the provider is connected, or none is needed. */
  isConnected: z.boolean(),
  canDefer: z.boolean(),
  /** What of `sampling` its interface and its model can say. */
  sampling: z.array(PinnedSampling.keyof()),
});
export type PinChoice = z.output<typeof PinChoice>;

/** A record with the request it is of, while that is kept. */
export const PinnedContentView = z.object({
  record: PinnedRecord,
  /** Null: removed when its retention ended, or there was none. */
  request: JsonObject.nullable(),
});
export type PinnedContentView = z.output<typeof PinnedContentView>;
