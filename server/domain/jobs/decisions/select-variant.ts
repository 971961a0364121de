import type { Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { tell } from "../following/notify";
import { get } from "../reading/get";
import { artifactsOf, findJob } from "../rows";

/** Selects the variant to keep. The choice may change at any time, and each change is an event. */
export async function selectVariant(ctx: Ctx, jobId: string, choice: { artifactId: string }): Promise<Job> {
  const job = await findJob(ctx, jobId, "jobs:write");
  await access.authorize(ctx, "jobs:write", { projectId: job.project_id });
  if (job.status !== "succeeded")
    fail("JobNotFinished", "A variant can be selected only after the job has succeeded.", {
      status: job.status,
    });
  const variants = (await artifactsOf(job)).filter((artifact) => artifact.variant_index !== null);
  if (!variants.some((variant) => variant.artifact_id === choice.artifactId)) {
    throw new ValidationFault([
      { loc: ["body", "artifactId"], msg: "This job has no such variant.", type: "value_error" },
    ]);
  }
  await pool.query(
    `WITH chosen AS (
       UPDATE job SET selected_artifact_id = $2, last_event = last_event + 1
       WHERE id = $1 AND project_id = $4 AND selected_artifact_id IS DISTINCT FROM $2 RETURNING id, project_id, last_event
     )
     INSERT INTO event (project_id, job_id, id, type, payload, created_at)
     SELECT project_id, id, last_event, 'job.variant_selected', jsonb_build_object('artifactId', $2::text), $3 FROM chosen`,
    [job.id, choice.artifactId, ctx.now(), job.project_id],
  );
  tell([job.id]);
  return get(ctx, jobId, "jobs:write");
}
