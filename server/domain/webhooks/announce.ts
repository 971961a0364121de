import type { Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";

/** Something that happened and belongs to no job. */
export type Announcement = {
  /** `evt_…`: the `webhook-id` of each of its deliveries. */
  id: string;
  type: string;
  organizationId: string;
  projectId: string | null;
  createdAt: Date;
  payload: Record<string, Json>;
};

/**
 * Makes events deliveries, in the caller's transaction: those of a project for its endpoints and those of the whole
 * organization, the others for the latter alone. The same event twice is one. The next pass hands them to the engine.
 */
export async function announce(client: Queryable, events: readonly Announcement[], now: Date): Promise<void> {
  if (events.length === 0) return;
  const { rows: endpoints } = await client.query<{
    id: string;
    organization_id: string;
    project_id: string | null;
    event_types: string[];
  }>(
    "SELECT id, organization_id, project_id, event_types FROM delivery_endpoint WHERE enabled AND organization_id = ANY($1) ORDER BY id",
    [[...new Set(events.map(({ organizationId }) => organizationId))]],
  );
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
  await client.query(
    `INSERT INTO delivery (id, organization_id, project_id, endpoint_id, event_id, type, body, state, next_attempt_at, created_at)
     SELECT id, organization_id, project_id, endpoint_id, event_id, type, body, 'pending', $2, $2
     FROM json_to_recordset($1::json)
       AS x(id text, organization_id text, project_id text, endpoint_id text, event_id text, type text, body text)
     ON CONFLICT (endpoint_id, event_id) DO NOTHING`,
    [JSON.stringify(made), now],
  );
}
