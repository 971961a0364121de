import type { Ctx } from "@/server/domain/ctx";
import {
  decideAbandoned,
  end,
  failed,
  type NewEnding,
  nothingSent,
  type Pass,
  reapsUntil,
  STOPPED,
} from "@/server/domain/executions";
import { notHeld } from "@/server/domain/restores";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { bool, int4, int8, maybe, names, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { isAbandoned } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { resendDue } from "../admission/dispatch";
import { expireApproval } from "../decisions/approvals";
import { unleased } from "../ending/end";
import { foundEnding, foundOf } from "../ending/ending";
import { JOB, type JobRow, lastAttemptOf, workedFrom } from "../rows";
import { requeueJob } from "../transitions/moves";
import { makeTurnsDue } from "./promote-queued";

const MOST = 200;

/**
 * One pass over jobs that no one else will move, a limited number of each kind: lost wakes, queue and
 * approval deadlines that have passed, and leases that ended. Safe to run in every process at once, because
 * each move is conditional on the state that it found. `projectId` limits the pass to one project; `pass`
 * says whether it may take over abandoned work.
 */
export async function sweep(ctx: Ctx, only: { projectId?: string } = {}, pass?: Pass): Promise<void> {
  const projectId = only.projectId ?? null;
  const now = ctx.now();
  await expireQueued(ctx, now, projectId);
  await expireApprovals(ctx, now, projectId);
  await reapLeases(ctx, { now, projectId, reapUntil: reapsUntil(pass) });
  await makeTurnsDue(now, projectId);
  await resendDue(now, projectId);
}

/** The jobs in this status whose deadline has passed, the earliest first. */
const listLate = (status: "queued" | "awaiting_approval", deadline: string, row: typeof JOB) =>
  statement(`job.list.late_${status}`, {
    params: { now: timestamptz, ...pick(SCOPE, "projectId"), limit: int8 },
    row,
    sql: `SELECT ${names(JOB)} FROM job WHERE (status = '${status}') IS TRUE AND ${deadline} <= $now
        AND ${inScope(pick(SCOPE, "projectId"))} AND ${notHeld("jobs")}
      ORDER BY ${deadline} LIMIT $limit`,
  });
const listUnstarted = listLate("queued", "queue_deadline_at", JOB);
const listUndecided = listLate("awaiting_approval", "approval_deadline_at", {
  ...JOB,
  approval_deadline_at: timestamptz,
});

async function expireQueued(ctx: Ctx, now: Date, projectId: string | null): Promise<void> {
  const rows = await listUnstarted.all(pool, { now, projectId, limit: MOST });
  const why = { code: "QueueTimeout", message: "The job was not started before its queue deadline." };
  await each(rows, async (job) => {
    const attempt = await lastAttemptOf(job);
    return end(unleased(ctx, job, attempt, { isCanceled: false }), foundEnding(attempt, why));
  });
}

async function expireApprovals(ctx: Ctx, now: Date, projectId: string | null): Promise<void> {
  const rows = await listUndecided.all(pool, { now, projectId, limit: MOST });
  await each(rows, (job) => expireApproval(ctx, job));
}

/** A job that fails must not keep the others waiting; the next pass tries it again. */
async function each<Row extends JobRow>(rows: Row[], work: (job: Row) => Promise<unknown>): Promise<void> {
  for (const job of rows) {
    await work(job).catch((cause) => log.error({ err: cause, jobId: job.id }, "a job could not be swept"));
  }
}

const ABANDONED = isAbandoned("lease_until", "$reapUntil");

/** A job whose lease ended, or one that is to be canceled and has sent nothing. */
const REAPED = { ...JOB, is_abandoned: maybe(bool) };
type Reaped = Of<typeof REAPED>;
const listAbandoned = statement("job.list.abandoned", {
  params: { reapUntil: timestamptz, ...pick(SCOPE, "projectId"), limit: int8 },
  row: REAPED,
  // A job that is to be canceled and has sent nothing can no longer send anything, so it need not wait for
  // its lease to end.
  sql: `SELECT ${names(JOB, "job")}, ${ABANDONED} AS is_abandoned FROM job
    WHERE completed_at IS NULL AND status IN ('running', 'canceling') AND ${inScope(pick(SCOPE, "projectId"), "job")}
      AND ${notHeld("jobs")}
      AND (${ABANDONED} OR (status = 'canceling' AND EXISTS (
        SELECT FROM attempt WHERE attempt.job_id = job.id AND submission = 'not_attempted')))
    ORDER BY lease_until LIMIT $limit`,
});

/**
 * Handles jobs whose lease ended. A durable job that sent nothing returns to the queue; a stored handle or
 * answer lets another worker continue; a submission without either ends as ambiguous and is never sent again.
 */
async function reapLeases(
  ctx: Ctx,
  { now, projectId, reapUntil }: { now: Date; projectId: string | null; reapUntil: Date },
): Promise<void> {
  const rows = await listAbandoned.all(pool, { reapUntil, projectId, limit: MOST });
  let until = reapUntil;
  await each(rows, async (row) => {
    const from = performance.now();
    await reap(ctx, row, { now, until });
    // A pass is held up only if the database answers slowly, so the time of prompt work is added to its
    // limit.
    const tookMs = performance.now() - from;
    if (tookMs < PROMPT_MS) until = new Date(until.getTime() + tookMs);
  });
}

const PROMPT_MS = 1_000;

async function reap(
  ctx: Ctx,
  { is_abandoned, ...job }: Reaped,
  { now, until: reapUntil }: { now: Date; until: Date },
): Promise<unknown> {
  const attempt = await lastAttemptOf(job);
  const isCanceling = job.status === "canceling";
  const isTaken = attempt !== null && attempt.handle !== null;
  const next = decideAbandoned({ ...foundOf(attempt), isCanceling, isTaken, unsent: unsentEnding(job, now) });
  switch (next.to) {
    case "left":
      return dispatchAgain(job.id, job.fence, now, reapUntil);
    case "queued":
      return requeueJob(ctx, job.id, job.fence, { lastEvent: job.last_event, reapUntil });
    case "ended":
      return end(
        unleased(ctx, job, attempt, { isCanceled: isCanceling, ...(is_abandoned ? { reapUntil } : {}) }),
        next.ending,
      );
  }
}

/** The ending of a job that lost its process before it was sent; null if the job returns to the queue. */
function unsentEnding(job: JobRow, now: Date): NewEnding | null {
  if (job.operation === "invoke") return failed("stopped_unsent", STOPPED, nothingSent);
  if (now.getTime() <= longestLife(job)) return null;
  const message = "The job was started several times and never reached its provider.";
  return failed("timed_out_unsent", message, nothingSent);
}

/**
 * The time at which a job that keeps losing its worker before it submits is given up: five minutes after its
 * execution limit.
 */
function longestLife(job: JobRow): number {
  return workedFrom(job) + (job.execution_seconds + 300) * 1000;
}

const makeDue = statement("job.update.due_again", {
  params: { jobId: text, fence: int4, now: timestamptz, reapUntil: timestamptz },
  sql: `UPDATE job SET dispatch_state = 'pending', dispatch_after = $now
    WHERE id = $jobId AND fence = $fence AND status = 'running' AND ${ABANDONED} AND dispatch_state = 'none'`,
});

/** Marks a running job whose lease ended to be woken again; the claim then takes it over. */
const dispatchAgain = (jobId: string, fence: number, now: Date, reapUntil: Date): Promise<void> =>
  makeDue.run(pool, { jobId, fence, now, reapUntil });
