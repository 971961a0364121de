import type { RawEnvelope } from "@/server/contract/envelope";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { describeAdapters } from "@/server/domain/quotes";
import type { Json } from "@/server/platform/durable/step";
import { toMoney } from "@/server/platform/money";
import { plainObject } from "@/server/platform/text/json";
import { prepare } from "./prepare";
import { read } from "./submission";

/**
 * Plans and checks a durable job as `submit` does, but writes, holds and spends nothing. Limits that depend
 * on other jobs, such as stored budgets, are checked only at admission.
 */
export async function preview(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
): Promise<Record<string, Json>> {
  const capability = getCapability(capabilityKey);
  const { plan, admission } = await prepare(ctx, await read(ctx, { kind: "jobs", capability, raw }));
  const execution = capability.execute;
  const { route, estimate } = plan;
  const shown = "local" in execution || !route ? {} : (execution.preview?.(plan.input, route.model) ?? {});
  const answer = {
    schemaVersion: "service.variant-plan.v1",
    capabilityKey: capability.key,
    projectId: admission.project_id,
    environment: admission.environment,
    ...shown,
    route: estimate.route,
    ...(estimate.adapters ? { adapters: describeAdapters(estimate.adapters) } : {}),
    billingMode: estimate.billingMode,
    estimate: {
      pricingVersion: estimate.pricingVersion,
      qualifier: estimate.qualifier,
      chargeBasis: toMoney(estimate.expectedUpstreamMicros),
      serviceFee: toMoney(estimate.expectedMicros - estimate.expectedUpstreamMicros),
      expectedCharge: toMoney(estimate.expectedMicros),
      maximumAuthorizedCharge: toMoney(estimate.maximumMicros),
    },
    needsApproval: admission.status === "awaiting_approval",
    warnings: plan.warnings,
    spending: "none",
  };
  return plainObject(answer);
}
