import { z } from "zod";
import { Plan, PlanFeatures, PlanLimits, PlanList, PlanSlug } from "./billing";
import { DateTime } from "./common";

/** What an operator agreed with an organization instead of what its plan says. */
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
  /** What holds. */
  limits: PlanLimits,
  features: PlanFeatures,
  used: PlanList.shape.used,
  /** Do executions reach providers? */
  externalActions: z.boolean(),
});
export type PlanSettingsView = z.output<typeof PlanSettingsView>;

/** Only what is named changes. Limits and features are given whole: what is not among them is the plan's again. */
export const ChangePlan = z.strictObject({
  /** By its slug; null: the default one. */
  plan: PlanSlug.nullish(),
  limits: z.strictObject(PlanLimits.partial().shape).optional(),
  features: z.strictObject(PlanFeatures.partial().shape).optional(),
});
export type ChangePlan = z.output<typeof ChangePlan>;

/** Whether executions of an organization may call providers. */
export const ExternalActions = z
  .strictObject({
    externalActions: z.boolean().meta({
      description: "False: executions that call a provider are refused with EXTERNAL_ACTIONS_DISABLED.",
    }),
  })
  .meta({ id: "ExternalActions" });
