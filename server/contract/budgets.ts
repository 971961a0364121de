import { z } from "zod";
import { DateTime, pageLimit, queryFlag } from "./common";
import { BUDGET_ENFORCEMENTS, BUDGET_PERIODS } from "./enums";

export const BudgetPeriod = z.enum(BUDGET_PERIODS);
export type BudgetPeriod = z.output<typeof BudgetPeriod>;
export const BudgetEnforcement = z.enum(BUDGET_ENFORCEMENTS);
export type BudgetEnforcement = z.output<typeof BudgetEnforcement>;

const Id = z.string().min(1).max(64);
/** A billion dollars: far above any ceiling, far below what a number counts exactly. */
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

/** What counts in the current period: `held` is reserved by executions that have not ended, or whose end is unknown. */
export const BudgetSpend = z
  .object({
    periodStart: DateTime,
    /** Null: the period never ends. */
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
    /** The ceiling with the temporary increase, as long as it lasts. */
    effectiveCeilingMicros: z.int(),
    spend: BudgetSpend,
    /** Of test money, counted apart. */
    testSpend: BudgetSpend,
    updatedAt: DateTime,
  })
  .meta({ id: "Budget" });
export type BudgetView = z.output<typeof BudgetView>;

/** Whose ceiling: of a principal in one organization, where they have several. */
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
 * A project's whole policy: a list of ceilings, or the short form with one. `enforcement` is of every line that says none
 * of its own, and alone changes the current ones.
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
    /** The strictest of its budgets; off without any. */
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
    /** The comparison, while no one has judged it: its parts are one hold, open as long as any part is. */
    executionId: z.string(),
    capabilityKey: z.string().nullable(),
    /** Of the execution; null where it is no job. */
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
  /** Only of test money, or only of live money. */
  test: queryFlag.optional(),
  limit: pageLimit(200, 50),
  cursor: z.string().max(64).optional(),
});
export type ListHolds = z.input<typeof ListHolds>;
export const HoldPage = z.object({ items: z.array(HoldView), nextCursor: z.string().optional() });
export type HoldPage = z.output<typeof HoldPage>;

/** The outcome: charged this much in all, the service fee included, or nothing. */
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

/** Which ambiguous holds to resolve alike. What is left out selects all. */
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
  /** Not at all, or each at its amount. */
  outcome: z.enum(["not_charged", "charged"]),
  note: z.string().trim().min(1).max(1000),
  /** Counts and writes nothing. */
  dryRun: z.boolean(),
  /** The `nextCursor` of the call before. */
  cursor: Id.optional(),
});
export type ResolveHolds = z.output<typeof ResolveHolds>;

export const HoldsResolved = z.object({
  dryRun: z.boolean(),
  /** Of these some may have been resolved by others meanwhile. */
  matched: z.int(),
  resolved: z.int(),
  /** Only an operator may resolve them so. */
  refused: z.int(),
  /** What the resolved ones reserved, and the part that is charged. */
  reservedMicros: z.int(),
  chargedMicros: z.int(),
  nextCursor: z.string().optional(),
});
export type HoldsResolved = z.output<typeof HoldsResolved>;

export const Guardrails = z
  .object({
    organizationId: z.string(),
    /** Of what runs on the organization's own provider accounts, by the UTC day. Null: none. */
    dailyMicros: z.int().nullable(),
    /** Of one execution there. Null: none. */
    perExecutionMicros: z.int().nullable(),
    spend: BudgetSpend.nullable(),
  })
  .meta({ id: "Guardrails" });
export type Guardrails = z.output<typeof Guardrails>;
/** Ceilings of what runs on accounts of one's own, at list price. What is left out stays; null removes. */
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
