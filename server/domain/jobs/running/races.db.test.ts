import { expect, test, vi } from "vitest";
import { end, ending, nothingSent } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { inlineStep, makeProject, rowsOf, startJob } from "@/testing/world";
import { unleased } from "../ending/end";
import { storeAnswer } from "../transitions/answer";
import { beginSubmission } from "../transitions/attempt";
import { MOVES, transition } from "../transitions/moves";
import {
  admitted,
  answerOf,
  claimElsewhere,
  lockedUntil,
  PAST_LEASE_MS,
  QUESTION,
  submittedJob,
  takenJob,
} from "./recovery.fixture";
import { attempt } from "./run";
import { readJob } from "./work";

test("a step that is repeated after submission began ends the job as ambiguous", async () => {
  const project = await makeProject();
  const { jobId, started } = await submittedJob(project);
  await attempt(project.ctx, jobId, started);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "TRANSPORT_AMBIGUOUS" },
  });
});

test("exactly one of forty workers that claim the same job gets the job", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const claims = await Promise.all(Array.from({ length: 40 }, () => claimElsewhere(project, jobId)));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test("exactly one of forty submissions of the same attempt begins", async () => {
  const project = await makeProject();
  const { begin } = await takenJob(project);
  const begun = await Promise.all(Array.from({ length: 40 }, begin));
  expect(begun.filter(Boolean)).toHaveLength(1);
});

test("exactly one of two submissions of an attempt that wait for the same row begins, and no event is missing", async () => {
  const project = await makeProject();
  const { jobId, begin } = await takenJob(project);
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

test("a run whose step is delivered again continues its claim; another run, or one whose job ended, does not", async () => {
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

test("a run that is delivered again after its lease ended holds the lease anew before anything is sent", async () => {
  const project = await makeProject();
  const slow = { execution: { executionConstraints: { preferredModel: "sandbox-slow" } } };
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", { ...QUESTION, ...slow });
  const step = inlineStep(project.clock);
  const started = (await startJob(project.ctx, jobId, step.runId))!; // by a process that dies
  await pool.query("UPDATE job SET lease_owner = 'gone' WHERE id = $1", [jobId]);
  await project.pass(PAST_LEASE_MS);
  const running = jobs.run(project.ctx, jobId, step);
  await vi.waitFor(async () => expect((await rowsOf(jobId)).attempts[0].submission).toBe("ambiguous"));
  await jobs.sweep(project.ctx, { projectId: project.projectId }); // would end work that no one holds
  await running;
  const { job } = await rowsOf(jobId);
  expect(job).toMatchObject({ status: "succeeded", fence: started.fence });
  expect(job.lease_owner).not.toBe("gone");
});

test("a run that is delivered again after its request left waits for the first delivery and sends nothing", async () => {
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
      await storeAnswer({ jobId, fence, now, ...answerOf(row.id) }); // written by the other delivery
    },
  });
  expect(steps).toEqual(["attempt-1", "wait-1", "attempt-2"]);
  const { job, events } = await rowsOf(jobId);
  expect(job).toMatchObject({ status: "succeeded", fence });
  expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
});

test("a decision about a job is not written if the rows have changed since they were read", async () => {
  const project = await makeProject();
  const { jobId, started } = await takenJob(project);
  const seen = (await readJob(jobId))!;
  await beginSubmission({ tier: "standard", jobId, ...started, now: project.ctx.now() });
  const move = { jobId, fence: started.fence, from: ["running" as const], now: project.ctx.now() };
  const event = { type: "job.queued", payload: { reason: "lease_lost" } };
  expect(await transition({ ...move, to: "queued", event, lastEvent: seen.last_event })).toBe(false);
  const store = unleased(project.ctx, seen, null, { isCanceled: false });
  const { written } = await end(store, ending("timed_out_unsent", nothingSent));
  expect(written).toBeUndefined();
});

test("exactly one of twenty ends of the same job is written", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const job = (await readJob(jobId))!;
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      end(
        unleased(project.ctx, job, null, { isCanceled: n % 2 === 0 }),
        ending("stopped_unsent", nothingSent, { code: n % 2 ? "QueueTimeout" : null }),
      ),
    ),
  );
  expect(ends.filter(({ written }) => written)).toHaveLength(1);
  const rows = await rowsOf(jobId);
  expect(rows.receipts).toHaveLength(1);
  expect(rows.events.filter((event) => /^job\.(failed|canceled)$/.test(event.type))).toHaveLength(1);
});

test("a move that the table does not have is refused by the code, and a move out of an ended status by the database", async () => {
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
