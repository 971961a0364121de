import { sendEvents } from "@/inngest/client";
import { notHeld } from "@/server/domain/restores";
import { batched } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { usesInngestServer } from "@/server/platform/settings/env";
import { int4, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";

const WAKE = { id: text, projectId: text, dispatchNumber: int4 };
type Wake = Of<typeof WAKE>;

/**
 * Wakes the durable engine for these jobs, best effort: their rows are the truth, and the sweeper sends lost
 * wakes again.
 */
export function wake(jobs: Wake[]): void {
  if (jobs.length === 0) return;
  const sending = usesInngestServer ? Promise.all(jobs.map(sendWithOthers)) : send(jobs);
  sending.catch((cause) =>
    log.warn(
      { err: cause, jobIds: jobs.map(({ id }) => id) },
      "wakes could not be sent; the sweeper will send them",
    ),
  );
}

/** At most two requests to the Inngest server at a time; later wakes share the next one. */
const sendWithOthers = batched<Wake, null>(async (jobs) => {
  await send(jobs);
  return jobs.map(() => null);
});

/**
 * Wakes those of the admitted jobs that are to run now. Gives the embedded engine's statement one tick to
 * leave; an Inngest server is called just after. Does not wait for the engine's answer.
 */
export async function wakeAdmitted(
  admitted: { id: string; project_id: string; dispatch_state: string }[],
): Promise<void> {
  const due = admitted.filter(({ dispatch_state }) => dispatch_state === "pending");
  if (due.length === 0) return;
  wake(due.map(({ id, project_id }) => ({ id, projectId: project_id, dispatchNumber: 1 })));
  // The pool sends on the next tick, which would otherwise come only after all pending answers.
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

const send = (jobs: Wake[]) => sendEvents(jobs.map(toEvent));

const toEvent = (job: Wake) => ({
  // A resend carries a new number, so that no engine drops it as a duplicate.
  id: `job:${job.id}:${job.dispatchNumber}`,
  name: "job/admitted",
  data: { jobId: job.id, projectId: job.projectId },
});

const wakeDue = statement("job.wake.due", {
  params: { now: timestamptz, ...pick(SCOPE, "projectId") },
  row: WAKE,
  sql: `WITH due AS (
       SELECT id FROM job WHERE (dispatch_state = 'pending') IS TRUE AND dispatch_after <= $now
         AND ${inScope(pick(SCOPE, "projectId"))} AND ${notHeld("jobs")}
       ORDER BY dispatch_after LIMIT 500 FOR UPDATE SKIP LOCKED
     )
     UPDATE job SET dispatch_number = dispatch_number + 1,
       dispatch_after = $now::timestamptz + least(900, 10 * 2 ^ least(dispatch_number, 10)) * interval '1 second'
     FROM due WHERE job.id = due.id
     RETURNING job.id, project_id AS "projectId", dispatch_number AS "dispatchNumber"`,
});

/**
 * Sends at most 500 due wakes again: those that were never sent, and those that were sent but not claimed.
 * The wait doubles up to fifteen minutes. A job whose run is waiting for its turn is due too, because only
 * the embedded engine can see such a wait, and that engine does not wake a job twice.
 */
export async function resendDue(now: Date, projectId: string | null): Promise<number> {
  const rows = await wakeDue.all(pool, { now, projectId });
  await sendEvents(rows.map(toEvent));
  return rows.length;
}
