import type { PlanList } from "@/server/contract/billing";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { allPlans, featuresOf, limitsOf, planOf, type Settings, usedOf } from "@/server/domain/plans";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";

/** The plans of this installation, the one the caller's organization has, what holds for it and what it uses. */
export async function plans(ctx: Ctx, organizationId?: string): Promise<PlanList> {
  const id = billedOrganization(ctx, organizationId, "viewer");
  const { rows } = await pool.query<{ settings: Settings }>(
    "SELECT settings FROM organization WHERE id = $1",
    [id],
  );
  const { settings } = rows[0] ?? fail("NotFound", "There is no such organization.");
  return {
    currentPlan: planOf(settings).planKey,
    organizationId: id,
    plans: [...allPlans()],
    limits: limitsOf(settings),
    features: featuresOf(settings),
    used: await usedOf({ organizationId: id, settings }, ctx.now()),
  };
}
