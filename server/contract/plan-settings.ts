import { z } from "zod";
import { Plan, PlanFeatures, PlanLimits, PlanList, PlanSlug } from "./billing";
import { DateTime } from "./common";

/** Limits and features that an operator agreed with an organization, in place of those of its plan. */
export const AgreedPlan = z.object({
  limits: z.partialRecord(PlanLimits.keyof(), z.int().nullable()),
  features: z.partialRecord(PlanFeatures.keyof(), z.boolean()),
});

export const PlanSettingsView = z.object({
  organizationId: z.string(),
  displayName: z.string(),
  createdAt: DateTime,
  plan: Plan,
  agreed: AgreedPlan,
  /** The limits and features in force. */
  limits: PlanLimits,
  features: PlanFeatures,
  used: PlanList.shape.used,
  /** Can executions reach providers? */
  externalActions: z.boolean(),
});
export type PlanSettingsView = z.output<typeof PlanSettingsView>;

/**
 * Fields that are left out stay. Limits and features are replaced as a whole: those left out return to the plan's
 * value.
 */
export const ChangePlan = z.strictObject({
  /** The plan's slug; null selects the default plan. */
  plan: PlanSlug.nullish(),
  limits: z.strictObject(PlanLimits.partial().shape).optional(),
  features: z.strictObject(PlanFeatures.partial().shape).optional(),
});
export type ChangePlan = z.output<typeof ChangePlan>;

/** Allows or blocks an organization's calls to providers. */
export const ExternalActions = z
  .strictObject({
    externalActions: z.boolean().meta({
      description: "False: executions that call a provider are refused with EXTERNAL_ACTIONS_DISABLED.",
    }),
  })
  .meta({ id: "ExternalActions" });
