import { z } from "zod";
import { DateTime, pageLimit, queryFlag } from "./common";
import { BUDGET_ENFORCEMENTS, BUDGET_PERIODS } from "./enums";

export const BudgetPeriod = z.enum(BUDGET_PERIODS);
export type BudgetPeriod = z.output<typeof BudgetPeriod>;
export const BudgetEnforcement = z.enum(BUDGET_ENFORCEMENTS);
export type BudgetEnforcement = z.output<typeof BudgetEnforcement>;

const Id = z.string().min(1).max(64);
/** A billion dollars: far above any real ceiling, and below the largest integer that a number holds exactly. */
export const MOST_MICROS = 1e15;
const Micros = z.int().min(0).max(MOST_MICROS);
const Usd = z
  .number()
  .min(0)
  .max(MOST_MICROS / 1e6);

export const TemporaryIncrease = z
  .strictObject({
    amountMicros: Micros.min(1),
    until: DateTime,
    reason: z.string().trim().min(1).max(500),
  })
  .meta({ id: "TemporaryIncrease", description: "Added to the limit until that time." });
export type TemporaryIncrease = z.output<typeof TemporaryIncrease>;

/**
 * Spend of the current period. `heldMicros` is reserved by executions that have not ended or whose outcome is unknown.
 */
export const BudgetSpend = z
  .object({
    periodStart: DateTime,
    /** Null if the period never ends. */
    periodEnd: DateTime.nullable(),
    settledMicros: z.int(),
    heldMicros: z.int(),
    availableMicros: z.int(),
  })
  .meta({ id: "BudgetSpend" });
export type BudgetSpend = z.output<typeof BudgetSpend>;

export const BudgetView = z
  .object({
    budgetId: z.string(),
    organizationId: z.string(),
    projectId: z.string().nullable(),
    scope: z.string(),
    period: BudgetPeriod,
    ceilingMicros: z.int(),
    ceilingUsd: z.number(),
    enforcement: BudgetEnforcement,
    managedOnly: z.boolean(),
    temporaryIncrease: TemporaryIncrease.extend({ reason: z.string() }).nullable(),
    /** The ceiling plus the temporary increase while that lasts. */
    effectiveCeilingMicros: z.int(),
    spend: BudgetSpend,
    /** Test money is counted separately. */
    testSpend: BudgetSpend,
    updatedAt: DateTime,
  })
  .meta({ id: "Budget" });
export type BudgetView = z.output<typeof BudgetView>;

/**
 * The owner of a budget: one project, one organization or one principal. A principal and an organization together mean
 * the principal's spend within that organization.
 */
export const BudgetOwner = z
  .strictObject({ organizationId: Id.optional(), projectId: Id.optional(), principalId: Id.optional() })
  .refine(
    ({ organizationId, projectId, principalId }) =>
      projectId ? !organizationId && !principalId : Boolean(organizationId || principalId),
    { message: "Send a project, an organization or a principal.", path: ["projectId"] },
  );
export type BudgetOwner = z.output<typeof BudgetOwner>;

export const SetBudget = z
  .strictObject({
    owner: BudgetOwner,
    period: BudgetPeriod,
    ceilingMicros: Micros,
    enforcement: BudgetEnforcement,
    managedOnly: z
      .boolean()
      .default(false)
      .meta({ description: "Leaves out what runs on your own accounts." }),
  })
  .meta({ id: "BudgetSet" });
export type SetBudget = z.input<typeof SetBudget>;

export const BudgetRef = z.strictObject({ budgetId: Id });
export const IncreaseBudget = TemporaryIncrease.extend({ budgetId: Id });
export const ListBudgets = z.object({ organizationId: Id.optional(), projectId: Id.optional() });
export type ListBudgets = z.output<typeof ListBudgets>;
export const BudgetList = z.object({ items: z.array(BudgetView) }).meta({ id: "BudgetList" });

const PolicyLine = z.strictObject({
  period: BudgetPeriod,
  ceilingMicros: Micros.nullish(),
  ceilingUsd: Usd.nullish(),
  enforcement: BudgetEnforcement.nullish(),
  managedOnly: z.boolean().nullish(),
  temporaryIncrease: TemporaryIncrease.nullish(),
});

/**
 * A project's whole policy: a list of ceilings, or the short form with one. `enforcement` applies to every line without
 * its own; sent alone, it changes the current lines.
 */
export const PutBudgetPolicy = z
  .strictObject({
    enforcement: BudgetEnforcement.nullish(),
    budgets: z.array(PolicyLine).max(3).nullish(),
    ...PolicyLine.omit({ enforcement: true }).partial().shape,
  })
  .meta({ id: "BudgetPolicyUpdate" });
export type PutBudgetPolicy = z.output<typeof PutBudgetPolicy>;

export const BudgetPolicy = z
  .object({
    projectId: z.string(),
    /** The strictest enforcement among the project's budgets; `off` if there are none. */
    enforcement: BudgetEnforcement,
    budgets: z.array(BudgetView),
  })
  .meta({ id: "BudgetPolicy" });
export type BudgetPolicy = z.output<typeof BudgetPolicy>;

export const HoldView = z
  .object({
    holdId: z.string(),
    organizationId: z.string(),
    projectId: z.string(),
    /** The comparison's id until it is judged: its parts then share one hold, which is open while any part is. */
    executionId: z.string(),
    capabilityKey: z.string().nullable(),
    /** Status of the execution; null for a comparison that is not judged. */
    status: z.string().nullable(),
    principalId: z.string(),
    personId: z.string().nullable(),
    billingMode: z.string(),
    isTest: z.boolean(),
    amountMicros: z.int(),
    state: z.enum(["open", "settled", "released", "ambiguous"]),
    settledMicros: z.int().nullable(),
    createdAt: DateTime,
    resolvedAt: DateTime.nullable(),
    resolvedBy: z.string().nullable(),
    note: z.string().nullable(),
    resolution: z
      .enum(["person", "late_answer", "asked_again", "written_off", "never_sent"])
      .nullable()
      .meta({
        description:
          "How an ambiguous hold ended: a person resolved it, an answer arrived after the end, the provider was asked again, it was written off, or nothing had been sent. Null: the hold ended with its execution, or has not ended.",
      }),
  })
  .meta({ id: "Hold" });
export type HoldView = z.output<typeof HoldView>;

export const ListHolds = z.object({
  organizationId: Id.optional(),
  projectId: Id.optional(),
  state: z.enum(["open", "ambiguous"]).optional(),
  /** True lists test money only, false live money only. */
  test: queryFlag.optional(),
  limit: pageLimit(200, 50),
  cursor: z.string().max(64).optional(),
});
export type ListHolds = z.input<typeof ListHolds>;
export const HoldPage = z.object({ items: z.array(HoldView), nextCursor: z.string().optional() });
export type HoldPage = z.output<typeof HoldPage>;

/** The outcome of an ambiguous hold: the total charge including the service fee, or no charge. */
export const ResolveHold = z
  .strictObject({
    chargedMicros: Micros.optional(),
    notCharged: z.literal(true).optional(),
    note: z.string().trim().min(1).max(1000),
  })
  .refine(({ chargedMicros, notCharged }) => (chargedMicros === undefined) === (notCharged === true), {
    message: "Send either chargedMicros or notCharged.",
    path: ["chargedMicros"],
  })
  .meta({ id: "HoldResolve" });
export type ResolveHold = z.input<typeof ResolveHold>;

/** Selects the ambiguous holds to resolve together; a filter that is left out excludes none. */
export const HoldFilter = z.strictObject({
  organizationId: Id.optional(),
  projectId: Id.optional(),
  billingMode: z.enum(["managed", "byok"]).optional(),
  isTest: z.boolean().optional(),
  capabilityKey: z.string().min(1).max(128).optional(),
  provider: z.string().min(1).max(64).optional(),
  createdBefore: DateTime.optional(),
});

export const ResolveHolds = z.strictObject({
  filter: HoldFilter,
  /** `charged` charges each hold its reserved amount. */
  outcome: z.enum(["not_charged", "charged"]),
  note: z.string().trim().min(1).max(1000),
  /** Counts the holds and changes nothing. */
  dryRun: z.boolean(),
  cursor: Id.optional(),
});
export type ResolveHolds = z.output<typeof ResolveHolds>;

export const HoldsResolved = z.object({
  dryRun: z.boolean(),
  /** Holds found by the filter; some of them may have been resolved by others before this call reached them. */
  matched: z.int(),
  resolved: z.int(),
  /** Holds that only an operator can resolve this way. */
  refused: z.int(),
  /** The total reserved by the resolved holds, and the part of it that is charged. */
  reservedMicros: z.int(),
  chargedMicros: z.int(),
  nextCursor: z.string().optional(),
});
export type HoldsResolved = z.output<typeof HoldsResolved>;

export const Guardrails = z
  .object({
    organizationId: z.string(),
    /** Ceiling per UTC day for executions on the organization's own provider accounts; null means no ceiling. */
    dailyMicros: z.int().nullable(),
    /** Ceiling for one such execution; null means no ceiling. */
    perExecutionMicros: z.int().nullable(),
    spend: BudgetSpend.nullable(),
  })
  .meta({ id: "Guardrails" });
export type Guardrails = z.output<typeof Guardrails>;
/**
 * Ceilings at list price for executions on the customer's own accounts. A field that is left out stays; null removes
 * its ceiling.
 */
export const UserGuardrails = z
  .strictObject({ dailyMicros: Micros.nullish(), perExecutionMicros: Micros.nullish() })
  .meta({ id: "UserGuardrails" });
export type UserGuardrails = z.output<typeof UserGuardrails>;
export const ChangeGuardrails = UserGuardrails.extend({ organizationId: Id.optional() }).meta({
  id: "GuardrailsUpdate",
});
export type ChangeGuardrails = z.output<typeof ChangeGuardrails>;
export const OrganizationQuery = z.object({ organizationId: Id.optional() });

export const BudgetAlert = z
  .object({
    alertId: z.string(),
    budgetId: z.string(),
    scope: z.string(),
    period: BudgetPeriod,
    periodStart: DateTime,
    percent: z.int(),
    spentMicros: z.int(),
    reservedMicros: z.int(),
    ceilingMicros: z.int(),
    enforcement: BudgetEnforcement,
    isTest: z.boolean(),
    createdAt: DateTime,
  })
  .meta({ id: "BudgetAlert" });
export type BudgetAlert = z.output<typeof BudgetAlert>;
