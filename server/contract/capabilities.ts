import { z } from "zod";
import { branded, JsonObject, PathId } from "./common";
import { PricingContract } from "./pricing";

export const ExecutionModeName = z.enum(["invoke_sync", "invoke_stream", "job_async"]);

export const CapabilityRef = z.object({ capability_key: PathId });

/** The project and environment whose view of the catalog is returned; a key that is bound to a project can leave both out. */
export const CatalogViewer = z.object({
  projectId: z.string().max(64).optional(),
  environment: z.string().max(64).optional(),
});

export const ListCapabilities = CatalogViewer.extend({
  q: z.string().max(500).optional(),
  view: z
    .enum(["summary"])
    .optional()
    .catch(undefined)
    .describe("`summary`: key, title, description and modes of each. Other values are ignored."),
});

export const DescribeCapability = CatalogViewer.extend({
  view: z
    .enum(["brief"])
    .optional()
    .catch(undefined)
    .describe("`brief`: what it takes to run it, in under 4 KB. Other values are ignored."),
});

export const ListExecutionTargets = CatalogViewer.extend({
  view: z
    .enum(["brief"])
    .optional()
    .catch(undefined)
    .describe("`brief`: the names alone of those that can run now. Other values are ignored."),
});

export const CapabilitySummary = z
  .object({
    key: z.string(),
    title: z.string(),
    description: z.string(),
    modality: z.string(),
    family: z.string(),
    executionModes: z.array(ExecutionModeName),
  })
  .meta({ id: "CapabilitySummary" });

const BillingModeFacts = z.object({
  available: z.boolean(),
  providerChargesIncluded: z.boolean().optional(),
  providerChargesExternal: z.boolean().optional(),
  serviceFeeBps: z.int().optional(),
  pricing: PricingContract,
});

/** How a managed execution would be paid. Callers without an organization get what the catalog offers. */
export const ManagedFunding = z.object({
  /** `managed_trial`: the one-time allowance pays. */
  mode: z.enum(["managed", "managed_trial"]),
  eligible: z.boolean(),
  status: z.enum(["catalog_available", "ready", "funding_required"]),
  /** Ways to get funds when `status` is `funding_required`. */
  fundingOptions: z.array(z.string()).optional(),
  /** Remaining allowance and wallet balance; test money if the sandbox serves the request. */
  remainingMicros: z.int().optional(),
});
export type ManagedFunding = z.output<typeof ManagedFunding>;

/**
 * Instructions for running a capability, equivalent for the `capstan` command, the TypeScript client, an `/mcp` tool
 * and plain HTTP.
 */
export const RunHint = z.object({
  cli: z.string(),
  sdk: z.string(),
  /** The equivalent call of an `/mcp` tool. */
  mcp: z.object({ tool: z.string(), arguments: JsonObject }).nullable(),
  http: z.object({ method: z.literal("POST"), path: z.string(), body: JsonObject }),
  requiredInputFields: z.array(z.string()),
  exampleInput: JsonObject,
  /** The command for an input in a file, and the content of that file. */
  inputFile: z.object({ path: z.string(), content: JsonObject, cli: z.string() }),
});
export type RunHint = z.output<typeof RunHint>;

/**
 * Instructions for running the capability. Command, client and `/mcp` lines are present only if a single capability is
 * described.
 */
const NextAction = z.object({
  kind: z.enum(["invoke", "submit_job"]),
  endpoint: z.string(),
  exampleInput: JsonObject,
  ...RunHint.pick({ cli: true, sdk: true, mcp: true }).partial().shape,
});

export const CapabilityDescriptor = CapabilitySummary.extend({
  category: z.string(),
  inputSchema: JsonObject,
  outputSchema: JsonObject,
  uiSchema: JsonObject.optional(),
  /** Always false: a request without an idempotency key is accepted, but only one with a key can be repeated safely. */
  idempotencyRequired: z.boolean(),
  idempotencyRecommended: z.boolean(),
  estimateAvailable: z.boolean(),
  descriptorAvailable: z.literal(true),
  features: JsonObject,
  constraints: JsonObject.optional(),
  billingModes: z.object({ byok: BillingModeFacts, managed: BillingModeFacts }).optional(),
  inputConstraints: z.record(
    z.string(),
    z.object({
      measurement: z.enum(["tokens", "characters"]),
      max: z.int().optional(),
      overflow: z.literal("reject"),
      semantic: z.boolean(),
      byModel: z.record(z.string(), z.object({ max: z.int() })).optional(),
    }),
  ),
  inputMediaTypes: z.array(z.string()),
  credentialSources: z.array(z.enum(["platform", "customer"])).optional(),
  defaultCredentialSource: z.enum(["platform", "customer"]).optional(),
  execution: z.object({
    oneShot: z.boolean(),
    managedInferenceAvailable: z.boolean(),
    inferenceProviderSetupRequired: z.boolean(),
    projectLocalRequired: z.boolean(),
    estimateAvailable: z.boolean(),
    trialEligible: z.boolean(),
    mode: z.enum(["invoke", "job"]),
  }),
  executionPreference: z.object({
    supported: z.array(z.string()),
    constraints: z.record(z.string(), z.boolean()),
  }),
  output: z.object({ kind: z.enum(["text", "structured", "artifact"]), mediaType: z.string() }),
  interaction: z.object({ typicallyRequired: z.boolean(), reason: z.string().nullable() }),
  funding: ManagedFunding,
  readySummary: z.string(),
  pricing: PricingContract,
  quoteTtlSeconds: z.int().nullable(),
  actionRisk: z.enum(["read_only", "reversible_write", "destructive_write", "financial_irreversible"]),
  minimumApproval: z.enum(["never", "always", "policy"]),
  intentExamples: z.array(z.string()),
  taskTags: z.array(z.string()),
  synonyms: z.array(z.string()),
  examples: z.array(JsonObject),
  nextAction: NextAction,
  /** `describe`: the complete description. `list`: an item of the catalog, whose `nextAction` has no lines to copy. */
  descriptorProjection: z.enum(["describe", "list"]),
}).meta({ id: "CapabilityDescriptor" });
export type CapabilityDescriptor = z.output<typeof CapabilityDescriptor>;

/** The short description that lets an agent run a capability, in a few hundred tokens. */
export const CapabilityBrief = CapabilitySummary.extend({
  inputSchema: JsonObject,
  /** The limits of input fields, of picture dimensions and of a job's time, as far as the capability has them. */
  limits: JsonObject,
  /** The lowest price, as text. Only a quote is authoritative. */
  priceFrom: z.string(),
  /** Path of the charged amount within a response. */
  youPay: z.string(),
  idempotencyRecommended: z.literal(true),
  /** One complete request for each mode. */
  run: z.array(
    z.object({
      mode: ExecutionModeName,
      request: z.string(),
      body: JsonObject,
      next: z.string().optional(),
      /** Event types of a stream in their order; one of the last two ends it. */
      events: z.array(z.string()).optional(),
      /** Time and rates of processing, if they differ from standard processing. */
      processing: z.string().optional(),
    }),
  ),
  more: z.record(z.string(), z.string()),
  descriptorProjection: z.literal("brief"),
});
export type CapabilityBrief = z.output<typeof CapabilityBrief>;

export const CapabilityList = z.object({
  capabilities: z.array(z.union([CapabilityDescriptor, CapabilitySummary])),
  pricingVersion: z.string(),
});

export const ExecutionTarget = z
  .object({
    target: z.string(),
    provider: z.string(),
    model: z.string(),
    title: z.string(),
    default: z.boolean(),
    availability: z.object({
      available: z.boolean(),
      billingModes: z.array(z.string()),
      reason: z.string().nullable(),
    }),
    contextWindowTokens: z.int().nullable(),
    maxOutputTokens: z.int().nullable(),
    supports: z.record(z.string(), z.boolean()),
    executionModes: z.array(ExecutionModeName),
    readerDelivery: z.object({ supported: z.boolean(), reason: z.string().nullable() }),
    /** Can durable jobs use the cheaper tier, and how much does it reduce the token rates? */
    deferredProcessing: z.object({ available: z.boolean(), discountBps: z.int() }),
  })
  .meta({ id: "ExecutionTarget" });

export const ExecutionTargetList = z
  .object({
    capabilityKey: z.string(),
    default: z.object({ selection: z.literal("unpinned"), target: z.string().nullable() }),
    targets: z.array(ExecutionTarget),
  })
  .meta({ id: "ExecutionTargetList" });
export type ExecutionTargetList = z.output<typeof ExecutionTargetList>;

/** Model names only, as `execution.executionConstraints.providerPin` accepts them. */
export const ExecutionTargetNames = ExecutionTargetList.pick({ capabilityKey: true }).extend({
  default: z.string().nullable(),
  available: z.array(z.string()),
});
export type ExecutionTargetNames = z.output<typeof ExecutionTargetNames>;

export const ModalityName = z.enum([
  "text",
  "image",
  "video",
  "audio",
  "mesh",
  "embedding",
  "moderation",
  "infrastructure",
]);

const RESOLUTION_VERSION = "service.capability-resolution.v1";

/** A task in the caller's own words, and requirements that the matching capability must meet. */
export const ResolutionRequest = z
  .strictObject({
    schemaVersion: branded(
      /^[a-z0-9-]+\.capability-resolution\.v1$/,
      RESOLUTION_VERSION,
      z.literal(RESOLUTION_VERSION),
    ).default(RESOLUTION_VERSION),
    intent: z.string().max(4000),
    requirements: z
      .strictObject({
        modality: ModalityName.nullish(),
        executionMode: ExecutionModeName.nullish(),
        /** Checked for signed-in callers only, because the answer depends on the caller. */
        runnableNow: z.boolean().nullish(),
      })
      .prefault({}),
  })
  .meta({ id: "CapabilityResolutionRequest" });
export type ResolutionRequest = z.output<typeof ResolutionRequest>;

export const CapabilityAccessDecision = z
  .strictObject({
    capabilityKey: z.string(),
    allowed: z.boolean(),
    runnable: z.boolean(),
    reason: z.string().nullish(),
    availableBillingModes: z.array(z.string()),
    availableCredentialSources: z.array(z.string()),
    availableFundingSources: z.array(z.string()),
    requiredAction: JsonObject.nullish(),
    humanGate: JsonObject.nullish(),
  })
  .meta({ id: "CapabilityAccessDecision" });
export type CapabilityAccessDecision = z.output<typeof CapabilityAccessDecision>;

export const ResolveCapability = z.object({
  view: z
    .enum(["brief"])
    .optional()
    .catch(undefined)
    .describe(
      "`brief`: each match without `pricing` and `runHint`, which are null; `GET /v1/capabilities/{key}?view=brief` has both in short. Other values are ignored.",
    ),
});

export const CapabilityMatch = z
  .object({
    capabilityKey: z.string(),
    title: z
      .string()
      .describe("What it does. Read it: the words of an intent may occur in one that does something else."),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .describe("How well the words match, not whether it does what is meant."),
    pricing: PricingContract.nullable(),
    runHint: RunHint.nullable(),
    /** Null for callers who are not signed in. */
    accessDecision: CapabilityAccessDecision.nullable(),
  })
  .meta({ id: "CapabilityMatch" });

export const ResolutionResponse = z
  .object({
    /** `no_match_not_requestable`: the text describes no task, or a task that this service does for no one. */
    resolution: z.enum(["supported", "no_match_requestable", "no_match_not_requestable"]),
    /** Best match first. */
    matches: z.array(CapabilityMatch),
    requirementsSatisfied: z.boolean(),
    /** The unmet requirements of the best match; empty if a match meets all. */
    unmetRequirements: z.array(z.string()),
    nextAction: z.object({ kind: z.string(), endpoint: z.string(), nonBinding: z.boolean() }).nullable(),
  })
  .meta({ id: "CapabilityResolutionResponse" });
export type ResolutionResponse = z.output<typeof ResolutionResponse>;

/**
 * How a capability's models would be compared, and how many executions of the caller's project there are to compare by.
 */
export const CapabilityBenchmarks = z
  .object({
    capabilityKey: z.string(),
    benchmarkPolicyId: z.string(),
    /** Always null: comparative scores are not computed. */
    scores: z.null(),
    definition: z.object({
      workloadProfiles: z.array(z.object({ id: z.string(), title: z.string(), input: JsonObject })),
      measures: z.array(z.object({ name: z.string(), unit: z.string(), description: z.string() })),
    }),
    /** Executions with a known outcome in one project of the caller; null and 0 for callers without a project. */
    coverage: z.object({
      projectId: z.string().nullable(),
      from: z.iso.date().nullable(),
      to: z.iso.date().nullable(),
      executions: z.int(),
      targets: z.array(
        z.object({
          /** Null if it ran without a provider. */
          target: z.string().nullable(),
          /** Runs on test money; their counts are never added to live ones. */
          test: z.boolean(),
          executions: z.int(),
          succeeded: z.int(),
          failed: z.int(),
          canceled: z.int(),
        }),
      ),
    }),
  })
  .meta({ id: "CapabilityBenchmarks" });
export type CapabilityBenchmarks = z.output<typeof CapabilityBenchmarks>;
