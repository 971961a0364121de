import { z } from "zod";
import { BudgetEnforcement, BudgetPeriod } from "./budgets";
import { CapabilityAccessDecision } from "./capabilities";
import { DateTime, JsonObject, JsonValue } from "./common";
import { EnvironmentSlug, Scope } from "./organizations";

/** The caller's project; a key of a project need not say. */
export const DiagnosticsQuery = z.object({
  projectId: z.string().min(1).max(64).optional(),
  environment: EnvironmentSlug.optional(),
});

export const SessionDiagnostics = z
  .object({
    authenticated: z.literal(true),
    principalId: z.string(),
    principalKind: z.string(),
    organizationId: z.string(),
    /** The project of requests that name none; null: each has to name one. */
    projectId: z.string().nullable(),
    tokenProjectId: z.string().nullable(),
    principalProjectId: z.string().nullable(),
    environment: z.string(),
    scopes: z.array(Scope),
    expiresAt: DateTime.nullable(),
    /** Every spending limit that counts what this key runs, and the amount left. */
    ceilings: z.array(
      z.object({
        scope: z.string(),
        period: BudgetPeriod,
        enforcement: BudgetEnforcement,
        ceilingMicros: z.int(),
        availableMicros: z.int(),
        /** Of test money, counted apart. */
        testAvailableMicros: z.int(),
        periodEnd: DateTime.nullable(),
      }),
    ),
    /** Requests of this key, at the process that answers: the same as the `ratelimit-*` headers. */
    rateLimit: z.object({
      perMinute: z.int(),
      burst: z.int(),
      remaining: z.int(),
      resetSeconds: z.int(),
    }),
    apiVersion: z.string(),
    routeBundleVersion: z.string(),
    routeBundleHash: z.string(),
    serverTime: DateTime,
  })
  .meta({ id: "SessionDiagnostics" });
export type SessionDiagnostics = z.output<typeof SessionDiagnostics>;
export type SpendingCeiling = SessionDiagnostics["ceilings"][number];

const GenerationProvider = z.object({
  provider: z.string(),
  title: z.string(),
  /** What its models do. */
  modalities: z.array(z.string()),
  models: z.int(),
  available: z.boolean(),
  /** Whose account reaches it now: the customer's own goes first. */
  accounts: z.array(z.enum(["customer", "operator", "sandbox"])),
  reason: z.string().nullable(),
});

/** Amounts are in US dollars. Of managed work: what customers see as credit, what is left of the trial, and what can be spent. */
export const ProviderDiagnostics = z
  .object({
    projectId: z.string().nullable(),
    environment: z.string().nullable(),
    generationProviders: z.array(GenerationProvider),
    byokBound: z.boolean(),
    /** Is there any account that reaches an image model? */
    imageProviderReady: z.boolean(),
    /** Could the caller generate an image now? */
    imageGenerationReady: z.boolean(),
    imageGenerationAccess: z.object({ reason: z.string().nullable(), requiredAction: JsonObject.nullable() }),
    managedTrialRemaining: z.number(),
    managedCreditRemaining: z.number(),
    managedCreditSemantics: z.literal("customer_visible_available_credit"),
    managedExecutionFundingRemaining: z.number(),
    managedExecutionFundingAvailable: z.boolean(),
    managedExecutionFundingSource: z.string().nullable(),
    managedExecutionFundingSources: z.array(z.string()),
    /** Has the operator of this deployment an account at any provider? */
    managedOperatorFundingPresent: z.boolean(),
    /** Could a small managed execution be paid and run now? */
    managedSmokeAvailable: z.boolean(),
    /** Of all capabilities, as `covered/all`. */
    managedExecutionCoverage: z.string(),
    managedExecutionCoverageDetail: z.object({
      covered: z.array(z.string()),
      uncovered: z.array(z.string()),
    }),
    sandbox: z.object({ available: z.boolean(), remaining: z.number() }),
  })
  .meta({ id: "ProviderDiagnostics" });
export type ProviderDiagnostics = z.output<typeof ProviderDiagnostics>;

const MOST_CAPABILITIES = 100;
export const ReadinessQuery = DiagnosticsQuery.extend({
  /** Keys, repeated. */
  capabilities: z.array(z.string().min(1).max(128)).max(MOST_CAPABILITIES).default([]),
});

export const Readiness = z
  .object({
    projectId: z.string().nullable(),
    environment: z.string().nullable(),
    /** Do all checks and all capabilities asked for hold? */
    ready: z.boolean(),
    checks: z.array(
      z.object({
        name: z.enum(["project", "permission", "provider", "funding"]),
        ok: z.boolean(),
        detail: z.string(),
      }),
    ),
    capabilities: z.array(
      z.object({
        capabilityKey: z.string(),
        known: z.boolean(),
        ready: z.boolean(),
        accessDecision: CapabilityAccessDecision.nullable(),
        nearestMatches: z.array(z.string()).optional(),
      }),
    ),
  })
  .meta({ id: "ProjectReadiness" });
export type Readiness = z.output<typeof Readiness>;

export const AgentContextProfile = z.enum(["full", "compact", "integration"]);
export const AgentContextQuery = z.object({ profile: AgentContextProfile.default("full") });
/** What an agent needs to know before its first call; which members it has depends on the profile. */
export const AgentContext = z
  .object({
    version: z.literal("service-public-1"),
    profile: AgentContextProfile,
    /** SHA-256 of the RFC 8785 form of everything else. */
    contentHash: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .catchall(JsonValue)
  .meta({ id: "AgentContext" });
export type AgentContext = z.output<typeof AgentContext>;
