import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { startJob, type TestProject } from "@/testing/world";
import { beginSubmission } from "../transitions/attempt";
import { claim } from "../transitions/claim";

export const QUESTION = { messages: [{ role: "user", content: "What is a capstan?" }] };
export const PAST_LEASE_MS = 60_000;

export async function admitted(project: TestProject) {
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", QUESTION);
  return jobId;
}

/**
 * A job that a worker has claimed: its claim, and `begin`, which begins the one submission of its attempt.
 */
export async function takenJob(project: TestProject) {
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  if (!started) throw new Error("the job was not free");
  const { fence, attemptId } = started;
  const begin = () => beginSubmission({ tier: "standard", jobId, fence, attemptId, now: project.ctx.now() });
  return { jobId, started, begin };
}

/** A claimed job whose submission has begun, so that its outcome is unknown. */
export async function submittedJob(project: TestProject) {
  const taken = await takenJob(project);
  await taken.begin();
  return taken;
}

/** Claims a job as another process, for the run `r`. */
export const claimElsewhere = ({ ctx }: TestProject, jobId: string) =>
  claim({
    jobId,
    runId: "r",
    owner: "other",
    attemptId: newId("attempt"),
    leaseMs: 15_000,
    now: ctx.now(),
  });

export const answerOf = (attemptId: string) => ({
  attempt: {
    id: attemptId,
    submission: "attempted" as const,
    provider_request_id: "sbx_1",
    provider_model: "sandbox-1",
    answer: {
      outcome: "succeeded" as const,
      code: null,
      message: null,
      settlement: "cost" as const,
      finishReason: "stop",
    },
    usage: { inputTokens: 3, outputTokens: 4 },
    http_status: 200,
    error_code: null,
    error_message: null,
    cost_micros: 7,
    submission_begun_at: null,
    answered_at: new Date(),
    ended_at: new Date(),
  },
  output: {
    kind: "output" as const,
    id: newId("payload"),
    content: '{"content":"A winch.","role":"assistant"}',
    sha256: "0".repeat(64),
    byte_length: 41,
    is_sealed: false,
    expires_at: null,
  },
  artifacts: [],
  events: [],
});

/** Keeps a job's row locked until `waiting` statements that contain the text `holding` wait for it. */
export async function lockedUntil(
  jobId: string,
  waiting: number,
  work: () => Promise<unknown>[],
  { meanwhile = async () => {}, holding = "" }: { meanwhile?: () => Promise<void>; holding?: string } = {},
) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const holder = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    await client.query("SELECT FROM job WHERE id = $1 FOR UPDATE", [jobId]);
    const results = Promise.all(work());
    const giveUpAt = Date.now() + 10_000;
    for (let blocked = 0; blocked < waiting; ) {
      if (Date.now() > giveUpAt) throw new Error("nothing waits for the row");
      const { rows } = await pool.query<{ count: number }>(
        `WITH waiting AS (SELECT pid, query, pg_blocking_pids(pid) AS behind FROM pg_stat_activity)
         SELECT count(*) AS count FROM waiting
         WHERE position($2 in query) > 0
           AND ($1 = ANY(behind) OR behind && (SELECT array_agg(pid) FROM waiting WHERE $1 = ANY(behind)))`,
        [holder.rows[0]!.pid, holding],
      );
      blocked = rows[0]!.count;
    }
    await meanwhile();
    await client.query("COMMIT");
    return await results;
  } finally {
    client.release();
  }
}
