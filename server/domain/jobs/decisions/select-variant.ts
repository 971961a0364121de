import type { Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { tell } from "../following/notify";
import { get } from "../reading/get";
import { artifactsOf, findJob } from "../rows";

const select = statement("job.update.selected_variant", {
  params: { jobId: text, projectId: text, artifactId: text, now: timestamptz },
  sql: `WITH chosen AS (
       UPDATE job SET selected_artifact_id = $artifactId, last_event = last_event + 1
       WHERE id = $jobId AND project_id = $projectId AND selected_artifact_id IS DISTINCT FROM $artifactId
       RETURNING id, project_id, last_event
     )
     INSERT INTO event (project_id, job_id, id, type, payload, created_at)
     SELECT project_id, id, last_event, 'job.variant_selected', jsonb_build_object('artifactId', $artifactId::text), $now FROM chosen`,
});

/**
 * Selects the variant to keep. The choice may change at any time, and each change is an event. Throws
 * JobNotFinished unless the job has succeeded.
 */
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
  const { artifactId } = choice;
  await select.run(pool, { jobId: job.id, projectId: job.project_id, artifactId, now: ctx.now() });
  tell([job.id]);
  return get(ctx, jobId, "jobs:write");
}
