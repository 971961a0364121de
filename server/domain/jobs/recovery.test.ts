import { expect, test, vi } from "vitest";
import { pool } from "@/server/db";
import { releaseAllLeases } from "@/server/domain/attempts";
import * as jobs from "@/server/domain/jobs";
import { newId } from "@/server/ids";
import { inlineStep, makeProject, rowsOf, startJob, type TestProject } from "@/testing/world";
import { conclude } from "./conclude";
import { endedWithout } from "./ended";
import { attempt } from "./run";
import { storeAnswer } from "./transitions/answer";
import { beginSubmission, keepHandle, takeBack } from "./transitions/attempt";
import { claim } from "./transitions/claim";
import { MOVES, transition } from "./transitions/moves";
import { readJob } from "./work";

const QUESTION = { messages: [{ role: "user", content: "What is a capstan?" }] };
const PAST_LEASE_MS = 60_000;

async function admitted(project: TestProject) {
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", QUESTION);
  return jobId;
}

/** Another process takes a job, for the run `r`. */
const claimElsewhere = ({ ctx }: TestProject, jobId: string) =>
  claim({
    jobId,
    runId: "r",
    owner: "other",
    attemptId: newId("attempt"),
    leaseMs: 15_000,
    now: ctx.now(),
  });

const answerOf = (attemptId: string) => ({
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
    answered_at: new Date(),
    ended_at: new Date(),
  },
  output: {
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

test("a worker that dies before it submits loses nothing: the job is queued again under the same attempt number", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  await startJob(project.ctx, jobId);
  project.clock.advance(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "queued", dispatch_state: "pending" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "succeeded" });
  expect(rows.attempts).toHaveLength(1);
});

test("a worker that dies after submission began leaves an ambiguous job that is never sent again", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  await beginSubmission({
    tier: "standard",
    jobId,
    fence: started!.fence,
    attemptId: started!.attemptId,
    now: project.ctx.now(),
  });
  project.clock.advance(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "TRANSPORT_AMBIGUOUS" },
    retry: { newKeySafe: false },
  });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous" });
});

test("a step that is run again after submission began sends nothing and ends as ambiguous", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  await beginSubmission({
    tier: "standard",
    jobId,
    fence: started!.fence,
    attemptId: started!.attemptId,
    now: project.ctx.now(),
  });
  await attempt(project.ctx, jobId, started!);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "TRANSPORT_AMBIGUOUS" },
  });
});

test("a worker that dies after the answer was stored is replaced: the job succeeds with that answer", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  await beginSubmission({
    tier: "standard",
    jobId,
    fence: started!.fence,
    attemptId: started!.attemptId,
    now: project.ctx.now(),
  });
  await storeAnswer({
    jobId,
    fence: started!.fence,
    now: project.ctx.now(),
    ...answerOf(started!.attemptId),
  });
  project.clock.advance(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "succeeded",
    typedOutput: { content: "A winch." },
    actualCost: 0.000007,
  });
});

test("a worker whose lease was taken over writes nothing more", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const first = await startJob(project.ctx, jobId);
  project.clock.advance(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  const second = await startJob(project.ctx, jobId);
  expect(second!.fence).toBeGreaterThan(first!.fence);
  expect(
    await beginSubmission({
      tier: "standard",
      jobId,
      fence: first!.fence,
      attemptId: first!.attemptId,
      now: project.ctx.now(),
    }),
  ).toBe(false);
  expect(
    await storeAnswer({ jobId, fence: first!.fence, now: project.ctx.now(), ...answerOf(first!.attemptId) }),
  ).toBe(false);
  expect(
    await beginSubmission({
      tier: "standard",
      jobId,
      fence: second!.fence,
      attemptId: second!.attemptId,
      now: project.ctx.now(),
    }),
  ).toBe(true);
});

test("of many workers that claim one job, one gets it", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const claims = await Promise.all(Array.from({ length: 40 }, () => claimElsewhere(project, jobId)));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test("of many submissions of one attempt, one begins", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  const begun = await Promise.all(
    Array.from({ length: 40 }, () =>
      beginSubmission({
        tier: "standard",
        jobId,
        fence: started!.fence,
        attemptId: started!.attemptId,
        now: project.ctx.now(),
      }),
    ),
  );
  expect(begun.filter(Boolean)).toHaveLength(1);
});

/** Keeps a job's row locked until so many statements (of those that hold this text) wait for it. */
async function lockedUntil(
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
      if (Date.now() > giveUpAt) throw new Error("nothing came to wait for the row");
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

test("two submissions of one attempt that wait for the same row: one begins, and no event is missing", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const { fence, attemptId } = (await startJob(project.ctx, jobId))!;
  const begin = () => beginSubmission({ tier: "standard", jobId, fence, attemptId, now: project.ctx.now() });
  const begun = await lockedUntil(jobId, 2, () => [begin(), begin()]);
  expect(begun.filter(Boolean)).toHaveLength(1);
  const { events } = await rowsOf(jobId);
  expect(events.map(({ type }) => type)).toEqual(["job.queued", "job.started", "job.provider_submitted"]);
});

test("a step that is delivered again while its first delivery waits for the provider changes nothing", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const now = project.ctx.now();
  const claimed = await claimElsewhere(project, jobId);
  const started = { attemptId: claimed!.attempt.id, fence: claimed!.fence };
  await beginSubmission({ tier: "standard", jobId, ...started, now });
  expect(await attempt(project.ctx, jobId, started)).toMatchObject({ state: "again" });
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "running" });
  expect(await storeAnswer({ jobId, fence: started.fence, now, ...answerOf(started.attemptId) })).toBe(true);
  await attempt(project.ctx, jobId, started);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "succeeded" });
});

test("a run whose step is delivered again goes on with what it claimed; another run, or one whose job ended, does not", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const step = inlineStep(project.clock);
  const first = await startJob(project.ctx, jobId, step.runId); // and then its process dies
  expect(await startJob(project.ctx, jobId)).toBeNull();
  expect(await startJob(project.ctx, jobId, step.runId)).toMatchObject(first!);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "running", fence: 1 });
  await jobs.run(project.ctx, jobId, step);
  const { job, events } = await rowsOf(jobId);
  expect(job).toMatchObject({ status: "succeeded", fence: 1 });
  expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
  expect(await startJob(project.ctx, jobId, step.runId)).toBeNull();
});

test("a run that is delivered again when its lease is over holds it anew before anything leaves", async () => {
  const project = await makeProject();
  const slow = { execution: { executionConstraints: { preferredModel: "sandbox-slow" } } };
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", { ...QUESTION, ...slow });
  const step = inlineStep(project.clock);
  const started = (await startJob(project.ctx, jobId, step.runId))!; // by a process that dies
  await pool.query("UPDATE job SET lease_owner = 'gone' WHERE id = $1", [jobId]);
  project.clock.advance(PAST_LEASE_MS);
  const running = jobs.run(project.ctx, jobId, step);
  await vi.waitFor(async () => expect((await rowsOf(jobId)).attempts[0].submission).toBe("ambiguous"));
  await jobs.sweep(project.ctx, { projectId: project.projectId }); // would end what nobody holds
  await running;
  const { job } = await rowsOf(jobId);
  expect(job).toMatchObject({ status: "succeeded", fence: started.fence });
  expect(job.lease_owner).not.toBe("gone");
});

test("a run that is delivered again after its request left waits for the first delivery, and sends nothing", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const now = project.ctx.now();
  const claimed = await claimElsewhere(project, jobId);
  const { fence, attempt: row } = claimed!;
  await beginSubmission({ tier: "standard", jobId, fence, attemptId: row.id, now });
  const steps: string[] = [];
  await jobs.run(project.ctx, jobId, {
    runId: "r",
    run: (id, work) => {
      steps.push(id);
      return work();
    },
    sleep: async (id) => {
      steps.push(id);
      await storeAnswer({ jobId, fence, now, ...answerOf(row.id) }); // the other delivery's
    },
  });
  expect(steps).toEqual(["attempt-1", "wait-1", "attempt-2", "wake-next"]);
  const { job, events } = await rowsOf(jobId);
  expect(job).toMatchObject({ status: "succeeded", fence });
  expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
});

test("a worker that stops after submission began and before anything left gives the job back unsubmitted", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = (await startJob(project.ctx, jobId))!;
  await lockedUntil(jobId, 1, () => [attempt(project.ctx, jobId, started)], {
    meanwhile: () => releaseAllLeases(0),
  });
  const given = await rowsOf(jobId);
  expect(given.job).toMatchObject({ status: "queued" });
  expect(given.attempts[0]).toMatchObject({ submission: "not_attempted" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "succeeded" });
});

test("a job that waits as long as its provider asked keeps its lease meanwhile, and can be canceled", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const { fence, attemptId } = (await startJob(project.ctx, jobId))!;
  const now = project.ctx.now();
  await beginSubmission({ tier: "standard", jobId, fence, attemptId, now });
  const leaseUntil = new Date(now.getTime() + 90_000);
  expect(await takeBack({ jobId, fence, attemptId, leaseUntil, capacityRejections: 1 })).toBe(true);
  project.clock.advance(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "running", fence });
  await jobs.cancel(project.ctx, jobId);
  await jobs.sweep(project.ctx, project);
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "canceled" });
  expect(rows.hold).toMatchObject({ state: "released" });
  // The request that was refused had left, and nothing of it ran.
  expect(await jobs.receipt(project.ctx, jobId)).toMatchObject({
    providerSubmission: "attempted",
    providerSubmissions: 1,
    capacityRejections: 1,
    attempts: [{ providerSubmission: "attempted", submissions: 0, capacityRejections: 1, answeredAt: null }],
  });
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    diagnostics: { backendState: "attempted" },
    retry: { newKeySafe: true },
  });
});

test("canceled work that a provider keeps is never called unsubmitted: its hold stays", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const { fence, attemptId } = (await startJob(project.ctx, jobId))!;
  const now = project.ctx.now();
  await beginSubmission({ tier: "standard", jobId, fence, attemptId, now });
  await keepHandle({ jobId, fence, attemptId, leaseUntil: now, handle: { id: "batch_1" }, now });
  await jobs.cancel(project.ctx, jobId);
  await attempt(project.ctx, jobId, { attemptId, fence });
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "canceled" });
  expect(rows.hold).toMatchObject({ state: "ambiguous" });
});

test("a job that cannot be ended keeps the sweep from no other", async () => {
  const project = await makeProject();
  const broken = await admitted(project);
  const other = await admitted(project);
  await pool.query("UPDATE payload SET content = '{' WHERE job_id = $1", [broken]);
  project.clock.advance(24 * 3_600_000);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(broken)).job).toMatchObject({ status: "queued" });
  expect((await rowsOf(other)).job).toMatchObject({ status: "failed", error_code: "QueueTimeout" });
});

test("what was decided about a job by rows that have changed since is not written", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = (await startJob(project.ctx, jobId))!;
  const seen = (await readJob(jobId))!;
  await beginSubmission({ tier: "standard", jobId, ...started, now: project.ctx.now() });
  const move = { jobId, fence: started.fence, from: ["running" as const], now: project.ctx.now() };
  const event = { type: "job.queued", payload: { reason: "lease_lost" } };
  expect(await transition({ ...move, to: "queued", event, lastEvent: seen.last_event })).toBe(false);
  const released = { code: "ExecutionTimeout", message: "late", settlement: "released" } as const;
  const ended = await conclude({
    job: seen,
    inputHash: "",
    outputHash: null,
    engine: null,
    attempt: null,
    artifacts: [],
    ended: endedWithout(released, "not_attempted"),
    from: ["running"],
    fence: started.fence,
    asRead: true,
    canceled: false,
    now: project.ctx.now(),
  });
  expect(ended).toBe(false);
});

test("work that cost more than was held is charged in full, the overrun as an entry of its own, and sums to zero", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = (await startJob(project.ctx, jobId))!;
  const job = (await readJob(jobId))!;
  const costMicros = job.pricing.maximumMicros + 1_000_000;
  const ended = endedWithout({ code: null, message: null, settlement: "cost" }, "attempted");
  await conclude({
    job,
    inputHash: "",
    outputHash: null,
    engine: null,
    attempt: null,
    artifacts: [],
    ended: {
      ...ended,
      outcome: { ...ended.outcome, outcome: "succeeded" },
      observed: { ...ended.observed, costMicros },
    },
    from: ["running"],
    fence: started.fence,
    canceled: false,
    now: project.ctx.now(),
  });
  const { hold, ledger } = await rowsOf(jobId);
  const amountOf = (kind: string) =>
    ledger.find((entry) => "kind" in entry && entry.kind === kind)?.amount_micros ?? 0;
  expect(amountOf("charge")).toBe(-job.pricing.maximumMicros);
  expect(amountOf("charge") + amountOf("overrun")).toBe(-hold.settled_micros);
  expect(hold.settled_micros).toBeGreaterThanOrEqual(costMicros);
  expect(ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);
});

test("an execution whose cancel came before its end answers as its record says, not with success", async () => {
  const project = await makeProject();
  const answer = jobs
    .invoke(project.ctx, "text.general.fast.v1", { input: QUESTION, preferredModel: "sandbox-busy" })
    .catch((cause) => cause);
  let executionId = "";
  while (!executionId) {
    const { rows } = await pool.query("SELECT id FROM job WHERE project_id = $1", [project.projectId]);
    executionId = rows[0]?.id ?? "";
  }
  await lockedUntil(executionId, 1, () => [jobs.cancel(project.ctx, executionId), answer], {
    holding: "seen_event",
  });
  expect(await answer).toMatchObject({ code: "Cancelled", details: { executionId } });
  const { job, hold, receipts } = await rowsOf(executionId);
  expect(job).toMatchObject({ status: "canceled" });
  expect(hold).toMatchObject({ state: "settled" });
  expect(receipts).toHaveLength(1);
});

test("of many ends of one job, one is written", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const job = (await readJob(jobId))!;
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      conclude({
        job,
        inputHash: "",
        outputHash: null,
        engine: null,
        attempt: null,
        artifacts: [],
        canceled: n % 2 === 0,
        ended: endedWithout(
          { code: n % 2 ? "QueueTimeout" : null, message: null, settlement: "released" },
          "not_attempted",
        ),
        from: ["queued"],
        fence: null,
        now: project.ctx.now(),
      }),
    ),
  );
  expect(ends.filter(Boolean)).toHaveLength(1);
  const rows = await rowsOf(jobId);
  expect(rows.receipts).toHaveLength(1);
  expect(rows.events.filter((event) => /^job\.(failed|canceled)$/.test(event.type))).toHaveLength(1);
});

test("a job that nobody starts fails with QueueTimeout when its queue deadline passes", async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: QUESTION,
    execution: { executionConstraints: { queueDeadlineSeconds: 30 } },
  });
  project.clock.advance(31_000);
  expect(await startJob(project.ctx, jobId)).toBeNull();
  await jobs.sweep(project.ctx, project);
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "QueueTimeout" },
    nextAction: "retry_new",
    retry: { newKeySafe: true },
  });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
});

test("a wake that was lost is sent again, under a new number each time", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  project.clock.advance(11_000);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ dispatch_number: 2, dispatch_state: "pending" });
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ dispatch_number: 2 });
});

test("a queued job is canceled at once; canceling it again answers with it", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  expect(await jobs.cancel(project.ctx, jobId)).toMatchObject({
    status: "canceled",
    nextAction: "stop",
    retry: { newKeySafe: true },
  });
  expect(await jobs.cancel(project.ctx, jobId)).toMatchObject({ status: "canceled" });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "canceled" });
});

test("an ended job cannot be canceled", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  await expect(jobs.cancel(project.ctx, jobId)).rejects.toMatchObject({ code: "JobNotCancelable" });
});

test("a cancel before submission stops the job; its worker then sends nothing", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  expect(await jobs.cancel(project.ctx, jobId)).toMatchObject({ status: "canceling", nextAction: "poll" });
  await attempt(project.ctx, jobId, started!);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "canceled" });
  expect((await rowsOf(jobId)).attempts[0]).toMatchObject({ submission: "not_attempted" });
});

test("a canceling job whose worker is gone is canceled by the sweep, with its hold kept when it may have run", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  await beginSubmission({
    tier: "standard",
    jobId,
    fence: started!.fence,
    attemptId: started!.attemptId,
    now: project.ctx.now(),
  });
  await jobs.cancel(project.ctx, jobId);
  project.clock.advance(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "canceled" });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous" });
});

test("no move that the table does not have is written, whoever asks", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const event = { type: "job.queued", payload: {} };
  await expect(
    transition({ jobId, from: ["succeeded"], to: "queued", now: new Date(), event }),
  ).rejects.toThrow();
  await expect(pool.query("UPDATE job SET status = 'invented' WHERE id = $1", [jobId])).rejects.toThrow();
  await jobs.cancel(project.ctx, jobId);
  await expect(pool.query("UPDATE job SET status = 'running' WHERE id = $1", [jobId])).rejects.toThrow(
    /already canceled/,
  );
  for (const status of ["succeeded", "failed", "canceled"] as const) expect(MOVES[status]).toEqual([]);
});

test("a job whose workers keep dying before they submit is given up after its execution limit", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  await startJob(project.ctx, jobId);
  project.clock.advance(3_600_000);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "ExecutionTimeout" },
    retry: { newKeySafe: true },
  });
});
