import type { WaitingJob } from "@/server/contract/approvals";
import { pool } from "@/server/db";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { namesOf } from "@/server/domain/organizations";
import { decisionRights } from "./rights";
import type { JobRow } from "./rows";
import { toApproval } from "./view";

const MOST = 100;

/** The jobs of a project that wait for a person, whose time is over first, with what the caller may decide; and how many. */
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
  const names = await namesOf(rows.map(({ principal_id }) => principal_id));
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
