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

/** What an organization's settings say of its plan. What is there was parsed before it was written. */
export const PlanSettings = z.object({
  plan: z.string().optional().catch(undefined),
  limits: PlanLimits.partial().catch({}).default({}),
  features: PlanFeatures.partial().catch({}).default({}),
});

export type Settings = Record<string, Json>;
type Held = Pick<ProjectAccess, "organizationSettings">;

/** The plan an organization has. */
export function planOf(settings: Settings): Plan {
  const { plan } = settings;
  if (plan === undefined) return defaultPlan();
  return allPlans().find(({ slug }) => slug === plan) ?? defaultPlan();
}

/** The limits that hold for it: its plan's, and what an operator agreed with it instead. */
export function limitsOf(settings: Settings): Limits {
  const { limits } = planOf(settings);
  if (settings.limits === undefined) return limits;
  return { ...limits, ...PlanSettings.parse(settings).limits };
}

export const limitOf = ({ organizationSettings }: Held, limit: PlanLimit): number | null =>
  limitsOf(organizationSettings)[limit];

/** The next plan that allows more than this; null: none that is listed. */
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
    // The wire shows it with every upgrade.
    concurrentDurableJobs: next.limits.concurrentDurableJobs,
  };
}

const WORDS: Record<"users" | "projects" | "environments" | "apiKeys", string> = {
  users: "members and open invitations",
  projects: "active projects",
  environments: "active environments per project",
  apiKeys: "active API keys",
};

/** Refuses what would make it `count`, where the plan has room for fewer. The caller counts under a lock. */
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
