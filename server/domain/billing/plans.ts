import type { PlanList } from "@/server/contract/billing";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { allPlans, featuresOf, limitsOf, planOf, usedOf } from "@/server/domain/plans";
import { organization } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const readSettings = statement("organization.read.plans", {
  params: { organizationId: text },
  row: { settings: organization.settings },
  sql: `SELECT settings FROM organization WHERE id = $organizationId`,
});

/**
 * Lists the plans of this installation, with the organization's current plan, limits, features and usage.
 */
export async function plans(ctx: Ctx, organizationId?: string): Promise<PlanList> {
  const id = billedOrganization(ctx, organizationId, "viewer");
  const { settings } =
    (await readSettings.first(pool, { organizationId: id })) ??
    fail("NotFound", "There is no such organization.");
  return {
    currentPlan: planOf(settings).planKey,
    organizationId: id,
    plans: [...allPlans()],
    limits: limitsOf(settings),
    features: featuresOf(settings),
    used: await usedOf({ organizationId: id, settings }, ctx.now()),
  };
}
