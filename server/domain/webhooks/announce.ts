import { deliveryEndpoint } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { column, pick, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** An event that belongs to no job. */
export type Announcement = {
  /** The `evt_…` id, which is also the `webhook-id` of each of its deliveries. */
  id: string;
  type: string;
  organizationId: string;
  projectId: string | null;
  createdAt: Date;
  payload: Record<string, Json>;
};

const endpointsOf = statement("endpoint.read.enabled", {
  params: { organizationIds: texts },
  row: pick(deliveryEndpoint, "id organization_id project_id event_types"),
  sql: `SELECT id, organization_id, project_id, event_types FROM delivery_endpoint WHERE enabled AND organization_id = ANY($organizationIds) ORDER BY id`,
});

const insertDeliveries = statement("delivery.insert.announced", {
  params: { made: column<string>("json"), now: timestamptz },
  sql: `INSERT INTO delivery (id, organization_id, project_id, endpoint_id, event_id, type, body, state, next_attempt_at, created_at)
     SELECT id, organization_id, project_id, endpoint_id, event_id, type, body, 'pending', $now, $now
     FROM json_to_recordset($made::json)
       AS x(id text, organization_id text, project_id text, endpoint_id text, event_id text, type text, body text)
     ON CONFLICT (endpoint_id, event_id) DO NOTHING`,
});

/**
 * Creates a delivery of each event for each enabled endpoint that wants its type, in the caller's transaction. An event
 * of a project goes to the endpoints of that project and of its whole organization, and any other event only to the
 * latter. An event that is announced twice is delivered once. The next pass hands the deliveries to the engine.
 */
export async function announce(client: Queryable, events: readonly Announcement[], now: Date): Promise<void> {
  if (events.length === 0) return;
  const endpoints = await endpointsOf.all(client, {
    organizationIds: [...new Set(events.map(({ organizationId }) => organizationId))],
  });
  const made = events.flatMap((event) =>
    endpoints
      .filter(
        (endpoint) =>
          endpoint.organization_id === event.organizationId &&
          (endpoint.project_id === null || endpoint.project_id === event.projectId) &&
          (endpoint.event_types.length === 0 || endpoint.event_types.includes(event.type)),
      )
      .map((endpoint) => ({
        id: newId("delivery"),
        organization_id: event.organizationId,
        project_id: event.projectId,
        endpoint_id: endpoint.id,
        event_id: event.id,
        type: event.type,
        body: JSON.stringify({ ...event, createdAt: event.createdAt.toISOString() }),
      })),
  );
  await insertDeliveries.run(client, { made: JSON.stringify(made), now });
}
