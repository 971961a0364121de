import { isDeepStrictEqual } from "node:util";
import type { Comparison, JudgementRequest } from "@/server/contract/comparisons";
import { access } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { comparison } from "@/server/generated/schema";
import { inTransaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { get } from "./get";
import { type ComparisonRow, findComparison, statusOf } from "./rows";

const RIGHT = "jobs:write";

/**
 * A normalized judgement: no winner unless the decision is `winner`; then the overall winner also wins on value
 * unless another entry is named.
 */
type Verdict = Pick<ComparisonRow, "decision" | "overall_winner_entry_id" | "value_winner_entry_id">;

const storeJudgement = statement("comparison.update.judgement", {
  params: {
    comparisonId: text,
    projectId: text,
    decision: comparison.decision,
    overallWinnerEntryId: comparison.overall_winner_entry_id,
    valueWinnerEntryId: comparison.value_winner_entry_id,
    principalId: comparison.judged_by,
    now: timestamptz,
  },
  sql: `WITH judged AS (
         UPDATE comparison SET decision = $decision,
           overall_winner_entry_id = $overallWinnerEntryId, value_winner_entry_id = $valueWinnerEntryId, judged_by = $principalId,
           judged_at = $now
         WHERE id = $comparisonId AND project_id = $projectId AND decision IS NULL RETURNING id, project_id
       ), unblinded AS (
         UPDATE job SET is_blind = false FROM judged
         WHERE job.project_id = judged.project_id AND job.comparison_id = judged.id AND job.is_blind
       )
       SELECT FROM judged`,
});

/**
 * Judges a comparison after all of its jobs have ended, and unblinds them. The same judgement again returns
 * the comparison; a different one throws ComparisonJudged. Of concurrent judgements the first one counts.
 */
export async function judge(ctx: Ctx, comparisonId: string, request: JudgementRequest): Promise<Comparison> {
  const verdict = verdictOf(request);
  access.authorize(ctx, RIGHT);
  // A person who may see the comparison gets the reason why they may not judge it. The scopes of a key have
  // no order, so a key needs only this one.
  const seen = ctx.principal.kind === "human_session" ? "jobs:read" : RIGHT;
  const row = await findComparison(ctx, comparisonId, seen);
  await access.authorize(ctx, RIGHT, { projectId: row.project_id });
  if (row.decision) return judgedBefore(ctx, row, verdict);
  const status = statusOf(row.entries.map((entry) => entry.status));
  if (status === "running")
    fail("JobNotFinished", "A comparison can be judged only after all of its jobs have ended.", { status });
  checkWinners(row, request);
  const isFirst = await inTransaction(async (client) => {
    const rowCount = await storeJudgement.count(client, {
      comparisonId: row.id,
      projectId: row.project_id,
      decision: verdict.decision,
      overallWinnerEntryId: verdict.overall_winner_entry_id,
      valueWinnerEntryId: verdict.value_winner_entry_id,
      principalId: ctx.principal.id,
      now: ctx.now(),
    });
    if (rowCount === 0) return false;
    const act = {
      organizationId: row.organization_id,
      projectId: row.project_id,
      action: "comparison.judged",
      subject: row.id,
      details: {
        decision: verdict.decision,
        overallWinnerEntryId: verdict.overall_winner_entry_id,
        valueWinnerEntryId: verdict.value_winner_entry_id,
      },
    };
    await record(ctx, act, client);
    return true;
  });
  if (isFirst) return get(ctx, comparisonId, RIGHT);
  return judgedBefore(ctx, await findComparison(ctx, comparisonId, RIGHT), verdict);
}

/** Normalizes a judgement. A winner is required for the decision `winner` and forbidden for any other. */
function verdictOf({ decision, overallWinnerEntryId, valueWinnerEntryId }: JudgementRequest): Verdict {
  if (decision === "winner" && !overallWinnerEntryId)
    refuse("overallWinnerEntryId", "The decision winner needs an entry.", "missing");
  if (decision !== "winner" && overallWinnerEntryId)
    refuse("overallWinnerEntryId", `The decision ${decision} cannot name a winner.`);
  if (decision !== "winner" && valueWinnerEntryId)
    refuse("valueWinnerEntryId", `The decision ${decision} cannot name a winner.`);
  return {
    decision,
    overall_winner_entry_id: overallWinnerEntryId ?? null,
    value_winner_entry_id: valueWinnerEntryId ?? overallWinnerEntryId ?? null,
  };
}

/** A winner must be an entry of this comparison that succeeded. */
function checkWinners({ entries }: ComparisonRow, request: JudgementRequest) {
  for (const field of ["overallWinnerEntryId", "valueWinnerEntryId"] as const) {
    const entryId = request[field];
    if (!entryId) continue;
    const entry = entries.find((each) => each.entry_id === entryId);
    if (!entry) refuse(field, "This comparison has no such entry.");
    if (entry?.status !== "succeeded") refuse(field, "This entry did not succeed, so it cannot win.");
  }
}

function judgedBefore(ctx: Ctx, row: ComparisonRow, wanted: Verdict): Promise<Comparison> {
  const { decision, overall_winner_entry_id, value_winner_entry_id } = row;
  const was: Verdict = { decision, overall_winner_entry_id, value_winner_entry_id };
  if (!isDeepStrictEqual(was, wanted))
    fail("ComparisonJudged", "This comparison already has a different judgement, which cannot be changed.", {
      comparisonId: row.id,
      decision: decision ?? "",
    });
  return get(ctx, row.id, RIGHT);
}

function refuse(field: string, msg: string, type = "value_error"): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
}
