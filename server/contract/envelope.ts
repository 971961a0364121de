import { z } from "zod";
import { AnyJson, BillingMode, IdempotencyKey, JsonObject } from "./common";
import { DATA_CLASSES } from "./enums";

export { isPrivate } from "./enums";

export const DataClassification = z.enum(DATA_CLASSES);
export const RetentionRequirement = z.enum([
  "HashesOnly",
  "Transient",
  "EncryptedShortTerm",
  "ProductManaged",
  "ProductionAsset",
]);
/**
 * Days that content is kept; null means until it is deleted. HashesOnly stores no request, and keeps the result for one
 * hour so that it can be fetched.
 */
export const RETENTION_DAYS = {
  HashesOnly: 1 / 24,
  Transient: 30,
  EncryptedShortTerm: 7,
  ProductManaged: 180,
  ProductionAsset: null,
} as const satisfies Record<z.output<typeof RetentionRequirement>, number | null>;

export const MaturityRating = z.enum(["G", "PG", "PG13", "R", "NC17"]);
export type MaturityRating = z.output<typeof MaturityRating>;
export const MatureContentTrait = z.enum(["sexual_non_graphic", "sexual_explicit", "graphic_violence"]);
export const MaturitySource = z.enum([
  "explicit_invocation",
  "project_default",
  "workload_derived",
  "legacy_default",
]);
/** The rating of a job's content, and the source of that rating. */
export const Maturity = z.object({
  rating: MaturityRating.nullable(),
  traits: z.array(MatureContentTrait),
  source: MaturitySource.nullable(),
});
export type Maturity = z.output<typeof Maturity>;

export const Context = z
  .strictObject({
    productId: z
      .string()
      .max(255)
      .default("")
      .describe("A name of your own for the product that asks, repeated on the job and its receipt."),
    environment: z
      .string()
      .max(64)
      .default("")
      .describe("The project's environment, such as `development`. Empty: the key's own."),
    projectId: z
      .string()
      .max(64)
      .nullable()
      .default(null)
      .describe("The project it runs in. Needed with a key that is not bound to one."),
    dataClassification: DataClassification.default("Internal").describe(
      "How sensitive the content is. `PrivateUserContent` and `Manuscript` are stored encrypted and hidden in the panel.",
    ),
    retentionRequirement: RetentionRequirement.default("Transient").describe(
      "How long content is kept: `HashesOnly` not at all (one hour to fetch the result), `Transient` 30 days, `EncryptedShortTerm` 7 days, `ProductManaged` 180 days, `ProductionAsset` until it is deleted.",
    ),
  })
  .meta({ id: "CapabilityContext" });
export type Context = z.output<typeof Context>;

const BudgetMode = z
  .string()
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.enum(["off", "warn", "prevent", ""]))
  .transform((value) => (value === "" ? null : value));

export const ExecutionConstraints = z
  .strictObject({
    maxCostUsd: z
      .number()
      .gt(0)
      .nullish()
      .describe(
        "The most this request may cost, in US dollars. A higher estimate is refused with 402 BudgetExceeded.",
      ),
    providerPin: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe("The provider it must run on, or `provider/model`. Nothing else is tried."),
    preferredModel: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe("The model to use, as its id or `provider/model`."),
    autoSelect: z
      .boolean()
      .default(false)
      .describe("With `preferredModel`: another model may be used if that one is unavailable."),
    budgetEnforcement: BudgetMode.nullish().describe(
      "What a ceiling does: `off`, `warn` (a warning on the job) or `prevent` (402).",
    ),
    maxDurationSeconds: z
      .int()
      .min(5)
      .max(7200)
      .nullish()
      .describe(
        "The execution deadline in seconds, counted from its start. The capability may set a lower maximum.",
      ),
    timeoutSeconds: z.int().min(5).max(7200).nullish().describe("Another name of `maxDurationSeconds`."),
    queueDeadlineSeconds: z
      .int()
      .min(1)
      .max(7200)
      .nullish()
      .describe("How long a job may wait to start, in seconds, before it fails with QueueTimeout."),
  })
  .meta({ id: "ExecutionConstraints" });
export type ExecutionConstraints = z.output<typeof ExecutionConstraints>;

/** The maximum charge, as a Money object of this interface or in dollars. */
export const MaximumCharge = z
  .looseObject({
    amountMicros: z.int().min(0).nullish().describe("The amount in millionths of a US dollar."),
    amountUsd: z.number().min(0).nullish().describe("The amount in US dollars."),
    amountMinor: z.int().min(0).nullish().describe("The amount in cents."),
    currency: z.literal("USD").nullish().describe("Always `USD`."),
  })
  .catchall(AnyJson);

export const ExecutionOptions = z
  .strictObject({
    executionPreference: z
      .literal("automatic")
      .default("automatic")
      .describe("Only `automatic` is accepted."),
    billingMode: BillingMode.nullish().describe(
      "`byok` runs on your own provider account, `managed` on the operator's. Left out: your own account if one is connected.",
    ),
    credentialSource: z
      .enum(["platform", "customer"])
      .nullish()
      .describe("`platform` for the operator's account, `customer` for your own."),
    quoteId: z
      .string()
      .max(64)
      .nullish()
      .describe("A quote to hold the price to. The request must be exactly the quoted one."),
    estimateId: z.string().max(64).nullish().describe("Another name of `quoteId`."),
    maximumCharge: MaximumCharge.nullish().describe("The most you may be charged for this request."),
    executionConstraints: ExecutionConstraints.prefault({}).describe(
      "What the route, its cost and its time are limited to.",
    ),
  })
  .meta({ id: "CapabilityExecutionOptions" });

export const Sampling = z
  .strictObject({
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .describe("How random the answer is, where the model supports it."),
    reasoningIntent: z
      .enum(["omit", "economy", "balanced", "deep", "maximum"])
      .nullish()
      .describe("How much the model reasons before it answers, where it supports this."),
  })
  .meta({ id: "Sampling" });

export const Budget = z
  .strictObject({
    enforcement: BudgetMode.nullish().describe("What the ceiling does: `off`, `warn` or `prevent`."),
    maximumEstimatedCost: z
      .number()
      .gt(0)
      .nullish()
      .describe("The highest estimate that is accepted, in US dollars."),
  })
  .meta({ id: "RequestBudget" });

export const Tags = z
  .array(z.string())
  .default([])
  .describe("At most 32 labels of at most 256 characters, to find the job by.");

const shared = {
  externalRef: z
    .string()
    .nullish()
    .describe("A reference of your own, at most 255 characters, repeated on the job and its receipt."),
  tags: Tags,
  metadata: JsonObject.default({}).describe(
    "An object of your own, at most 16,384 bytes as JSON, repeated on the job and its receipt and never sent to a provider.",
  ),
  responseSchema: JsonObject.nullish().describe(
    "A JSON Schema that the answer must match, inlined. The route must support it.",
  ),
  responseSchemaName: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -")
    .nullish()
    .describe("A name for the schema. Left out: `answer`."),
  responseSchemaStrict: z
    .boolean()
    .nullish()
    .describe("Holds the model to the schema, where the provider can."),
  toolSchemas: z
    .array(JsonObject)
    .max(128)
    .nullish()
    .describe("Tools that the model may call: functions with a JSON Schema."),
  sampling: Sampling.nullish().describe("How the model samples its answer."),
  readerDelivery: z
    .strictObject({
      boundary: z.literal("paragraph").default("paragraph").describe("Where a piece of text ends."),
    })
    .nullish()
    .describe("Delivers the text of a job in pieces, as events of the type `job.reader_text`."),
  maturityRating: MaturityRating.nullish().describe(
    "The rating of what may be generated. Routes that allow less are not chosen.",
  ),
  matureContentTraits: z
    .array(MatureContentTrait)
    .max(3)
    .default([])
    .describe("What mature content may be generated."),
  maturitySource: MaturitySource.nullish().describe("Where the rating comes from."),
  context: Context.prefault({}).describe("Whose request this is, and how its content is kept."),
  input: JsonObject.prefault({}).describe("The input of the capability, as its `inputSchema` describes."),
  inputPayloadRef: z
    .string()
    .max(64)
    .nullish()
    .describe("The id of a stored input (`POST /v1/payloads`) to use in place of `input`."),
  execution: ExecutionOptions.prefault({}).describe("How it is billed, quoted and routed."),
  budget: Budget.nullish().describe(
    "A ceiling for this request; it can strengthen a stored budget, never weaken it.",
  ),
  idempotencyKey: IdempotencyKey.describe(
    "Makes a repeat safe: the same request with the same key returns the first execution. One is minted if it is left out.",
  ),
  correlationId: z
    .string()
    .max(255)
    .nullish()
    .describe("An id of your own that links this request to others."),
  taskKind: z.string().max(255).nullish().describe("A word of your own for the kind of work."),
  pin: z
    .strictObject({ target: z.string().min(1).max(255).describe("The route, as `provider/model`.") })
    .nullish()
    .describe("Exactly this target or nothing."),
};

export const JobRequest = z.strictObject(shared).meta({ id: "CapabilityJobRequest" });
export type JobRequest = z.output<typeof JobRequest>;

export const InvokeRequest = z
  .strictObject({
    ...shared,
    executionMode: z
      .enum(["RequestResponse", "Stream", "DurableJob", "ProductionWorkflow"])
      .nullish()
      .describe("`RequestResponse` waits for the output, `Stream` streams it. The others are refused here."),
  })
  .meta({ id: "CapabilityInvokeRequest" });
export type InvokeRequest = z.output<typeof InvokeRequest>;

export const QuoteRequest = z
  .strictObject({
    context: shared.context,
    input: shared.input,
    inputPayloadRef: shared.inputPayloadRef,
    execution: shared.execution,
  })
  .meta({ id: "RetailEstimateRequest" });
export type QuoteRequest = z.output<typeof QuoteRequest>;

/** A posted body: the envelope, or the bare input itself. Normalization tells them apart. */
export const RawEnvelope = JsonObject;
export type RawEnvelope = z.output<typeof RawEnvelope>;
