import type { WaitingJob } from "@/server/contract/approvals";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { principalNameSql } from "@/server/domain/organizations";
import { int4, int8, maybe, names, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { toApproval } from "../reading/view";
import { toWork, WORK, WORK_COLUMNS, WORK_GIVEN, WORK_PARAMS } from "../reading/works";
import { JOB } from "../rows";
import { decisionRights } from "./rights";

const MOST = 100;

const PLACE = { projectId: text, ...pick(SCOPE, "environment") };
const WAITING = `project_id = $projectId AND ${inScope(pick(SCOPE, "environment"))}
    AND status = 'awaiting_approval' AND completed_at IS NULL`;
const COUNT = `SELECT count(*)::int AS count FROM job WHERE ${WAITING}`;

const readWaiting = statement("job.list.waiting", {
  params: { ...PLACE, limit: int8, ...WORK_PARAMS },
  row: { ...JOB, ...WORK, asker_name: maybe(text), waiting_count: int4 },
  sql: `SELECT ${names(JOB, "job")}, ${WORK_COLUMNS}, ${principalNameSql("job.principal_id")} AS asker_name, (${COUNT}) AS waiting_count
    FROM (SELECT * FROM job WHERE ${WAITING} ORDER BY approval_deadline_at, id LIMIT $limit) job
    ORDER BY approval_deadline_at, id`,
});

const countJobs = statement("job.count.waiting", { params: PLACE, row: { count: int4 }, sql: COUNT });

/** The scope of jobs in this project that the caller may see. */
async function scopeOf(ctx: Ctx, projectInPath: string) {
  const { id: projectId } = await access.authorize(ctx, "jobs:read", { projectInPath });
  return { projectId, environment: access.authorize(ctx, "jobs:read", "rows").environment };
}

/**
 * The jobs of a project that wait for a person, earliest deadline first, with the caller's rights. `count`
 * includes the jobs beyond the list.
 */
export async function listWaiting(
  ctx: Ctx,
  projectId: string,
): Promise<{ items: WaitingJob[]; count: number }> {
  const scope = await scopeOf(ctx, projectId);
  const rows = await readInScope(readWaiting, scope, { limit: MOST, ...WORK_GIVEN });
  const items = await Promise.all(
    rows.map(async (job): Promise<WaitingJob[]> => {
      const approval = toApproval(job);
      if (!approval) return [];
      return [
        {
          kind: "job",
          jobId: job.id,
          capabilityKey: job.capability_key,
          askedBy: { id: job.principal_id, kind: job.principal_kind, name: job.asker_name },
          approval,
          rights: await decisionRights(ctx, job),
          work: toWork(job),
        },
      ];
    }),
  );
  return { items: items.flat(), count: rows[0]?.waiting_count ?? 0 };
}

/** The number of jobs of a project that wait for a person. */
export async function countWaiting(ctx: Ctx, projectId: string): Promise<number> {
  const [row] = await readInScope(countJobs, await scopeOf(ctx, projectId), {});
  return row?.count ?? 0;
}
