import { PlanFeatures, PlanLimits, PlanSlug } from "@/server/contract/billing";
import { ChangePlan } from "@/server/contract/plan-settings";
import type { Ctx } from "@/server/domain/ctx";
import { changePlan, planSettings } from "@/server/domain/organizations";
import type { Reading } from "./budgets";

type Flags = {
  organization?: string | undefined;
  plan?: string | undefined;
  limits?: string | undefined;
  features?: string | undefined;
};

/** Shows what an organization may use, or changes its plan, limits and features. */
export async function performPlan(ctx: Ctx, flags: Flags, reading: Reading) {
  const { needed, check } = reading;
  const organizationId = needed(flags.organization, "organization");
  const { plan, limits, features } = flags;
  const shown =
    plan === undefined && limits === undefined && features === undefined
      ? await planSettings(ctx, organizationId)
      : await changePlan(
          ctx,
          organizationId,
          check(ChangePlan, {
            ...(plan === undefined ? {} : { plan: plan === "default" ? null : check(PlanSlug, plan) }),
            ...(limits === undefined ? {} : { limits: readLimits(limits, reading) }),
            ...(features === undefined ? {} : { features: readFeatures(features, reading) }),
          }),
        );
  const told = (values: object) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${value ?? "none"}`)
      .join(", ");
  return {
    organizationId: shown.organizationId,
    displayName: shown.displayName,
    plan: shown.plan.slug,
    limits: told(shown.limits),
    features: told(shown.features),
    used: told(shown.used),
    externalActions: shown.externalActions,
  };
}

const pairs = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => part.split("=").map((each) => each.trim()) as [string, string | undefined]);

function readLimits(text: string, { oneOf, complain }: Reading) {
  const read = pairs(text).map(([name, value = ""]) => {
    const limit = oneOf("limits", PlanLimits.keyof().options, name);
    if (value !== "none" && !/^\d{1,9}$/.test(value))
      complain(`--limits: ${name} must be a whole number, or none.`);
    return [limit, value === "none" ? null : Number(value)] as const;
  });
  return Object.fromEntries(read);
}

function readFeatures(text: string, { oneOf }: Reading) {
  const read = pairs(text).map(([name, value = ""]) => {
    const feature = oneOf("features", PlanFeatures.keyof().options, name);
    return [feature, oneOf("features", ["on", "off"], value) === "on"] as const;
  });
  return Object.fromEntries(read);
}
