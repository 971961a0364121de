import type pg from "pg";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import { jobLeases } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { receiptIdOf } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { MINUTE_MS } from "@/server/platform/time/units";
import { leasesPass } from "@/testing/leases";
import { tapSandbox } from "@/testing/vendor-tap";
import { makeProject, rowsOf, type TestProject } from "@/testing/world";
import { lastAttemptOf } from "../rows";
import { PAST_LEASE_MS, submittedJob, takenJob } from "./recovery.fixture";
import { submit } from "./turn";
import { loadWork, makeReady, readJob } from "./work";

/* Leases begin and end by the database's clock, and nothing is sent under a lease that may have ended. */

const TEXT = "text.general.fast.v1";
const slow = (ms: number) => ({
  input: { messages: [{ role: "user", content: `[slow ${ms}] What is a capstan?` }] },
  preferredModel: "sandbox-mixed",
});

afterEach(() => vi.restoreAllMocks());

/** The number of requests that reached the sandbox under this id. */
async function arrivals(attemptId: string): Promise<number> {
  const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${attemptId}`);
  return ((await answer.json()) as { count: number }).count; // as the sandbox answers
}

/** Sends requests through a tap that holds each of them back until `before` has resolved. */
async function heldBack(before: () => Promise<unknown>): Promise<void> {
  const tap = await tapSandbox({ before });
  onTestFinished(() => tap.stop());
}

test.each([-2 * MINUTE_MS, 2 * MINUTE_MS])(
  "a process whose clock is off by %i ms keeps its running work",
  async (skewMs) => {
    const project = await makeProject();
    const { projectId, organizationId, ctx } = project;
    project.clock.advance(skewMs);
    // A renewal would extend a lease that began at the wrong time.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    let sweeps = 0;
    // Another process sweeps, by the true time, while each of the two executions is with the provider.
    await heldBack(async () => {
      await jobs.sweep(systemCtx("sweeper"), { projectId });
      await pins.sweep(systemCtx("sweeper"), { projectId });
      sweeps++;
    });
    const answers = await Promise.all([
      jobs.invoke(ctx, TEXT, slow(1)),
      pins.run(ctx, {
        pin: { provider: "sandbox", model: "sandbox-mixed", api: "responses" },
        input: "[slow 1] How deep is the sea?",
      }),
    ]);
    expect(sweeps).toBe(2);
    expect(answers.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    // Work that was taken over would be answered as well, but its answer would resolve an ambiguous hold.
    const { rows } = await pool.query("SELECT resolution FROM hold WHERE organization_id = $1", [
      organizationId,
    ]);
    expect(rows.map(({ resolution }) => resolution)).toEqual([null, null]);
  },
);

/** Runs `meanwhile` once, just before a lease that is about to be used is renewed. */
function beforeRenewal(meanwhile: () => Promise<unknown>) {
  const query = pool.query.bind(pool);
  let isDone = false;
  vi.spyOn(pool, "query").mockImplementation((async (asked: pg.QueryConfig | string, ...rest: unknown[]) => {
    if (!isDone && typeof asked === "object" && asked.text.includes("FOR NO KEY UPDATE OF held")) {
      isDone = true;
      await meanwhile();
    }
    return query(asked as never, ...(rest as []));
  }) as never);
}

/**
 * Makes the admission of a call wait for a lock, and then moves this process's clocks forward by `lateMs`.
 */
async function admittedLate<T>(
  { organizationId, clock }: TestProject,
  lateMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let asked: Promise<T> | null = null;
  const blocked = blocking(
    (client) => client.query("SELECT pg_advisory_xact_lock(capstan_budget_lock($1))", [organizationId]),
    () => {
      asked = work();
      asked.catch(() => {});
    },
    () => {
      const now = performance.now.bind(performance);
      vi.spyOn(performance, "now").mockImplementation(() => now() + lateMs);
      clock.advance(lateMs);
    },
  );
  await blocked;
  return asked as unknown as Promise<T>; // set before anything was blocked
}

/**
 * Starts `work`, waits until it is blocked by what a transaction has locked, runs `meanwhile`, and releases
 * the lock.
 */
async function blocking(
  lock: (client: pg.PoolClient) => Promise<unknown>,
  work: () => void,
  meanwhile: () => void = () => {},
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await lock(client);
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    work();
    const waiting = () =>
      pool.query("SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))", [rows[0].pid]);
    await expect.poll(async () => (await waiting()).rowCount, { timeout: 10_000, interval: 10 }).toBe(1);
    meanwhile();
  } finally {
    await client.query("COMMIT");
    client.release();
  }
}

const LATE_MS = 13_000;

test("a call whose admission used up most of its lease renews the lease and is answered, and its receipt has the time at which it was sent", async () => {
  const project = await makeProject();
  let renewals = 0;
  beforeRenewal(async () => renewals++);
  const { executionId } = await admittedLate(project, LATE_MS, () => jobs.invoke(project.ctx, TEXT, slow(1)));
  expect(renewals).toBe(1);
  const receipt = await jobs.receipt(project.ctx, executionId);
  const { job, attempts } = await rowsOf(executionId);
  const sentAt = attempts[0].submission_begun_at;
  expect(sentAt.getTime() - job.created_at.getTime()).toBeGreaterThanOrEqual(LATE_MS);
  expect(receipt.attempts.map(({ submissionBegunAt }) => submissionBegunAt)).toEqual([sentAt.toISOString()]);
});

test("a call that was ended elsewhere before it left is never sent: 503 with its id, no charge, and its key is freed", async () => {
  const project = await makeProject();
  const { ctx, projectId } = project;
  let id = "";
  beforeRenewal(async () => {
    const { rows } = await pool.query("SELECT id FROM job WHERE project_id = $1", [projectId]);
    id = rows[0].id;
    await leasesPass("job", PAST_LEASE_MS, "id = $2", id);
    await jobs.sweep(ctx, { projectId });
  });
  const key = { idempotencyHeader: "never-left" };
  const late = admittedLate(project, LATE_MS, () => jobs.invoke(ctx, TEXT, slow(1), key));
  const fault = await late.catch((cause) => cause);
  expect(fault.row.status).toBe(503);
  expect(fault).toMatchObject({
    code: "ServiceUnavailable",
    details: { executionId: id, receiptId: receiptIdOf(id), retryAfterSeconds: 5 },
  });
  vi.restoreAllMocks();
  const { job, hold, attempts } = await rowsOf(id);
  expect(job).toMatchObject({
    status: "failed",
    error_code: "TRANSPORT_AMBIGUOUS",
    released_key: "never-left",
  });
  expect(hold).toMatchObject({ state: "released", settled_micros: null, resolution: "never_sent" });
  expect(await arrivals(attempts[0].id)).toBe(0);
  const seen = await jobs.get(ctx, id);
  expect([seen.idempotencyKey, seen.charge?.chargedMicros, seen.charge?.state]).toEqual([
    "never-left",
    0,
    "not_charged",
  ]);
  const again = await jobs.invoke(ctx, TEXT, slow(1), key);
  expect(again).toMatchObject({ status: "succeeded" });
  expect(again.executionId).not.toBe(id);
  const listed = await jobs.mine(ctx, { idempotencyKey: "never-left", limit: 50 });
  expect(listed.items.map(({ jobId }) => jobId).sort()).toEqual([id, again.executionId].sort());
});

test("a pinned execution that was ended elsewhere before it left is never sent and costs nothing", async () => {
  const project = await makeProject();
  const { ctx, projectId } = project;
  const request = {
    pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
    input: "How deep is the sea?",
    idempotencyKey: "never-left",
  };
  let id = "";
  beforeRenewal(async () => {
    const { rows } = await pool.query("SELECT id FROM pinned_execution WHERE project_id = $1", [projectId]);
    id = rows[0].id;
    await leasesPass("pinned_execution", PAST_LEASE_MS, "id = $2", id);
    await pins.sweep(ctx, { projectId });
  });
  const late = admittedLate(project, LATE_MS, () => pins.run(ctx, request));
  expect(await late.catch((cause) => cause)).toMatchObject({
    code: "ServiceUnavailable",
    details: { executionId: id, retryAfterSeconds: 5, safelyRetryable: true },
  });
  vi.restoreAllMocks();
  expect(await arrivals(id)).toBe(0);
  const { rows } = await pool.query(
    "SELECT state, settled_micros, resolution FROM hold WHERE execution_id = $1",
    [id],
  );
  expect(rows).toEqual([{ state: "released", settled_micros: null, resolution: "never_sent" }]);
  const { corrections } = await pins.get(ctx, receiptIdOf(id));
  expect(corrections).toMatchObject([{ kind: "charge_resolved", details: { resolution: "never_sent" } }]);
  const again = await pins.run(ctx, request);
  expect(again).toMatchObject({ status: "succeeded" });
  expect(again.executionId).not.toBe(id);
});

/** Commits the first statement whose name begins with `name`, and loses its answer. */
function unanswered(name: string) {
  const connect = pool.connect.bind(pool);
  let isLost = false;
  vi.spyOn(pool, "connect").mockImplementation(((callback?: never) => {
    if (callback) return connect(callback);
    return connect().then((client) => {
      const query = client.query.bind(client);
      const answered = async (asked: { name?: string }) => {
        const answer = await query(asked as never);
        if (isLost || !asked.name?.startsWith(name)) return answer;
        isLost = true;
        throw Object.assign(new Error("terminating connection"), { code: "57P01" });
      };
      // The client itself stays unchanged, because the pool lends it again.
      return Object.assign(Object.create(client), { query: answered, release: client.release.bind(client) });
    });
  }) as never);
}

test("a call whose admission was committed without an answer is not sent, and the same request runs anew", async () => {
  const { ctx } = await makeProject();
  unanswered("admit");
  const key = { idempotencyHeader: "unheard" };
  const fault = await jobs.invoke(ctx, TEXT, slow(1), key).catch((cause) => cause);
  vi.restoreAllMocks();
  expect(fault).toMatchObject({ code: "ServiceUnavailable", details: { executionId: expect.any(String) } });
  const { executionId } = fault.details;
  await expect.poll(async () => (await rowsOf(executionId)).job.status, { timeout: 30_000 }).toBe("failed");
  const { job, hold, attempts } = await rowsOf(executionId);
  expect([job.error_code, hold.state, attempts[0].submission]).toEqual([
    "ServiceUnavailable",
    "released",
    "not_attempted",
  ]);
  expect(await arrivals(attempts[0].id)).toBe(0);
  const again = await jobs.invoke(ctx, TEXT, slow(1), key);
  expect(again.status).toBe("succeeded");
  expect(again.executionId).not.toBe(executionId);
});

test("a job that was ended elsewhere before it left is not sent, and its hold is released", async () => {
  const project = await makeProject();
  const { ctx, projectId } = project;
  const { jobId, started } = await submittedJob(project);
  const work = await makeReady((await loadWork(jobId))!.work!);
  const row = (await lastAttemptOf((await readJob(jobId))!))!;
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(ctx, { projectId });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous" });
  const lease = jobLeases.hold(jobId, started.fence);
  expect(await submit({ ctx, work, row, lease })).toEqual({ state: "ended", isUnsent: true });
  lease.release();
  expect(await arrivals(row.id)).toBe(0);
  const { job, hold } = await rowsOf(jobId);
  expect(hold).toMatchObject({ state: "released", settled_micros: null, resolution: "never_sent" });
  // A durable job keeps its key, so the same request returns this job.
  expect(job.released_key).toBe(null);
});

test("a synchronous call that the sweeper finds unsent ends without a charge and frees its key", async () => {
  const { ctx, projectId } = await makeProject();
  const key = { idempotencyHeader: "stopped" };
  let goOn = () => {};
  const isSwept = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await heldBack(() => isSwept);
  const first = jobs.invoke(ctx, TEXT, slow(1), key).catch((cause) => cause);
  const find = async () => (await pool.query("SELECT id FROM job WHERE project_id = $1", [projectId])).rows;
  await expect.poll(async () => (await find()).length, { timeout: 30_000, interval: 10 }).toBe(1);
  const [{ id }] = await find();
  // A process that dies while it waits to send again leaves the attempt like this.
  await pool.query("UPDATE attempt SET submission = 'not_attempted' WHERE job_id = $1", [id]);
  await leasesPass("job", PAST_LEASE_MS, "id = $2", id);
  await jobs.sweep(ctx, { projectId });
  const { job, hold } = await rowsOf(id);
  expect([job.error_code, job.released_key, hold.state]).toEqual(["InternalFailure", "stopped", "released"]);
  goOn();
  await first;
  const again = await jobs.invoke(ctx, TEXT, slow(1), key);
  expect(again.status).toBe("succeeded");
  expect(again.executionId).not.toBe(id);
});

test("an ended lease stays its owner's for three more seconds, and no late or held-up pass takes anything over", async () => {
  const project = await makeProject();
  const { ctx } = project;
  const { jobId } = await submittedJob(project);
  const sweep = async (pass?: Parameters<typeof jobs.sweep>[2]) => {
    await jobs.sweep(ctx, project, pass);
    return (await rowsOf(jobId)).job.status;
  };
  const databaseNow = async () => (await pool.query("SELECT clock_timestamp() AS now")).rows[0].now as Date; // pg returns a Date
  await pool.query("UPDATE job SET lease_until = clock_timestamp() WHERE id = $1", [jobId]);
  expect(await sweep()).toBe("running");
  await project.pass(3_001);
  expect(await sweep({ startedAt: await databaseNow(), isLate: true })).toBe("running");
  const before = new Date((await databaseNow()).getTime() - 5_001);
  expect(await sweep({ startedAt: before, isLate: false })).toBe("running");
  const ahead = new Date((await databaseNow()).getTime() + MINUTE_MS); // allows for any delay before the statement
  expect(await sweep({ startedAt: ahead, isLate: false })).toBe("failed");
});

test("work whose lease is renewed while the sweeper is about to take it over stays its owner's", async () => {
  const project = await makeProject();
  for (const make of [takenJob, submittedJob]) {
    const { jobId } = await make(project);
    await project.pass(PAST_LEASE_MS);
    let sweeping: Promise<void> | null = null;
    await blocking(
      (client) =>
        client.query("UPDATE job SET lease_until = clock_timestamp() + interval '15 s' WHERE id = $1", [
          jobId,
        ]),
      () => {
        sweeping = jobs.sweep(project.ctx, project);
      },
    );
    await sweeping;
    expect((await rowsOf(jobId)).job.status).toBe("running");
  }
});
