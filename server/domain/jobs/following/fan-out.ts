import { fanOutAlerts } from "@/server/domain/budgets";
import { sealContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { adoptLate, dispatchDue } from "@/server/domain/webhooks";
import { job as jobTable } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { newId, PREFIXES } from "@/server/platform/ids";
import { column, int8, names, pick, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { COLUMNS, EVENT, toEvent, WITH_TEXT } from "./events";

const MOST_JOBS = 200;
/** The most events of one job in one pass; the next pass takes the rest. */
const MOST_EVENTS = 100;

const BEHIND = pick(jobTable, "id project_id organization_id is_blind created_at webhook_event");
const listBehind = statement("event.list.to_deliver", {
  params: { ...pick(SCOPE, "projectId"), mostJobs: int8, mostEvents: int8 },
  row: {
    ...pick(jobTable, "project_id organization_id is_blind"),
    webhook_event: present(jobTable.webhook_event, "a job without it is never behind"),
    job_id: text,
    job_created_at: timestamptz,
    ...EVENT,
    endpoints: texts,
  },
  sql: `WITH behind AS (
       SELECT ${names(BEHIND)} FROM job
       WHERE webhook_behind AND ${inScope(pick(SCOPE, "projectId"))} AND ${notHeld("deliveries")}
       ORDER BY id LIMIT $mostJobs
     )
     SELECT behind.project_id, behind.organization_id, behind.is_blind, behind.webhook_event, behind.id AS job_id,
       behind.created_at AS job_created_at, event.*, ARRAY(
         SELECT endpoint.id FROM delivery_endpoint endpoint
         WHERE endpoint.organization_id = behind.organization_id AND endpoint.enabled
           AND (endpoint.project_id IS NULL OR endpoint.project_id = behind.project_id)
           AND (endpoint.event_types = '{}' OR event.type = ANY(endpoint.event_types))
         ORDER BY endpoint.id) AS endpoints
     FROM behind JOIN LATERAL (
       SELECT ${COLUMNS} FROM ${WITH_TEXT}
       WHERE event.job_id = behind.id AND event.id > behind.webhook_event ORDER BY event.id LIMIT $mostEvents
     ) event ON true
     ORDER BY behind.id, event.id`,
});

/**
 * Advances `webhook_event` of the jobs and writes their deliveries; a job that another process has advanced
 * gets none.
 */
const insertDeliveries = statement("delivery.insert.events", {
  params: { moves: column<string>("json"), made: column<string>("json"), now: timestamptz },
  row: { id: text },
  sql: `WITH input AS MATERIALIZED (
       SELECT * FROM json_to_recordset($moves::json) AS x(id text, was int, seen int)
     ), held AS (
       SELECT job.id FROM job JOIN input USING (id) WHERE job.webhook_event = input.was FOR UPDATE OF job SKIP LOCKED
     ), moved AS (
       UPDATE job SET webhook_event = input.seen FROM input
       WHERE job.id = input.id AND job.id IN (SELECT id FROM held) AND job.webhook_event = input.was RETURNING job.id
     ), made AS (
     INSERT INTO delivery (id, organization_id, project_id, endpoint_id, event_id, job_id, type, body, is_sealed, state,
       next_attempt_at, created_at)
     SELECT x.id, organization_id, project_id, endpoint_id, event_id, job_id, type, body, is_sealed, 'pending', $now, $now
     FROM json_to_recordset($made::json) AS x(id text, organization_id text, project_id text, endpoint_id text, event_id text,
       job_id text, type text, body text, is_sealed boolean) JOIN moved ON moved.id = x.job_id
     ON CONFLICT (endpoint_id, event_id) DO NOTHING
     )
     SELECT id FROM moved`,
});

/**
 * Makes one pass of the webhooks: new events and alerts become deliveries, and due deliveries go to the
 * durable engine. Several processes may do this at once.
 */
export async function announce(ctx: Ctx, only: { projectId?: string } = {}): Promise<void> {
  const projectId = only.projectId ?? null;
  await adoptLate(ctx, projectId);
  while (await fanOut(ctx, projectId));
  while (await fanOutAlerts(ctx, projectId));
  await dispatchDue(ctx.now(), only);
}

/**
 * Writes one delivery for each event and each enabled endpoint that wants it. True if more may be left. The
 * job's row is the outbox: it holds the numbers of the last event and of the last one handed on, and each is
 * updated in the statement that writes the events or the deliveries.
 */
async function fanOut(ctx: Ctx, projectId: string | null): Promise<boolean> {
  const rows = await listBehind.all(pool, { projectId, mostJobs: MOST_JOBS, mostEvents: MOST_EVENTS });
  if (rows.length === 0) return false;
  const moves = new Map<string, { id: string; was: number; seen: number }>();
  const made: Record<string, string | boolean>[] = [];
  for (const row of rows) {
    moves.set(row.job_id, { id: row.job_id, was: row.webhook_event, seen: row.id });
    const job = { ...row, id: row.job_id, created_at: row.job_created_at };
    const event = row.endpoints.length > 0 ? toEvent(job, row) : null;
    if (!event) continue;
    const body = JSON.stringify(event);
    for (const endpoint_id of row.endpoints) {
      const id = newId("delivery");
      const is_sealed = row.is_sealed ?? false;
      made.push({
        id,
        organization_id: row.organization_id,
        project_id: row.project_id,
        endpoint_id,
        event_id: webhookIdOf(row.job_id, row.id),
        job_id: row.job_id,
        type: row.type,
        body: is_sealed ? sealContent(body, id) : body,
        is_sealed,
      });
    }
  }
  const moved = await insertDeliveries.count(pool, {
    moves: JSON.stringify([...moves.values()]),
    made: JSON.stringify(made),
    now: ctx.now(),
  });
  // Other processes that hold all of these jobs continue with them.
  return moves.size === MOST_JOBS && moved > 0;
}

/** The id that identifies a job's event outside the job: `evt_<job ULID>_<n>`. */
export function webhookIdOf(jobId: string, eventId: number): string {
  return `${PREFIXES.event}_${jobId.slice(PREFIXES.job.length + 1)}_${eventId}`;
}
