import { z } from "zod";
import { BudgetEnforcement, BudgetPeriod } from "./budgets";
import { CapabilityAccessDecision } from "./capabilities";
import { DateTime, JsonObject, JsonValue } from "./common";
import { EnvironmentSlug, Scope } from "./organizations";

/** The project to diagnose; keys that are bound to a project can leave it out. */
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
    /** Used for requests that name no project; null if every request must name one. */
    projectId: z.string().nullable(),
    tokenProjectId: z.string().nullable(),
    principalProjectId: z.string().nullable(),
    environment: z.string(),
    scopes: z.array(Scope),
    expiresAt: DateTime.nullable(),
    /** Every spending limit that counts this key's executions, with the remaining amount. */
    ceilings: z.array(
      z.object({
        scope: z.string(),
        period: BudgetPeriod,
        enforcement: BudgetEnforcement,
        ceilingMicros: z.int(),
        availableMicros: z.int(),
        /** Test money is counted separately. */
        testAvailableMicros: z.int(),
        periodEnd: DateTime.nullable(),
      }),
    ),
    /**
     * Rate limit of this key at the process that answers, with the values of `ratelimit-policy`, `-remaining` and
     * `-reset`.
     */
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
  /** Modalities of its models. */
  modalities: z.array(z.string()),
  models: z.int(),
  available: z.boolean(),
  /** Accounts that reach the provider now; the customer's own is used first. */
  accounts: z.array(z.enum(["customer", "operator", "sandbox"])),
  reason: z.string().nullable(),
});

/**
 * Amounts are in US dollars. The managed fields give the visible credit, the remaining trial and the amount that can be
 * spent.
 */
export const ProviderDiagnostics = z
  .object({
    projectId: z.string().nullable(),
    environment: z.string().nullable(),
    generationProviders: z.array(GenerationProvider),
    byokBound: z.boolean(),
    /** Does any account reach an image model? */
    imageProviderReady: z.boolean(),
    /** Can the caller generate an image now? */
    imageGenerationReady: z.boolean(),
    imageGenerationAccess: z.object({ reason: z.string().nullable(), requiredAction: JsonObject.nullable() }),
    managedTrialRemaining: z.number(),
    managedCreditRemaining: z.number(),
    managedCreditSemantics: z.literal("customer_visible_available_credit"),
    managedExecutionFundingRemaining: z.number(),
    managedExecutionFundingAvailable: z.boolean(),
    managedExecutionFundingSource: z.string().nullable(),
    managedExecutionFundingSources: z.array(z.string()),
    /** Does the operator of this installation have an account at any provider? */
    managedOperatorFundingPresent: z.boolean(),
    /** Could a small managed execution be paid and run now? */
    managedSmokeAvailable: z.boolean(),
    /** Share of all capabilities, written `covered/all`. */
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
  /** Capability keys; the parameter can be repeated. */
  capabilities: z.array(z.string().min(1).max(128)).max(MOST_CAPABILITIES).default([]),
});

export const Readiness = z
  .object({
    projectId: z.string().nullable(),
    environment: z.string().nullable(),
    /** True if all checks pass and all requested capabilities are ready. */
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
/** Facts that an agent needs before its first call; the profile decides which members are present. */
export const AgentContext = z
  .object({
    version: z.literal("service-public-1"),
    profile: AgentContextProfile,
    /** SHA-256 of the RFC 8785 form of all other members. */
    contentHash: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .catchall(JsonValue)
  .meta({ id: "AgentContext" });
export type AgentContext = z.output<typeof AgentContext>;
