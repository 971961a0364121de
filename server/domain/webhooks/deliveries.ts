import type { Delivery, DeliveryDetail, DeliveryPage, ListDeliveries } from "@/server/contract/webhooks";
import { access } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { openContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { pageFloor, readCursor, toPage } from "@/server/domain/paging";
import { deliveryAttempt, delivery as deliveryColumns, deliveryEndpoint } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { int8, maybe, names, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { dispatchDue } from "./dispatch";
import { DELIVERY, IS_VISIBLE, toDelivery, VISIBLE, visibleEndpoints, type WebhookRight } from "./rows";

const listDeliveries = statement("delivery.list.visible", {
  params: {
    ...VISIBLE,
    organizationId: maybe(text),
    projectId: maybe(text),
    endpointId: maybe(text),
    jobId: maybe(text),
    state: maybe(deliveryColumns.state),
    after: maybe(text),
    notBefore: maybe(text),
    limit: int8,
  },
  row: DELIVERY,
  sql: `SELECT ${names(DELIVERY, "delivery")} FROM delivery JOIN delivery_endpoint endpoint ON endpoint.id = delivery.endpoint_id
     WHERE ${IS_VISIBLE}
       AND ($organizationId::text IS NULL OR delivery.organization_id = $organizationId)
       AND ($projectId::text IS NULL OR delivery.project_id = $projectId)
       AND ($endpointId::text IS NULL OR delivery.endpoint_id = $endpointId)
       AND ($jobId::text IS NULL OR delivery.job_id = $jobId) AND ($state::text IS NULL OR delivery.state = $state::text)
       AND ($after::text IS NULL OR delivery.id < $after) AND ($notBefore::text IS NULL OR delivery.id >= $notBefore)
     ORDER BY delivery.id DESC LIMIT $limit`,
});

const floorInProject = pageFloor("delivery.read.last_in_project", {
  kind: "delivery",
  table: "delivery",
  place: "project_id",
});
const floorInOrganization = pageFloor("delivery.read.last_in_organization", {
  kind: "delivery",
  table: "delivery",
  place: "organization_id",
});

/**
 * Returns a page of the deliveries to endpoints that the caller may see, newest first. The page never contains the
 * bodies that were sent.
 */
export async function deliveries(ctx: Ctx, query: ListDeliveries): Promise<DeliveryPage> {
  const visible = visibleEndpoints(ctx, "webhooks:read");
  const project = query.projectId
    ? await access.authorize(ctx, "webhooks:read", { projectId: query.projectId })
    : null;
  // An endpoint of a project gets events of that project alone, so its deliveries are of the project, too.
  const projectId = project?.id ?? onlyOf(visible.projectIds);
  const organizationId = projectId === null ? onlyOf(visible.organizationIds) : null;
  const after = readCursor("delivery", query.cursor);
  const floor = await floorFor(query, {
    projectId,
    organizationId,
    before: after,
    isKey: visible.isKey,
  });
  const rows = await listDeliveries.all(pool, {
    ...visible,
    organizationId,
    projectId,
    endpointId: query.endpointId,
    jobId: query.jobId,
    state: query.state,
    after,
    notBefore: floor,
    limit: query.limit + 1,
  });
  return toPage(rows, query.limit, toDelivery, floor);
}

const onlyOf = (ids: readonly string[] | null | undefined) => (ids?.length === 1 ? (ids[0] ?? null) : null);

type Place = {
  projectId: string | null;
  organizationId: string | null;
  before: string | null;
  isKey: boolean;
};

/**
 * The id at which a page stops if no index serves its filters; null if one does, or if there is no such
 * bound. A job has few deliveries, so a page of one job needs none.
 */
async function floorFor(
  { jobId, endpointId, state }: ListDeliveries,
  { projectId, organizationId, before, isKey }: Place,
): Promise<string | null> {
  const isByState =
    state !== undefined && state !== "succeeded" && endpointId === undefined && projectId !== null;
  // A key does not see the deliveries to its organization's own endpoints, which may stand between those that it sees.
  const isServed = !isKey && (isByState || (state === undefined && endpointId === undefined));
  if (jobId !== undefined || isServed) return null;
  if (projectId !== null) return floorInProject(projectId, before);
  return organizationId === null ? null : floorInOrganization(organizationId, before);
}

const ATTEMPT = pick(deliveryAttempt, "number started_at duration_ms http_status error");
const attemptsOf = statement("delivery_attempt.list.delivery", {
  params: { deliveryId: text },
  row: ATTEMPT,
  sql: `SELECT ${names(ATTEMPT)} FROM delivery_attempt WHERE delivery_id = $deliveryId ORDER BY number DESC`,
});

/**
 * Returns one delivery with its body and every try, newest try first. The body is null if it is no longer kept. Throws
 * `NotFound` if the caller may not see the delivery.
 */
export async function delivery(ctx: Ctx, deliveryId: string): Promise<DeliveryDetail> {
  const row = await findDelivery(ctx, deliveryId, "webhooks:read");
  const rows = await attemptsOf.all(pool, { deliveryId: row.id });
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

const replayDelivery = statement("delivery.update.replayed", {
  params: { deliveryId: text, now: timestamptz },
  sql: `UPDATE delivery SET state = 'pending', failures = 0, next_attempt_at = $now, lease_until = NULL, completed_at = NULL
       WHERE id = $deliveryId AND state <> 'delivering'`,
});

/**
 * Sends a delivery again at once, with the same event id, the same bytes and a full schedule of tries. A delivery that
 * is being sent at this moment stays as it is. Throws `EndpointDisabled` for a disabled endpoint, and `Gone` if the
 * body is no longer kept.
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
    const rowCount = await replayDelivery.count(client, { deliveryId: row.id, now });
    if (rowCount === 0) return;
    const { organization_id: organizationId, project_id: projectId } = row;
    const details = { endpointId: row.endpoint_id };
    const act = { organizationId, projectId, subject: row.id, action: "delivery.replayed", details };
    await record(ctx, act, client);
  });
  await dispatchDue(now, { endpointId: row.endpoint_id });
  return toDelivery(await findDelivery(ctx, deliveryId, "webhooks:write"));
}

const WITH_BODY = { ...DELIVERY, ...pick(deliveryColumns, "body is_sealed") };
const readDelivery = statement("delivery.read.visible", {
  params: { deliveryId: text, ...VISIBLE },
  row: {
    ...WITH_BODY,
    endpoint_enabled: deliveryEndpoint.enabled,
    organization_id: deliveryEndpoint.organization_id,
  },
  sql: `SELECT ${names(WITH_BODY, "delivery")}, endpoint.enabled AS endpoint_enabled, endpoint.organization_id
     FROM delivery JOIN delivery_endpoint endpoint ON endpoint.id = delivery.endpoint_id
     WHERE delivery.id = $deliveryId AND ${IS_VISIBLE}`,
});

async function findDelivery(ctx: Ctx, deliveryId: string, right: WebhookRight) {
  const row =
    (await readDelivery.first(pool, { deliveryId, ...visibleEndpoints(ctx, right) })) ??
    fail("NotFound", "There is no such delivery.");
  if (row.project_id !== null) await access.authorize(ctx, right, { projectId: row.project_id });
  return row;
}
