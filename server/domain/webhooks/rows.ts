import type { Delivery, DeliveryEndpoint } from "@/server/contract/webhooks";
import { access, type ProjectRight } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { delivery, deliveryEndpoint } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { bool, type Given, maybe, type Of, pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { hasWeakSecret } from "./secrets";

export type EndpointRow = Of<typeof deliveryEndpoint>;

/** The columns that a list of deliveries shows. The body may be large, so they exclude it. */
export const DELIVERY = pick(
  delivery,
  "id project_id endpoint_id event_id job_id type state attempts",
  "next_attempt_at last_status last_error created_at completed_at",
);
type DeliveryRow = Of<typeof DELIVERY>;

export type WebhookRight = Extract<ProjectRight, `webhooks:${string}`>;

/** The parameters of `IS_VISIBLE`, as `visibleEndpoints` returns them. */
export const VISIBLE = { ...pick(SCOPE, "organizationIds"), projectIds: maybe(texts), isKey: bool };
/**
 * A condition on `endpoint` that is true of the endpoints the caller may see. A key never sees an endpoint of the whole
 * organization, since that belongs to its people.
 */
export const IS_VISIBLE = `${inScope(pick(SCOPE, "organizationIds"), "endpoint")}
  AND ($projectIds::text[] IS NULL OR endpoint.project_id = ANY($projectIds))
  AND (endpoint.project_id IS NOT NULL OR NOT $isKey::boolean)`;

export function visibleEndpoints(ctx: Ctx, right: WebhookRight): Given<typeof VISIBLE> {
  const { organizationIds, projectId, projectIds = null } = access.authorize(ctx, right, "rows");
  const isKey = ctx.principal.kind === "service_principal";
  return { organizationIds, projectIds: projectId === null ? projectIds : [projectId], isKey };
}

const readEndpoint = statement("endpoint.read.visible", {
  params: { endpointId: text, ...VISIBLE },
  row: deliveryEndpoint,
  sql: `SELECT endpoint.* FROM delivery_endpoint endpoint WHERE endpoint.id = $endpointId AND ${IS_VISIBLE}`,
});

/** Returns an endpoint that the caller may use with this right. Throws `NotFound` for any other endpoint. */
export async function findEndpoint(ctx: Ctx, endpointId: string, right: WebhookRight): Promise<EndpointRow> {
  const row =
    (await readEndpoint.first(pool, { endpointId, ...visibleEndpoints(ctx, right) })) ??
    fail("NotFound", "There is no such delivery endpoint.");
  if (row.project_id !== null) await access.authorize(ctx, right, { projectId: row.project_id });
  return row;
}

/** Returns the endpoint without its secret. */
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

/** Returns the delivery without its body. */
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
