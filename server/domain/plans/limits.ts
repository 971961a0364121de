import { z } from "zod";
import {
  type PlanLimits as Limits,
  type Plan,
  PlanFeatures,
  type PlanLimit,
  PlanLimits,
} from "@/server/contract/billing";
import type { ProjectAccess } from "@/server/domain/access";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { allPlans, defaultPlan } from "./define";

/** Plan, limits and features in an organization's settings; validated on write. */
export const PlanSettings = z.object({
  plan: z.string().optional().catch(undefined),
  limits: PlanLimits.partial().catch({}).default({}),
  features: PlanFeatures.partial().catch({}).default({}),
});

export type Settings = Record<string, Json>;
type Held = Pick<ProjectAccess, "organizationSettings">;

/** Returns the plan of an organization, or the default plan if its own is not listed. */
export function planOf(settings: Settings): Plan {
  const { plan } = settings;
  if (plan === undefined) return defaultPlan();
  return allPlans().find(({ slug }) => slug === plan) ?? defaultPlan();
}

/**
 * Returns the limits of an organization: those of its plan, overridden by the operator's agreement with it.
 */
export function limitsOf(settings: Settings): Limits {
  const { limits } = planOf(settings);
  if (settings.limits === undefined) return limits;
  return { ...limits, ...PlanSettings.parse(settings).limits };
}

export const limitOf = ({ organizationSettings }: Held, limit: PlanLimit): number | null =>
  limitsOf(organizationSettings)[limit];

/** Returns the next plan that allows more than `most`; null if none is listed. */
export function upgradeOf(settings: Settings, limit: PlanLimit, most: number) {
  const plans = allPlans();
  const next = plans
    .slice(plans.indexOf(planOf(settings)) + 1)
    .find(({ limits }) => limits[limit] === null || limits[limit] > most);
  if (!next) return null;
  return {
    plan: next.slug,
    displayName: next.displayName,
    monthlyUsd: next.monthlyUsd,
    [limit]: next.limits[limit],
    // The API shows this limit with every upgrade.
    concurrentDurableJobs: next.limits.concurrentDurableJobs,
  };
}

const WORDS: Record<"users" | "projects" | "environments" | "apiKeys", string> = {
  users: "members and open invitations",
  projects: "active projects",
  environments: "active environments per project",
  apiKeys: "active API keys",
};

/**
 * Refuses a change that would raise the number to `count` if the plan allows fewer. The caller counts under
 * a lock.
 */
export function requireRoom(settings: Settings, limit: keyof typeof WORDS, count: number): void {
  const most = limitsOf(settings)[limit];
  if (most === null || count <= most) return;
  fail(
    "PlanLimitReached",
    `The plan allows at most ${most} ${WORDS[limit]}. Remove one, or change the plan.`,
    {
      limit,
      most,
      current: count - 1,
      plan: planOf(settings).slug,
      upgrade: upgradeOf(settings, limit, most),
    },
  );
}
