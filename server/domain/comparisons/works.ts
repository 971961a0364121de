import type { Work } from "@/server/contract/work";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { comparison } from "@/server/generated/schema";
import { maybe, pick, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";

const VISIBLE = pick(SCOPE, "organizationIds projectId environment");
const listWorks = statement("comparison.list.works", {
  params: { ids: texts, ...VISIBLE },
  row: {
    id: comparison.id,
    jobIds: present(texts, "the join leaves no comparison without an entry"),
    winnerId: maybe(text),
  },
  sql: `SELECT comparison.id, array_agg(entry.job_id ORDER BY position) AS "jobIds",
       min(entry.job_id) FILTER (WHERE entry.id = overall_winner_entry_id) AS "winnerId"
     FROM comparison JOIN comparison_entry entry
       ON entry.comparison_id = comparison.id AND entry.project_id = comparison.project_id
     WHERE comparison.id = ANY($ids) AND ${inScope(VISIBLE, "comparison")}
     GROUP BY comparison.id`,
});

/**
 * Returns the summary of comparisons for lists, by id: the request if all entries share it, and after the
 * judgement the winner's picture. No picture is returned before, because a picture of one entry would favor
 * its model.
 */
export async function works(ctx: Ctx, comparisonIds: Iterable<string>): Promise<Map<string, Work>> {
  const ids = [...new Set(comparisonIds)];
  if (ids.length === 0) return new Map();
  const scope = access.authorize(ctx, "jobs:read", "rows");
  const rows = await readInScope(listWorks, scope, { ids });
  const ofJobs = await jobs.works(
    ctx,
    rows.flatMap(({ jobIds }) => jobIds),
  );
  return new Map(
    rows.flatMap(({ id, jobIds, winnerId }): [string, Work][] => {
      const [first, ...others] = jobIds.map((jobId) => ofJobs.get(jobId));
      if (!first) return [];
      const isShared = others.every((other) => other?.subject === first.subject);
      const picture = ofJobs.get(winnerId ?? "")?.picture ?? null;
      return [[id, { ...first, subject: isShared ? first.subject : null, picture }]];
    }),
  );
}
