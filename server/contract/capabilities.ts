import { z } from "zod";
import { JsonObject } from "./common";
import { PricingContract } from "./pricing";

export const ExecutionModeName = z.enum(["invoke_sync", "invoke_stream", "job_async"]);

export const CapabilityRef = z.object({ capability_key: z.string().min(1).max(128) });

export const ListCapabilities = z.object({
  q: z.string().max(500).optional(),
  view: z.string().max(50).optional(),
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

/** What would pay for a managed execution. To callers of no organization: what the catalog offers. */
export const Funding = z.object({
  /** managed_trial: the one-time allowance pays. */
  mode: z.enum(["managed", "managed_trial"]),
  eligible: z.boolean(),
  status: z.enum(["catalog_available", "ready", "funding_required"]),
  /** What helps where funds are required. */
  fundingOptions: z.array(z.string()).optional(),
  /** Left of allowance and wallet; sandbox money where the sandbox serves. */
  remainingMicros: z.int().optional(),
});
export type Funding = z.output<typeof Funding>;

export const CapabilityDescriptor = CapabilitySummary.extend({
  category: z.string(),
  inputSchema: JsonObject,
  outputSchema: JsonObject,
  uiSchema: JsonObject.optional(),
  idempotencyRequired: z.boolean(),
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
  funding: Funding,
  readySummary: z.string(),
  pricing: PricingContract,
  quoteTtlSeconds: z.int().nullable(),
  actionRisk: z.enum(["read_only", "reversible_write", "destructive_write", "financial_irreversible"]),
  minimumApproval: z.enum(["never", "always", "policy"]),
  intentExamples: z.array(z.string()),
  taskTags: z.array(z.string()),
  synonyms: z.array(z.string()),
  examples: z.array(JsonObject),
  nextAction: JsonObject,
}).meta({ id: "CapabilityDescriptor" });
export type CapabilityDescriptor = z.output<typeof CapabilityDescriptor>;

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
    /** Does durable work run on its cheaper tier, and what does that take off its token rates? */
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
