import { z } from "zod";
import { AnyJson, BillingMode, IdempotencyKey, JsonObject } from "./common";

export const DataClassification = z.enum([
  "Public",
  "Internal",
  "Confidential",
  "PrivateUserContent",
  "Manuscript",
]);
const CONFIDENTIAL = new Set<string>(["PrivateUserContent", "Manuscript"] satisfies z.output<
  typeof DataClassification
>[]);
/** Whether content of this class is private: kept encrypted, and shown only to a reader who asks for it. */
export const isPrivate = (dataClassification: string) => CONFIDENTIAL.has(dataClassification);

export const RetentionRequirement = z.enum([
  "HashesOnly",
  "Transient",
  "EncryptedShortTerm",
  "ProductManaged",
  "ProductionAsset",
]);
/** Days content is kept; null: until it is deleted. HashesOnly keeps no request, and the result for an hour to fetch it. */
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
/** What a job's content may show, and who said so. */
export const Maturity = z.object({
  rating: MaturityRating.nullable(),
  traits: z.array(MatureContentTrait),
  source: MaturitySource.nullable(),
});
export type Maturity = z.output<typeof Maturity>;

export const Context = z.strictObject({
  productId: z.string().max(255).default(""),
  environment: z.string().max(64).default(""),
  projectId: z.string().max(64).nullable().default(null),
  dataClassification: DataClassification.default("Internal"),
  retentionRequirement: RetentionRequirement.default("Transient"),
});
export type Context = z.output<typeof Context>;

const BudgetMode = z
  .string()
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.enum(["off", "warn", "prevent", ""]))
  .transform((value) => (value === "" ? null : value));

export const ExecutionConstraints = z.strictObject({
  maxCostUsd: z.number().gt(0).nullish(),
  providerPin: z.string().min(1).max(255).nullish(),
  preferredModel: z.string().min(1).max(255).nullish(),
  autoSelect: z.boolean().default(false),
  budgetEnforcement: BudgetMode.nullish(),
  maxDurationSeconds: z.int().min(5).max(7200).nullish(),
  timeoutSeconds: z.int().min(5).max(7200).nullish(),
  queueDeadlineSeconds: z.int().min(1).max(7200).nullish(),
});
export type ExecutionConstraints = z.output<typeof ExecutionConstraints>;

/** The most the caller may be charged: an amount of money as this interface writes it, or dollars. */
export const MaximumCharge = z
  .looseObject({
    amountMicros: z.int().min(0).nullish(),
    amountUsd: z.number().min(0).nullish(),
    amountMinor: z.int().min(0).nullish(),
    currency: z.literal("USD").nullish(),
  })
  .catchall(AnyJson);

export const ExecutionOptions = z.strictObject({
  executionPreference: z.literal("automatic").default("automatic"),
  billingMode: BillingMode.nullish(),
  credentialSource: z.enum(["platform", "customer"]).nullish(),
  quoteId: z.string().max(64).nullish(),
  estimateId: z.string().max(64).nullish(),
  maximumCharge: MaximumCharge.nullish(),
  executionConstraints: ExecutionConstraints.prefault({}),
});

export const Sampling = z.strictObject({
  temperature: z.number().min(0).max(2).nullish(),
  reasoningIntent: z.enum(["omit", "economy", "balanced", "deep", "maximum"]).nullish(),
});

export const Budget = z.strictObject({
  enforcement: BudgetMode.nullish(),
  maximumEstimatedCost: z.number().gt(0).nullish(),
});

const shared = {
  externalRef: z.string().nullish(),
  tags: z.array(z.string()).default([]),
  metadata: JsonObject.default({}),
  responseSchema: JsonObject.nullish(),
  toolSchemas: z.array(JsonObject).max(128).nullish(),
  sampling: Sampling.nullish(),
  readerDelivery: z.strictObject({ boundary: z.literal("paragraph").default("paragraph") }).nullish(),
  maturityRating: MaturityRating.nullish(),
  matureContentTraits: z.array(MatureContentTrait).max(3).default([]),
  maturitySource: MaturitySource.nullish(),
  context: Context.prefault({}),
  input: JsonObject.prefault({}),
  inputPayloadRef: z.string().max(64).nullish(),
  execution: ExecutionOptions.prefault({}),
  budget: Budget.nullish(),
  idempotencyKey: IdempotencyKey,
  correlationId: z.string().max(255).nullish(),
  taskKind: z.string().max(255).nullish(),
  pin: z.strictObject({ target: z.string().min(1).max(255) }).nullish(),
};

export const JobRequest = z.strictObject(shared).meta({ id: "CapabilityJobRequest" });
export type JobRequest = z.output<typeof JobRequest>;

export const InvokeRequest = z
  .strictObject({
    ...shared,
    executionMode: z.enum(["RequestResponse", "Stream", "DurableJob", "ProductionWorkflow"]).nullish(),
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

/** What a caller may post: the envelope, or a bare body that is the input itself. Normalization decides. */
export const RawEnvelope = JsonObject;
export type RawEnvelope = z.output<typeof RawEnvelope>;
