import { TERMINAL } from "@/server/contract/jobs";
import { readAmbiguous } from "@/server/domain/budgets";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { correctUnsent, end, unavailable } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type AttemptRow, type JobRow, lastAttemptOf } from "../rows";
import { readJob, storedInputHash } from "../running/work";
import { releaseSubmission } from "../transitions/attempt";
import { FREED_KEY } from "../transitions/finish";
import { resolveAfterEnd } from "./after-end";
import { leased } from "./end";

/** An execution that this process never sent, by its claim and the attempt that it was about to make. */
type Unsent = {
  jobId: string;
  fence: number;
  /** Null if no call was begun. */
  attemptId: string | null;
};

/**
 * Corrects the rows of an execution that was never sent, if they say that it was, or if a write that is still open
 * may make them say so. A synchronous execution ends without a charge, a durable job may be sent again, and an
 * end that the sweeper wrote is corrected. Runs at once, or as soon as the database answers.
 */
export const correctUnsentJob = ({ now }: Pick<Ctx, "now">, unsent: Unsent): Promise<void> =>
  correctUnsent(unsent.jobId, () => correct(systemCtx("never-sent", now), unsent));

async function correct(ctx: Ctx, { jobId, fence, attemptId }: Unsent): Promise<boolean> {
  const job = await readJob(jobId);
  if (!job) return false; // its admission may still be committed
  const attempt = await lastAttemptOf(job);
  if (job.fence !== fence || (attempt?.id ?? null) !== attemptId) return true;
  if (TERMINAL.includes(job.status)) return correctEnd(ctx, job, attempt);
  if (attempt && (attempt.answer !== null || attempt.handle !== null)) return true;
  if (job.operation === "jobs") {
    // The worker of the job or the sweeper continues from here.
    const capacityRejections = attempt?.capacity_rejections ?? 0;
    if (attemptId && attempt?.submission === "ambiguous")
      await releaseSubmission({ jobId, fence, attemptId, leaseMs: 0, capacityRejections });
    return true;
  }
  const inputHash = await storedInputHash(jobId);
  const turn = { ctx, work: { job, inputHash }, row: attempt, lease: { fence } };
  return (await end(leased(turn), unavailable(WHY))).written !== undefined;
}

const WHY = "The database did not answer in time.";

/**
 * Corrects an end that treated the request as possibly sent: the receipt stays, the hold is released, and the
 * key of a synchronous execution is free again.
 */
async function correctEnd(ctx: Ctx, job: JobRow, attempt: AttemptRow | null): Promise<true> {
  const hold = await readAmbiguous.first(pool, { executionId: job.id });
  if (hold && attempt) {
    const { id: attemptId, provider } = attempt;
    const learned = { attemptId, provider, settlement: "released", costMicros: null, usage: null } as const;
    if (await resolveAfterEnd(ctx, job, hold, { learned, how: { by: "never_sent" } }))
      ctx.log.info(
        { jobId: job.id, holdId: hold.id },
        "an ambiguous hold was released: nothing had been sent",
      );
  }
  await freeing.run(pool, { jobId: job.id });
  return true;
}

const freeing = statement("free-key", {
  params: { jobId: text },
  row: {},
  sql: `UPDATE job SET released_key = idempotency_key, idempotency_key = ${FREED_KEY}, repeat_hash = NULL
    WHERE id = $jobId AND operation = 'invoke' AND status = 'failed' AND error_code = 'TRANSPORT_AMBIGUOUS' AND released_key IS NULL`,
});
