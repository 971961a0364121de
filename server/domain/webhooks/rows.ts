import type { Delivery, DeliveryEndpoint } from "@/server/contract/webhooks";
import { access, type ProjectRight } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { delivery, deliveryEndpoint } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { bool, type Given, maybe, type Of, pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { hasWeakSecret } from "./secrets";

export type EndpointRow = Of<typeof deliveryEndpoint>;

/** What the list of deliveries says of each: not its body, which may be large. */
export const DELIVERY = pick(
  delivery,
  "id project_id endpoint_id event_id job_id type state attempts",
  "next_attempt_at last_status last_error created_at completed_at",
);
type DeliveryRow = Of<typeof DELIVERY>;

export type WebhookRight = Extract<ProjectRight, `webhooks:${string}`>;

/** Parameters of `IS_VISIBLE`, which `visibleEndpoints` gives. */
export const VISIBLE = { organizationIds: maybe(texts), projectIds: maybe(texts), isKey: bool };
/**
 * Which endpoints the caller may see, as a condition on `endpoint`. A key never sees an endpoint of the whole organization:
 * those belong to its people.
 */
export const IS_VISIBLE = `($organizationIds::text[] IS NULL OR endpoint.organization_id = ANY($organizationIds))
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

/** An endpoint the caller may use with this right; any other is not there. */
export async function findEndpoint(ctx: Ctx, endpointId: string, right: WebhookRight): Promise<EndpointRow> {
  const row =
    (await readEndpoint.first(pool, { endpointId, ...visibleEndpoints(ctx, right) })) ??
    fail("NotFound", "There is no such delivery endpoint.");
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
