import { z } from "zod";
import { type Plan, PlanFeatures, PlanLimits, PlanSlug } from "@/server/contract/billing";
import { env } from "@/server/platform/settings/env";
import { exitRefused, Refusal } from "@/server/platform/settings/refusal";

const NO_LIMITS: PlanLimits = {
  users: null,
  projects: null,
  environments: null,
  apiKeys: null,
  concurrentDurableJobs: null,
  activeDurableJobs: null,
  lightweightInferencesPerHour: null,
  historyDays: null,
};
const ALL_FEATURES: PlanFeatures = { cancel: true, approve: true, reject: true };

/** Built-in plan, and the default unless DEFAULT_PLAN names another: no limits and all features. */
const SELF_HOSTED: Plan = {
  planKey: keyOf("self-hosted"),
  slug: "self-hosted",
  displayName: "Self-hosted",
  monthlyUsd: 0,
  salesOnly: false,
  tagline: "Everything, on your own machines.",
  limits: NO_LIMITS,
  features: ALL_FEATURES,
};

const Defined = z.strictObject({
  slug: PlanSlug,
  displayName: z.string().min(1).max(64),
  monthlyUsd: z.number().min(0).max(1_000_000).default(0),
  salesOnly: z.boolean().default(false),
  tagline: z.string().max(255).default(""),
  limits: z.strictObject(PlanLimits.partial().shape).default({}),
  features: z.strictObject(PlanFeatures.partial().shape).default({}),
});

function keyOf(slug: string): string {
  return `capstan.${slug.replaceAll("-", "_")}.v1`;
}

type Known = { text: string | undefined; chosen: string | undefined; plans: readonly Plan[]; fallback: Plan };
let known: Known | undefined;

/**
 * Reads PLANS and DEFAULT_PLAN. Throws a Refusal for a setting that the operator must fix, which ends the
 * process at startup.
 */
function read(text: string | undefined, chosen: string | undefined): Known {
  let json: unknown;
  try {
    json = JSON.parse(text ?? "[]");
  } catch {
    throw new Refusal("Wrong settings:\nPLANS: is not valid JSON.");
  }
  const parsed = z.array(Defined).max(32).safeParse(json);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `PLANS ${path.join(".")}: ${message}`);
    throw new Refusal(`Wrong settings:\n${lines.join("\n")}`);
  }
  const defined = parsed.data.map((plan) => ({
    ...plan,
    planKey: keyOf(plan.slug),
    limits: { ...NO_LIMITS, ...plan.limits },
    features: { ...ALL_FEATURES, ...plan.features },
  }));
  const hasSelfHosted = defined.some(({ slug }) => slug === SELF_HOSTED.slug);
  const plans = hasSelfHosted ? defined : [...defined, SELF_HOSTED];
  if (new Set(plans.map(({ slug }) => slug)).size < plans.length)
    throw new Refusal("Wrong settings:\nPLANS: two plans have the same slug.");
  const fallback = plans.find(({ slug }) => slug === (chosen ?? SELF_HOSTED.slug));
  if (!fallback) throw new Refusal("Wrong settings:\nDEFAULT_PLAN: is not the slug of a plan.");
  return { text, chosen, plans, fallback };
}

function current(): Known {
  const { PLANS, DEFAULT_PLAN } = env;
  if (known && known.text === PLANS && known.chosen === DEFAULT_PLAN) return known;
  known = read(PLANS, DEFAULT_PLAN);
  return known;
}
try {
  current();
} catch (error) {
  exitRefused(error);
}

/**
 * Returns the plans of this installation in the operator's order; each one is an upgrade of those before.
 */
export const allPlans = (): readonly Plan[] => current().plans;

/** Returns the plan of an organization whose own plan is not set or no longer listed. */
export const defaultPlan = (): Plan => current().fallback;
