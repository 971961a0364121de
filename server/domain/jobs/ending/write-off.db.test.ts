import { expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import { end, ending, jobLeases, rowOf, unseen } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { createEndpoint } from "@/server/domain/webhooks";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { DAY_MS } from "@/server/platform/time/units";
import { copyJob, inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";
import { lastAttemptOf } from "../rows";
import { keepAnswer } from "../running/keep-answer";
import { PAST_LEASE_MS, QUESTION, submittedJob } from "../running/recovery.fixture";
import { run } from "../running/run";
import { loadWork, readJob } from "../running/work";
import { settleLateAnswer } from "./after-end";
import { leased } from "./end";

const operator = (project: TestProject) => systemCtx("admin", project.clock.now);

const writeOff = (project: TestProject, more: { afterHours?: number; limitMicros?: number } = {}) =>
  jobs.writeOff(operator(project), { afterHours: 24, limitMicros: 1_000_000, ...more, ...only(project) });
const only = ({ projectId }: TestProject) => ({ projectId });

/**
 * Checks that holds, budgets and ledger agree. Wallet balances of tests are excluded: no ledger entry funds
 * them.
 */
async function expectBalanced(project: TestProject) {
  const { differences } = await checkLedger(operator(project), project.organizationId);
  expect(differences.filter(({ what }) => !what.endsWith("wallet: balance"))).toEqual([]);
}

const walletOf = async ({ organizationId }: TestProject, isTest = true) => {
  const { rows } = await pool.query(
    "SELECT balance_micros, held_micros FROM wallet WHERE organization_id = $1 AND is_test = $2",
    [organizationId, isTest],
  );
  return rows[0];
};

/** Runs a job whose call is lost, and returns its id. */
async function lose(project: TestProject, execution: Record<string, Json> = {}): Promise<string> {
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: QUESTION,
    execution: { executionConstraints: { preferredModel: "sandbox-lost" }, ...execution },
  });
  await jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous", resolution: null });
  return jobId;
}

/** Creates live holds of lost jobs, as an installation with operator accounts has them. */
async function liveHolds(project: TestProject, count: number) {
  const jobId = await lose(project);
  await copyJob(jobId, count, {
    provider: "'elsewhere'",
    billing_mode: "'managed'",
    hold_funding: "'wallet'",
  });
  const { rows } = await pool.query<{ id: string; amount_micros: number }>(
    "SELECT id, amount_micros FROM hold WHERE project_id = $1 AND NOT is_test",
    [project.projectId],
  );
  const amount = rows[0]!.amount_micros;
  await pool.query(
    "UPDATE wallet SET held_micros = held_micros + $2 WHERE organization_id = $1 AND NOT is_test",
    [project.organizationId, amount * count],
  );
  return { ids: rows.map(({ id }) => id), amount };
}

const statesOf = async (ids: string[]) => {
  const { rows } = await pool.query<{ state: string }>(
    "SELECT state FROM hold WHERE id = ANY($1) ORDER BY state",
    [ids],
  );
  return rows.map(({ state }) => state);
};

test("a managed hold is written off a day after the end unless write-offs are off: nothing is charged, and a webhook is sent", async () => {
  const project = await makeProject();
  const before = await walletOf(project);
  const { endpointId } = await createEndpoint(project.ctx, {
    projectId: project.projectId,
    url: "https://hooks.example.com/holds",
    secret: "a-secret-of-a-test-that-is-long",
    enabled: true,
    eventTypes: ["hold.written_off"],
  });
  const jobId = await lose(project);
  const receipt = await jobs.receipt(project.ctx, jobId);
  project.clock.advance(DAY_MS - 60_000);
  await writeOff(project);
  project.clock.advance(120_000);
  await writeOff(project, { afterHours: 0 });
  expect((await rowsOf(jobId)).hold.state).toBe("ambiguous");
  await Promise.all([writeOff(project), writeOff(project)]);
  const { hold, ledger } = await rowsOf(jobId);
  expect(hold).toMatchObject({ state: "released", settled_micros: null, resolution: "written_off" });
  expect(ledger).toEqual([]);
  expect(await walletOf(project)).toEqual(before);
  const job = await jobs.get(project.ctx, jobId);
  expect(job.chargeResolution).toMatchObject({ outcome: "not_charged", chargedMicros: 0 });
  expect(job.charge).toMatchObject({ state: "written_off", chargedMicros: 0 });
  expect(await jobs.receipt(project.ctx, jobId)).toEqual(receipt);
  const { rows } = await pool.query("SELECT type, body FROM delivery WHERE endpoint_id = $1", [endpointId]);
  expect(rows).toHaveLength(1);
  expect(JSON.parse(rows[0].body)).toMatchObject({
    type: "hold.written_off",
    projectId: project.projectId,
    payload: { holdId: hold.id, executionId: jobId, writtenOffMicros: hold.amount_micros, isTest: true },
  });
  await expectBalanced(project);
});

test("a hold on the customer's own account is not written off after 40 days", async () => {
  const project = await makeProject();
  const jobId = await lose(project, { billingMode: "byok" });
  project.clock.advance(40 * DAY_MS);
  await writeOff(project);
  expect((await rowsOf(jobId)).hold.state).toBe("ambiguous");
});

test("live write-offs of 30 days stop at the organization's limit, even in concurrent passes, and test holds do not count", async () => {
  const project = await makeProject();
  const { ids, amount } = await liveHolds(project, 3);
  project.clock.advance(2 * DAY_MS);
  const limitMicros = Math.floor(2.5 * amount);
  await Promise.all(Array.from({ length: 4 }, () => writeOff(project, { limitMicros })));
  expect(await statesOf(ids)).toEqual(["ambiguous", "released", "released"]);
  expect((await walletOf(project, false)).held_micros).toBe(amount);
  project.clock.advance(20 * DAY_MS);
  await writeOff(project, { limitMicros });
  expect(await statesOf(ids)).toContain("ambiguous");
  project.clock.advance(11 * DAY_MS);
  await writeOff(project, { limitMicros });
  expect(await statesOf(ids)).toEqual(["released", "released", "released"]);
});

test("text delivered before its call was lost is charged together with its input", async () => {
  const project = await makeProject();
  const { executionId } = await jobs.invoke(project.ctx, "text.general.fast.v1", {
    input: QUESTION,
    executionMode: "Stream",
    execution: { executionConstraints: { preferredModel: "sandbox-lost" } },
  });
  await expect
    .poll(async () => (await rowsOf(executionId)).hold.state, { timeout: 10_000 })
    .toBe("ambiguous");
  project.clock.advance(2 * DAY_MS);
  await writeOff(project);
  const { hold, ledger } = await rowsOf(executionId);
  expect(hold).toMatchObject({ state: "settled", resolution: "written_off" });
  expect(hold.settled_micros).toBeGreaterThan(0);
  expect(hold.settled_micros).toBeLessThan(hold.amount_micros);
  const charge = ledger.find(({ kind }) => kind === "charge");
  expect(charge?.amount_micros).toBe(-hold.settled_micros);
  expect(ledger.reduce((sum, { amount_micros }) => sum + amount_micros, 0)).toBe(0);
});

test("a provider that took the work under a handle is asked again before anything is written off", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, "video.generate.v1", {
    input: { prompt: "A capstan turns." },
  });
  const worker = systemCtx("worker", project.clock.now);
  // The worker stops at its first wait, when the provider already has the work.
  const stopped = run(worker, jobId, {
    ...inlineStep(project.clock),
    sleep: () => Promise.reject(new Error("stopped")),
  });
  await expect(stopped).rejects.toThrow("stopped");
  await jobs.cancel(project.ctx, jobId);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, only(project));
  const [attempt] = (await rowsOf(jobId)).attempts;
  expect(attempt.handle).not.toBeNull();
  expect((await rowsOf(jobId)).hold.state).toBe("ambiguous");
  project.clock.advance(DAY_MS);
  // The hold waits while the provider reports that the work is running.
  const isEnded = async () => {
    await writeOff(project);
    return (await rowsOf(jobId)).hold.state !== "ambiguous";
  };
  await expect.poll(isEnded, { timeout: 10_000 }).toBe(true);
  const { hold, ledger } = await rowsOf(jobId);
  expect(hold).toMatchObject({ state: "settled", resolution: "asked_again" });
  expect(hold.settled_micros).toBeLessThanOrEqual(hold.amount_micros);
  expect(ledger.find(({ kind }) => kind === "charge")?.amount_micros).toBe(-hold.settled_micros);
});

test("an answer that arrives after the end settles the hold at its usage and leaves the receipt unchanged", async () => {
  const project = await makeProject();
  const { jobId, started } = await submittedJob(project);
  const work = (await loadWork(jobId))?.work;
  const row = await lastAttemptOf((await readJob(jobId))!);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, only(project));
  const receipt = await jobs.receipt(project.ctx, jobId);
  const lease = jobLeases.hold(jobId, started.fence, { deadlineMs: 60_000 });
  const usage = { inputTokens: 3, outputTokens: 4 };
  const observed = {
    submission: "attempted" as const,
    providerRequestId: "sbx_late",
    providerModel: null,
    httpStatus: 200,
    tier: null,
    usage,
    costMicros: 100,
  };
  await keepAnswer(
    { ctx: project.ctx, work: work!, row: row!, lease },
    {
      state: "succeeded",
      observed,
      typedOutput: { content: "A winch.", role: "assistant" },
      files: [],
      finishReason: "stop",
    },
  );
  lease.release();
  const { hold, ledger, job } = await rowsOf(jobId);
  expect(hold).toMatchObject({ state: "settled", settled_micros: 106, resolution: "late_answer" });
  expect(job).toMatchObject({ status: "failed", error_code: "TRANSPORT_AMBIGUOUS" });
  expect(await jobs.receipt(project.ctx, jobId)).toEqual(receipt);
  expect(ledger.map(({ kind, amount_micros }) => [kind, amount_micros]).sort()).toEqual([
    ["charge", -106],
    ["fee", 6],
    ["upstream", 100],
  ]);
  expect((await jobs.get(project.ctx, jobId)).chargeResolution).toMatchObject({ outcome: "charged" });
  await expectBalanced(project);
});

test("a late answer above the hold is charged the hold, a late refusal releases the hold, and a late loss leaves the hold ambiguous", async () => {
  const project = await makeProject();
  const lateEnd = async (kind: "result" | "refused" | "lost", costMicros: number | null) => {
    const { jobId, started } = await submittedJob(project);
    const job = (await readJob(jobId))!;
    const attempt = await lastAttemptOf(job);
    await project.pass(PAST_LEASE_MS);
    await jobs.sweep(project.ctx, only(project));
    const turn = { ctx: project.ctx, work: { job, inputHash: "" }, row: attempt, lease: started };
    const late = ending(kind, { ...unseen(rowOf(kind).submission), costMicros });
    expect(await end(leased(turn), late)).toEqual({ state: "ended" });
    return (await rowsOf(jobId)).hold;
  };
  const above = await lateEnd("result", 1e9);
  expect(above).toMatchObject({ state: "settled", settled_micros: above.amount_micros });
  expect(await lateEnd("refused", null)).toMatchObject({ state: "released", resolution: "late_answer" });
  expect(await lateEnd("lost", null)).toMatchObject({ state: "ambiguous" });
});

test("a late answer on the customer's own account leaves the hold to a person", async () => {
  const project = await makeProject();
  const jobId = await lose(project, { billingMode: "byok" });
  const job = (await readJob(jobId))!;
  const answer = ending("result", { ...unseen("attempted"), costMicros: 5 });
  await settleLateAnswer(job, (await lastAttemptOf(job))!, answer, project.ctx.now());
  expect((await rowsOf(jobId)).hold.state).toBe("ambiguous");
});
