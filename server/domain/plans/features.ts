import type { PlanFeature, PlanFeatures } from "@/server/contract/billing";
import type { ProjectAccess } from "@/server/domain/access";
import { fail } from "@/server/platform/errors/errors";
import { PlanSettings, planOf, type Settings } from "./limits";

/**
 * Returns the features of an organization: those of its plan, overridden by the operator's agreement with
 * it.
 */
export const featuresOf = (settings: Settings): PlanFeatures => ({
  ...planOf(settings).features,
  ...PlanSettings.parse(settings).features,
});

/** Throws CapabilityNotAllowed if the organization lacks the feature. */
export function requireFeature(
  { organizationSettings }: Pick<ProjectAccess, "organizationSettings">,
  feature: PlanFeature,
): void {
  if (!featuresOf(organizationSettings)[feature])
    fail(
      "CapabilityNotAllowed",
      `The plan of this organization does not include ${feature}. Change the plan to use it.`,
      {
        feature,
        plan: planOf(organizationSettings).slug,
      },
    );
}
