import type { Delivery, DeliveryDetail, DeliveryPage, ListDeliveries } from "@/server/contract/webhooks";
import { access } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { openContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { dispatchDue } from "./dispatch";
import { type DeliveryRow, toDelivery, visibleEndpoints, type WebhookRight } from "./rows";

/** Deliveries to the endpoints the caller may see, newest first. Lines never carry what was sent. */
export async function deliveries(ctx: Ctx, query: ListDeliveries): Promise<DeliveryPage> {
  const visible = visibleEndpoints(ctx, "webhooks:read", 1);
  const project = query.projectId
    ? await access.authorize(ctx, "webhooks:read", { projectId: query.projectId })
    : null;
  const { rows } = await pool.query<DeliveryRow>(
    `SELECT delivery.* FROM delivery JOIN delivery_endpoint endpoint ON endpoint.id = delivery.endpoint_id
     WHERE ${visible.condition}
       AND ($4::text IS NULL OR delivery.project_id = $4) AND ($5::text IS NULL OR delivery.endpoint_id = $5)
       AND ($6::text IS NULL OR delivery.job_id = $6) AND ($7::text IS NULL OR delivery.state = $7::text)
       AND ($8::text IS NULL OR delivery.id < $8)
     ORDER BY delivery.id DESC LIMIT $9`,
    [
      ...visible.values,
      project?.id ?? null,
      query.endpointId ?? null,
      query.jobId ?? null,
      query.state ?? null,
      readCursor("delivery", query.cursor),
      query.limit + 1,
    ],
  );
  return pageOf(rows, query.limit, toDelivery);
}

/** One delivery with what was sent and every try. */
export async function delivery(ctx: Ctx, deliveryId: string): Promise<DeliveryDetail> {
  const row = await findDelivery(ctx, deliveryId, "webhooks:read");
  const { rows } = await pool.query<{
    number: number;
    started_at: Date;
    duration_ms: number;
    http_status: number | null;
    error: string | null;
  }>("SELECT * FROM delivery_attempt WHERE delivery_id = $1 ORDER BY number DESC", [row.id]);
  return {
    ...toDelivery(row),
    body: openContent({ ...row, content: row.body }),
    tries: rows.map((made) => ({
      number: made.number,
      startedAt: made.started_at.toISOString(),
      durationMs: made.duration_ms,
      httpStatus: made.http_status,
      error: made.error,
    })),
  };
}

/**
 * Sends a delivery again, at once: the same event id, the same bytes, and the whole schedule of tries. One that is being
 * sent just now is left to it. Refused for a disabled endpoint, and where the body is no longer kept.
 */
export async function replay(ctx: Ctx, deliveryId: string): Promise<Delivery> {
  const row = await findDelivery(ctx, deliveryId, "webhooks:write");
  if (row.body === null) fail("Gone", "The body of this delivery was removed, so it cannot be sent again.");
  if (!row.endpoint_enabled) {
    fail("EndpointDisabled", "This endpoint is disabled. Enable it, then try again.", {
      endpointId: row.endpoint_id,
    });
  }
  const now = ctx.now();
  await inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `UPDATE delivery SET state = 'pending', failures = 0, next_attempt_at = $2, lease_until = NULL, completed_at = NULL
       WHERE id = $1 AND state <> 'delivering'`,
      [row.id, now],
    );
    if (rowCount === 0) return;
    const { organization_id: organizationId, project_id: projectId } = row;
    const details = { endpointId: row.endpoint_id };
    const act = { organizationId, projectId, subject: row.id, action: "delivery.replayed", details };
    await record(ctx, act, client);
  });
  await dispatchDue(now, { endpointId: row.endpoint_id });
  return toDelivery(await findDelivery(ctx, deliveryId, "webhooks:write"));
}

async function findDelivery(ctx: Ctx, deliveryId: string, right: WebhookRight) {
  const visible = visibleEndpoints(ctx, right, 2);
  const { rows } = await pool.query<DeliveryRow & { endpoint_enabled: boolean; organization_id: string }>(
    `SELECT delivery.*, endpoint.enabled AS endpoint_enabled, endpoint.organization_id AS organization_id
     FROM delivery JOIN delivery_endpoint endpoint ON endpoint.id = delivery.endpoint_id
     WHERE delivery.id = $1 AND ${visible.condition}`,
    [deliveryId, ...visible.values],
  );
  const row = rows[0] ?? fail("NotFound", "There is no such delivery.");
  if (row.project_id !== null) await access.authorize(ctx, right, { projectId: row.project_id });
  return row;
}
