import type { Job } from "@/server/contract/jobs";
import { access, type OwnScope } from "@/server/domain/access";
import { holdFactsOf } from "@/server/domain/budgets";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { holderOf, spellingsOf } from "@/server/domain/envelope";
import { receipt } from "@/server/generated/schema";
import { readTogether } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import { int4, json, maybe, names, type Of, text } from "@/server/sql/column";
import { batch } from "@/server/sql/statement";
import { inScopeOfInput, SCOPE } from "@/server/sql/tenant";
import type { SubmissionKind } from "../admission/submission";
import {
  type ArtifactRow,
  FILES,
  JOB,
  type JobParts,
  type JobRow,
  noSuchJob,
  type PayloadRow,
} from "../rows";
import { jobsOfKey } from "../transitions/admission";
import { sharedRequestOf } from "./blind";
import { toJob } from "./view";

const WHOLE = {
  place: int4,
  ...JOB,
  attempt: json<JobParts["attempt"]>(),
  payloads: json<PayloadRow[] | null>(),
  artifacts: json<ArtifactRow[] | null>(),
  hold: json<JobParts["hold"]>(),
  sealed: maybe(receipt.body),
};
const readAll = batch("whole-job", {
  input: { place: int4, jobId: text, ...SCOPE },
  row: WHOLE,
  sql: `WITH input AS $input
SELECT input.place, ${names(JOB, "job")},
  (SELECT json_build_object('submission', submission, 'number', number,
      'isRefused', capacity_rejections > 0 OR tier_refusal IS NOT NULL) FROM attempt
   WHERE attempt.job_id = job.id AND attempt.project_id = job.project_id ORDER BY number DESC LIMIT 1) AS attempt,
  (SELECT json_agg(json_build_object('id', id, 'kind', kind, 'content', content, 'is_sealed', is_sealed, 'sha256', sha256))
   FROM payload
   WHERE payload.job_id = job.id AND payload.project_id = job.project_id AND kind IN ('request', 'output', 'native')) AS payloads,
  CASE WHEN artifact_count > 0 THEN
    (SELECT json_agg(listed) FROM (
       ${FILES} WHERE job_artifact.job_id = job.id AND job_artifact.project_id = job.project_id ORDER BY position) listed) END AS artifacts,
  ${holdFactsOf("job.id")} AS hold,
  CASE WHEN receipt_id IS NOT NULL THEN
    (SELECT body FROM receipt
     WHERE receipt.job_id = job.id AND receipt.project_id = job.project_id) END AS sealed
FROM input JOIN job ON job.id = input."jobId" AND ${inScopeOfInput("job")}`,
});

/** Concurrent reads share a statement, and each finds only rows in its own scope. */
const readWhole = readTogether<OwnScope & { jobId: string }, Of<typeof WHOLE>>((asked) =>
  readAll.all(pool, asked),
);

/** The job with everything that its view needs, as of one moment. Throws NotFound like `findJob`. */
export async function findWholeJob(
  ctx: Ctx,
  jobId: string,
  right: Scope = "jobs:read",
): Promise<{ job: JobRow; parts: JobParts }> {
  const row = await readWhole({ jobId, ...access.authorize(ctx, right, "made rows") });
  if (!row) return noSuchJob();
  // How a provider treats the account is hidden from users of the account owner's product.
  const isOfAccount = ctx.principal.kind !== "panel_session";
  return {
    job: row,
    parts: {
      attempt: row.attempt,
      payloads: (row.payloads ?? []).filter(({ kind }) => kind !== "native" || isOfAccount),
      artifacts: row.artifacts ?? [],
      sealed: row.sealed && JSON.parse(row.sealed),
      hold: row.hold,
      ...(row.is_blind ? { shared: await sharedRequestOf(row) } : {}),
    },
  };
}

/** The job as it is now. Throws NotFound if the caller may not see it. */
export async function get(ctx: Ctx, jobId: string, right: Scope = "jobs:read"): Promise<Job> {
  const { job, parts } = await findWholeJob(ctx, jobId, right);
  return toJob(job, parts, ctx.now());
}

/**
 * The id of the job that has this idempotency key in the caller's default environment; null if there is none.
 */
export async function idOfKey(
  ctx: Ctx,
  projectId: string,
  { operation, key }: { operation: SubmissionKind; key: string },
): Promise<string | null> {
  const project = await access.authorize(ctx, "jobs:read", { projectInPath: projectId });
  const { environment } = project;
  const spellings = spellingsOf({ key }, environment);
  const holders = await jobsOfKey({ projectId: project.id, operation, spellings });
  return holderOf(holders, { key }, environment).first?.id ?? null;
}
