import type { JobEvent, JobEventPage } from "@/server/contract/jobs";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import type { Json } from "@/server/step";
import { findJob } from "./rows";

type EventRow = { id: number; type: string; payload: Record<string, Json>; created_at: Date };

/** No event has a greater id, whatever cursor is asked for: the column holds no more. */
const LAST_EVENT = 2_147_483_647;

/**
 * A page of a job's events in order. `cursor` is an exclusive lower bound on the event id; `nextCursor` is there only
 * when another page remains.
 */
export async function events(
  ctx: Ctx,
  jobId: string,
  query: { cursor?: string | undefined; type?: string | undefined; limit: number },
): Promise<JobEventPage> {
  const job = await findJob(ctx, jobId);
  const { rows } = await pool.query<EventRow>(
    `SELECT id, type, payload, created_at FROM job_event
     WHERE job_id = $1 AND project_id = $2 AND id > $3 AND ($4::text IS NULL OR type = $4)
     ORDER BY id LIMIT $5`,
    [
      job.id,
      job.project_id,
      Math.min(Number(query.cursor ?? 0), LAST_EVENT),
      query.type ?? null,
      query.limit + 1,
    ],
  );
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    events: page.map(
      (row): JobEvent => ({
        id: String(row.id),
        cursor: String(row.id),
        type: row.type,
        jobId: job.id,
        projectId: job.project_id,
        createdAt: row.created_at.toISOString(),
        payload: row.payload,
      }),
    ),
    ...(rows.length > query.limit && last ? { nextCursor: String(last.id) } : {}),
  };
}
