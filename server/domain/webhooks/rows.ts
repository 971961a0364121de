import type { Delivery, DeliveryEndpoint, DeliveryState } from "@/server/contract/webhooks";
import { access, type ProjectRight } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { hasWeakSecret } from "./secrets";

export type EndpointRow = {
  id: string;
  organization_id: string;
  project_id: string | null;
  url: string;
  secret: string;
  event_types: string[];
  enabled: boolean;
  disabled_reason: string | null;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
};

export type DeliveryRow = {
  id: string;
  project_id: string | null;
  endpoint_id: string;
  event_id: string;
  job_id: string | null;
  type: string;
  body: string | null;
  is_sealed: boolean;
  state: DeliveryState;
  attempts: number;
  failures: number;
  next_attempt_at: Date | null;
  last_status: number | null;
  last_error: string | null;
  created_at: Date;
  completed_at: Date | null;
};

export type WebhookRight = Extract<ProjectRight, `webhooks:${string}`>;

/**
 * Which endpoints the caller may see, as a condition on `endpoint` with three parameters from `first` on. A key never
 * sees an endpoint of the whole organization: those belong to its people.
 */
export function visibleEndpoints(
  ctx: Ctx,
  right: WebhookRight,
  first: number,
): { condition: string; values: unknown[] } {
  const { organizationIds, projectId, projectIds = null } = access.authorize(ctx, right, "rows");
  const isKey = ctx.principal.kind === "service_principal";
  return {
    condition: `($${first}::text[] IS NULL OR endpoint.organization_id = ANY($${first}))
      AND ($${first + 1}::text[] IS NULL OR endpoint.project_id = ANY($${first + 1}))
      AND (endpoint.project_id IS NOT NULL OR NOT $${first + 2}::boolean)`,
    values: [organizationIds, projectId === null ? projectIds : [projectId], isKey],
  };
}

/** An endpoint the caller may use with this right; any other is not there. */
export async function findEndpoint(ctx: Ctx, endpointId: string, right: WebhookRight): Promise<EndpointRow> {
  const visible = visibleEndpoints(ctx, right, 2);
  const { rows } = await pool.query<EndpointRow>(
    `SELECT endpoint.* FROM delivery_endpoint endpoint WHERE endpoint.id = $1 AND ${visible.condition}`,
    [endpointId, ...visible.values],
  );
  const row = rows[0] ?? fail("NotFound", "There is no such delivery endpoint.");
  if (row.project_id !== null) await access.authorize(ctx, right, { projectId: row.project_id });
  return row;
}

/** The endpoint without its secret. */
export function toEndpoint(row: EndpointRow): DeliveryEndpoint {
  return {
    endpointId: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    url: row.url,
    eventTypes: row.event_types,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    weakSecret: hasWeakSecret(row),
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The delivery without its body. */
export function toDelivery(row: DeliveryRow): Delivery {
  return {
    deliveryId: row.id,
    endpointId: row.endpoint_id,
    projectId: row.project_id,
    jobId: row.job_id,
    eventId: row.event_id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
    lastStatus: row.last_status,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
  };
}
