import type { PlanFeature, PlanFeatures } from "@/server/contract/billing";
import type { ProjectAccess } from "@/server/domain/access";
import { fail } from "@/server/platform/errors/errors";
import { PlanSettings, planOf, type Settings } from "./limits";

/** What the organization may do: as its plan says, and what an operator agreed with it instead. */
export const featuresOf = (settings: Settings): PlanFeatures => ({
  ...planOf(settings).features,
  ...PlanSettings.parse(settings).features,
});

/** CapabilityNotAllowed where the organization's plan lacks it. */
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
