import type { WaitingJob } from "@/server/contract/approvals";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { namesOf } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { toApproval } from "../reading/view";
import { works } from "../reading/works";
import type { JobRow } from "../rows";
import { decisionRights } from "./rights";

const MOST = 100;

/** The jobs of a project that wait for a person, whose time has ended first, with what the caller may decide; and how many. */
export async function listWaiting(
  ctx: Ctx,
  projectId: string,
): Promise<{ items: WaitingJob[]; count: number }> {
  const project = await access.authorize(ctx, "jobs:read", { projectInPath: projectId });
  const { rows } = await pool.query<JobRow>(
    `SELECT * FROM job WHERE project_id = $1 AND status = 'awaiting_approval' AND completed_at IS NULL
     ORDER BY approval_deadline_at, id LIMIT $2`,
    [project.id, MOST + 1],
  );
  const [names, shown] = await Promise.all([
    namesOf(rows.map(({ principal_id }) => principal_id)),
    works(
      ctx,
      rows.map(({ id }) => id),
    ),
  ]);
  const items = await Promise.all(
    rows.slice(0, MOST).map(async (job): Promise<WaitingJob[]> => {
      const approval = toApproval(job);
      if (!approval) return [];
      return [
        {
          kind: "job",
          jobId: job.id,
          capabilityKey: job.capability_key,
          askedBy: {
            id: job.principal_id,
            kind: job.principal_kind,
            name: names.get(job.principal_id) ?? null,
          },
          approval,
          rights: await decisionRights(ctx, job),
          work: shown.get(job.id) ?? null,
        },
      ];
    }),
  );
  return { items: items.flat(), count: rows.length <= MOST ? rows.length : await count(project.id) };
}

/** How many jobs of a project wait for a person. */
export async function countWaiting(ctx: Ctx, projectId: string): Promise<number> {
  return count((await access.authorize(ctx, "jobs:read", { projectInPath: projectId })).id);
}

async function count(projectId: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM job WHERE project_id = $1 AND status = 'awaiting_approval' AND completed_at IS NULL",
    [projectId],
  );
  return rows[0]?.count ?? 0;
}
