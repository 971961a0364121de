import { pool } from "@/server/platform/db";

/** Queries for one thing of each kind that has a page of its own, by what the page shows; the newest one is used. */
const THINGS: Record<string, string> = {
  textJob:
    "SELECT id FROM job WHERE project_id = $1 AND status = 'succeeded' AND capability_key = 'text.general.fast.v1' AND comparison_id IS NULL AND mode = 'job_async'",
  imageJob:
    "SELECT id FROM job WHERE project_id = $1 AND status = 'succeeded' AND artifact_count > 1 AND capability_key = 'image.generate.v1' AND comparison_id IS NULL",
  videoJob:
    "SELECT id FROM job WHERE project_id = $1 AND status = 'succeeded' AND capability_key = 'video.generate.v1'",
  meshJob:
    "SELECT id FROM job WHERE project_id = $1 AND status = 'succeeded' AND capability_key = 'model.generate.3d.v1'",
  audioJob:
    "SELECT id FROM job WHERE project_id = $1 AND status = 'succeeded' AND capability_key = 'audio.voice.generate.v1'",
  failedJob: "SELECT id FROM job WHERE project_id = $1 AND status = 'failed' AND hold_state <> 'ambiguous'",
  lostJob: "SELECT id FROM job WHERE project_id = $1 AND status = 'failed' AND hold_state = 'ambiguous'",
  canceledJob: "SELECT id FROM job WHERE project_id = $1 AND status = 'canceled'",
  waitingJob: "SELECT id FROM job WHERE project_id = $1 AND status = 'awaiting_approval'",
  attentionJob: "SELECT id FROM job WHERE project_id = $1 AND status = 'needs_attention'",
  runningJob: "SELECT id FROM job WHERE project_id = $1 AND status IN ('running', 'queued')",
  receipt:
    "SELECT receipt.id FROM receipt JOIN job ON job.receipt_id = receipt.id WHERE job.project_id = $1 AND job.status = 'succeeded' AND job.comparison_id IS NULL",
  openComparison: "SELECT id FROM comparison WHERE project_id = $1 AND decision IS NULL",
  judgedComparison: "SELECT id FROM comparison WHERE project_id = $1 AND decision IS NOT NULL",
  pinnedRecord: "SELECT id FROM pinned_record WHERE project_id = $1",
  bulk: "SELECT id FROM pinned_bulk WHERE project_id = $1 AND status = 'partial'",
  adapter: "SELECT id FROM model_adapter WHERE project_id = $1",
  quotedRequest: "SELECT id FROM capability_request WHERE project_id = $1 AND status = 'quoted'",
  unclearRequest: "SELECT id FROM capability_request WHERE project_id = $1 AND status = 'needs_information'",
  manifest: "SELECT id FROM manifest WHERE project_id = $1",
};

export async function findPlaces(projectId: string): Promise<Record<string, string>> {
  const places: Record<string, string> = {};
  for (const [name, sql] of Object.entries(THINGS)) {
    const { rows } = await pool.query<{ id: string }>(`${sql} ORDER BY 1 DESC LIMIT 1`, [projectId]);
    if (rows[0]) places[name] = rows[0].id;
  }
  return places;
}
