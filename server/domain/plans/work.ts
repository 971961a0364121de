import type { PlanLimit } from "@/server/contract/billing";
import type { ProjectAccess } from "@/server/domain/access";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { int4, maybe, type Of } from "@/server/sql/column";
import { allPlans, defaultPlan } from "./define";
import { requireExternal } from "./external";
import { limitsOf, planOf, type Settings, upgradeOf } from "./limits";

/*
 * The statement that admits work enforces its limits (capstan_take in prisma/guards/4-plans.sql), so
 * concurrent admissions cannot exceed them. An admission passes the limits of its organization; without any
 * limit, the function is not called.
 */

/**
 * Common table expression that follows `mine`, the rows of an admission: counts them against the plan before
 * any money is reserved.
 */
export const TAKEN = `taken AS MATERIALIZED (
  SELECT CASE WHEN EXISTS (SELECT FROM mine WHERE most_active IS NOT NULL OR most_inferences IS NOT NULL)
    THEN capstan_take(ARRAY(SELECT ROW(organization_id, id, most_active, most_inferences, 1, created_at)::plan_taking FROM mine)) END
)`;

/** Columns of the limits that an admission passes; null for no limit. */
export const ADMISSION_LIMITS = { most_active: maybe(int4), most_inferences: maybe(int4) };
export type AdmissionLimits = Of<typeof ADMISSION_LIMITS>;

/**
 * Returns the limits that an execution must pass to its admission, so no entry point can skip this check. If
 * `leaves` is true, the execution would call a provider: throws EXTERNAL_ACTIONS_DISABLED if the organization
 * has turned such calls off.
 */
export function underOrganization(
  project: Pick<ProjectAccess, "id" | "organizationSettings">,
  { kind, leaves }: { kind: "job" | "inference"; leaves: boolean },
): AdmissionLimits {
  if (leaves) requireExternal(project);
  const { activeDurableJobs, lightweightInferencesPerHour } = limitsOf(project.organizationSettings);
  return kind === "job"
    ? { most_active: activeDurableJobs, most_inferences: null }
    : { most_active: null, most_inferences: lightweightInferencesPerHour };
}

const NAME = { active: "activeDurableJobs", inferences: "lightweightInferencesPerHour" } as const;
type Refused = {
  kind: keyof typeof NAME;
  current: number;
  most: number;
  retryAfterSeconds: number;
  settings: Settings;
};

/** Turns the refusals of capstan_take into API errors; rethrows any other error. */
export function refuseWork(cause: unknown): never {
  const { code, detail } = cause as { code?: string; detail?: string };
  if (code !== "CB429") throw cause;
  const { kind, current, most, retryAfterSeconds, settings } = JSON.parse(detail ?? "{}") as Refused; // written by that function
  const details: Record<string, Json> & { retryAfterSeconds: number } = {
    limit: NAME[kind],
    most,
    current,
    plan: planOf(settings).slug,
    upgrade: upgradeOf(settings, NAME[kind], most),
    retryAfterSeconds,
  };
  if (kind === "active")
    fail(
      "DURABLE_CONCURRENCY_LIMIT",
      `The plan allows at most ${most} unfinished jobs. Wait until some have ended.`,
      details,
    );
  fail(
    "RateLimited",
    `The plan allows ${most} synchronous and pinned executions an hour, and all are used. Try again later, or submit durable jobs.`,
    details,
  );
}

/**
 * Returns this limit by plan slug, with the default plan under the empty string. Null if no plan has this
 * limit.
 */
export function limitByPlan(limit: PlanLimit): Record<string, number | null> | null {
  const plans = allPlans();
  if (plans.every(({ limits }) => limits[limit] === null)) return null;
  const all = plans.map(({ slug, limits }) => [slug, limits[limit]] as const);
  return Object.fromEntries([...all, ["", defaultPlan().limits[limit]]]);
}

/**
 * SQL expression for the limit of the row `organization`; `byPlan` is the result of `limitByPlan`. Null for
 * no limit.
 */
export const limitInSql = (limit: PlanLimit, byPlan: string) => `(CASE
  WHEN organization.settings->'limits' ? '${limit}' THEN organization.settings->'limits'->>'${limit}'
  WHEN ${byPlan} ? (organization.settings->>'plan') THEN ${byPlan}->>(organization.settings->>'plan')
  ELSE ${byPlan}->>'' END)::int`;
