import { z } from "zod";
import { Charge } from "./charge";
import { BillingMode, DateTime, IdempotencyKey, JsonObject, PathId, pageLimit } from "./common";
import { BULK_ITEM_STATUSES } from "./enums";
import { Budget, Context } from "./envelope";

/**
 * In seconds: the time for one admitted submission, the wait for admission, and the time within which an item must
 * start after its turn.
 */
export const PINNED_TIMEOUT = { least: 30, most: 600, standard: 600 } as const;
export const PINNED_ADMISSION = { most: 1_800, standard: 120, deferred: 900 } as const;
export const START_WINDOW_SECONDS = 1_200;
export const BULK_ITEMS = 10_000;
export const BULK_LANES = 64;
/** Maximum items in one answer about a bulk. */
export const BULK_PAGE = 1_000;

export const Pin = z
  .strictObject({
    provider: z.string().min(1).max(64).describe("The provider, such as `openai`."),
    model: z.string().min(1).max(255).describe("The model, by the id its provider gives it."),
    api: z
      .string()
      .min(1)
      .max(64)
      .describe(
        "The provider's interface: `responses`, `chat-completions`, `messages` or `generate-content`.",
      ),
  })
  .meta({ id: "Pin" });
export type Pin = z.output<typeof Pin>;

const Count = z.int().min(1).max(10_000_000);

/**
 * A setting that is left out is not sent. An interface that cannot express a setting refuses it; none is dropped
 * silently.
 */
export const PinnedSampling = z
  .strictObject({
    temperature: z.number().min(0).max(2).optional().describe("How random the answer is."),
    topP: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe("The share of probability that tokens are drawn from."),
    topK: z.int().min(1).max(10_000).optional().describe("How many of the likeliest tokens are drawn from."),
    maxOutputTokens: Count.optional().describe("The most tokens the answer may have."),
    seed: z.int().optional().describe("A seed for sampling, where the provider supports one."),
    stop: z
      .array(z.string().min(1).max(1_000))
      .min(1)
      .max(16)
      .optional()
      .describe("Texts that end the answer."),
    frequencyPenalty: z
      .number()
      .min(-2)
      .max(2)
      .optional()
      .describe("Makes frequent tokens less likely, above 0."),
    presencePenalty: z
      .number()
      .min(-2)
      .max(2)
      .optional()
      .describe("Makes tokens that occurred less likely, above 0."),
    reasoningEffort: z
      .string()
      .min(1)
      .max(32)
      .optional()
      .describe("How much the model reasons, in the provider's words: `low`, `high`, `max`."),
    thinking: z
      .enum(["enabled", "disabled"])
      .optional()
      .describe("Whether the model thinks before it answers."),
    thinkingBudgetTokens: Count.optional().describe("The most tokens it may think with."),
    verbosity: z
      .string()
      .min(1)
      .max(32)
      .optional()
      .describe("How long the answer is, in the provider's words: `low`, `medium`, `high`."),
  })
  .meta({ id: "PinnedSampling" });
export type PinnedSampling = z.output<typeof PinnedSampling>;

export const PinnedResponseFormat = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("text").describe("Plain text.") }),
    z.strictObject({ type: z.literal("json_object").describe("Any JSON object.") }),
    z.strictObject({
      type: z.literal("json_schema").describe("JSON that matches `schema`."),
      name: z
        .string()
        .regex(/^[\w-]{1,64}$/)
        .describe("A name for the schema."),
      schema: JsonObject.describe("The JSON Schema, inlined."),
      strict: z.boolean().optional().describe("Whether the provider must enforce the schema."),
    }),
  ])
  .meta({ id: "PinnedResponseFormat" });
export type PinnedResponseFormat = z.output<typeof PinnedResponseFormat>;

const timeoutSeconds = z.int().min(PINNED_TIMEOUT.least).max(PINNED_TIMEOUT.most);

export const PinnedLimits = z
  .strictObject({
    timeoutSeconds: timeoutSeconds
      .optional()
      .describe("How long one admitted request may take at the provider, in seconds; 600 if left out."),
    admissionDeadlineSeconds: z
      .int()
      .min(0)
      .max(PINNED_ADMISSION.most)
      .optional()
      .describe(
        "How long to keep trying while the provider has no capacity, in seconds; 120 if left out, 900 for deferred processing. 0: one request.",
      ),
  })
  .meta({ id: "PinnedLimits" });

export const PinnedConstraints = z.strictObject({
  maxCostUsd: z
    .number()
    .gt(0)
    .nullish()
    .describe("The most this request may cost, in US dollars. A higher estimate is refused with 402."),
});
const billingMode = BillingMode.nullish().describe(
  "Only `byok`: a pinned execution runs on the project's own account.",
);
export const PinnedExecution = z
  .strictObject({
    billingMode,
    maxCostUsd: PinnedConstraints.shape.maxCostUsd,
    executionConstraints: PinnedConstraints.nullish().describe("The same ceiling, as jobs have it."),
  })
  .meta({ id: "PinnedExecution" });

const text = z.string().min(1).max(8_000_000);

/** Maximum characters of a tool choice as JSON: enough to name all 128 tools of a request by their longest names. */
export const MOST_CHOICE_CHARACTERS = 65_536;

/** Fields of a single request that the items of a bulk share. */
const shared = {
  pin: Pin.describe("Where it runs. Nothing else is tried."),
  isolation: z
    .literal("stateless")
    .default("stateless")
    .describe("Only `stateless`: nothing is kept between requests."),
  instructions: text.optional().describe("Instructions to the model, sent as its system prompt."),
  processing: z
    .enum(["standard", "deferred"])
    .default("standard")
    .describe("`deferred` uses the provider's slower tier at half the token price, where it has one."),
  sampling: PinnedSampling.optional().describe("Settings to send. What is left out is not sent."),
  responseFormat: PinnedResponseFormat.optional().describe("The form of the answer."),
  tools: z
    .array(JsonObject)
    .min(1)
    .max(128)
    .optional()
    .describe("Tools the model may call, in the provider's form."),
  toolChoice: z
    .union([z.string().min(1).max(64), JsonObject])
    .optional()
    .describe(
      "Which tool the model must call, in the provider's form: at most 65,536 characters of JSON, not counting escapes.",
    ),
  includeNativeResponse: z
    .boolean()
    .default(false)
    .describe("Whether to return the provider's own response as well."),
  limits: PinnedLimits.optional().describe("How long it may take."),
  timeoutSeconds: timeoutSeconds.optional().describe("Another name of `limits.timeoutSeconds`."),
  context: Context.prefault({}).describe("Whose request this is, and how its content is kept."),
  billingMode,
  execution: PinnedExecution.nullish().describe("How it is billed and what it may cost."),
  budget: Budget.nullish().describe("A ceiling for this request."),
  externalRef: z.string().max(255).nullish().describe("A reference of your own: recorded, never sent."),
  tags: z
    .array(z.string().min(1).max(256))
    .max(32)
    .default([])
    .describe("Labels of your own: recorded, never sent."),
  metadata: JsonObject.default({}).describe("An object of your own: recorded, never sent."),
  correlationId: z
    .string()
    .max(255)
    .nullish()
    .describe("An id of your own that links this request to others."),
  idempotencyKey: IdempotencyKey.describe(
    "Makes a repeat safe: the same request with the same key returns the first execution.",
  ),
};

export const PinnedRequest = z
  .strictObject({ ...shared, input: text.describe("The prompt, sent exactly as it is.") })
  .meta({ id: "PinnedRequest" });
export type PinnedRequest = z.output<typeof PinnedRequest>;

export const PinnedBulkItem = z
  .strictObject({
    id: z.string().min(1).max(255).describe("Your name for the item, unique in the bulk."),
    input: text.describe("The prompt, sent exactly as it is."),
  })
  .meta({ id: "PinnedBulkItem" });

export const PinnedBulkRequest = z
  .strictObject({
    ...shared,
    concurrency: z.int().min(1).max(BULK_LANES).default(8).describe("How many items run at once."),
    items: z.array(PinnedBulkItem).min(1).max(BULK_ITEMS).describe("What is sent, each on its own."),
    bulkWait: JsonObject.optional().describe("How a client waits. The service ignores it."),
  })
  .meta({ id: "PinnedBulkRequest" });
export type PinnedBulkRequest = z.output<typeof PinnedBulkRequest>;

/** A posted body; the domain parses it, so that all refusals have the same shape. */
export const RawPinned = JsonObject;

// ---- bulks

export const BulkItemStatus = z.enum(BULK_ITEM_STATUSES);
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
    /** Items that run at once now; lower while the provider refuses for lack of capacity. */
    currentConcurrency: z.int(),
    itemCount: z.int(),
    counts: z.record(BulkItemStatus, z.int()),
    /** Items that can be sent again without any risk of a second run. */
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

// ---- choices of the panel's form

/** A pin that the project can use, as a form offers it. */
export const PinChoice = z.object({
  pin: Pin,
  providerTitle: z.string(),
  modelTitle: z.string(),
  /** True if an account of the provider is connected or none is needed. */
  isConnected: z.boolean(),
  canDefer: z.boolean(),
  /** Members of `sampling` that both interface and model support. */
  sampling: z.array(PinnedSampling.keyof()),
});
export type PinChoice = z.output<typeof PinChoice>;
