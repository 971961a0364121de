import type { ProjectAccess } from "@/server/domain/access";
import { fail } from "@/server/errors";

export type PlanFeature = "cancel" | "approve" | "reject";

/** Does the organization's plan have it? On, unless the organization's settings say `features: {<name>: false}`. */
export function hasFeature(
  project: Pick<ProjectAccess, "organizationSettings">,
  feature: PlanFeature,
): boolean {
  const { features } = project.organizationSettings;
  if (typeof features !== "object" || features === null || Array.isArray(features)) return true;
  return features[feature] !== false;
}

/** CapabilityNotAllowed where the organization's plan lacks it. */
export function requireFeature(
  project: Pick<ProjectAccess, "organizationSettings">,
  feature: PlanFeature,
): void {
  if (!hasFeature(project, feature))
    fail("CapabilityNotAllowed", `The plan of this organization does not include: ${feature}.`, { feature });
}
