/** @module-tag long */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { PERIODIC_TASKS, startPeriodicTasks } from "@/server/worker/periodic-tasks";
import { makeTenant, type Tenant } from "@/testing/api";
import { startWebProcess, type WebProcess } from "@/testing/processes";

/* Web processes with wrong clocks, and a database that stands still, beside a worker that sweeps as always. */

const SWEEPS = PERIODIC_TASKS.filter(({ name }) => name.startsWith("sweep-"));

let tenant: Tenant;
let worker: { stop(): Promise<void> };
beforeAll(async () => {
  tenant = await makeTenant();
  worker = await startPeriodicTasks(SWEEPS);
});
afterAll(() => worker.stop());

async function post(web: WebProcess, path: string, body: object): Promise<[status: number, answer: Answer]> {
  const response = await fetch(`${web.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tenant.key}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    },
    body: JSON.stringify(body),
  });
  return [response.status, (await response.json()) as Answer]; // every answer of the API is an object
}
type Answer = { status?: string; executionId?: string; details?: { executionId: string } };

const invoke = (web: WebProcess, script: string) =>
  post(web, "/v1/capabilities/text.general.fast.v1/invoke", {
    input: { messages: [{ role: "user", content: `${script} ${randomUUID()}` }] },
    preferredModel: "sandbox-mixed",
  });
const pin = (web: WebProcess, script: string) =>
  post(web, "/v1/inference/pinned", {
    pin: { provider: "sandbox", model: "sandbox-mixed", api: "responses" },
    input: `${script} ${randomUUID()}`,
  });

test("calls of web processes whose clocks are two minutes off, either way, are answered", async () => {
  const webs = await Promise.all([-120_000, 120_000].map((skewMs) => startWebProcess({ skewMs })));
  const asked = webs.flatMap((web) => [invoke(web, "[slow 5000]"), pin(web, "[slow 5000]")]);
  const answers = await Promise.all(asked);
  expect(answers.map(([status, answer]) => [status, answer.status])).toEqual(
    Array.from({ length: 4 }, () => [200, "succeeded"]),
  );
  await Promise.all(webs.map((web) => web.kill()));
});

/** Blocks the table of jobs for this long. */
async function standStill(ms: number): Promise<void> {
  const client = await pool.connect();
  await client.query("BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE");
  await sleep(ms);
  await client.query("COMMIT");
  client.release();
}

test("while the jobs table is locked for 25 s, each of 60 calls is answered with 200 or 503, and a call that was never sent is not charged", async () => {
  const web = await startWebProcess();
  const under = Array.from({ length: 20 }, () => invoke(web, "[slow 3000]"));
  const begun = async () =>
    (await pool.query("SELECT FROM job WHERE project_id = $1 AND status = 'running'", [tenant.projectId]))
      .rowCount;
  await expect.poll(begun, { timeout: 20_000 }).toBe(20);
  const still = standStill(25_000);
  await sleep(500);
  const waiting = Array.from({ length: 40 }, () => invoke(web, "[slow 10]"));
  await still;
  const answers = await Promise.all([...under, ...waiting]);
  const statuses = answers.map(([status]) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  // Calls that were with a provider when everything stood still are answered: their owner renews its lease before anyone takes
  // them over.
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 200));
  const { rows } = await pool.query<{ attempt_id: string; state: string; status: string }>(
    "SELECT attempt.id AS attempt_id, hold_state AS state, job.status FROM job JOIN attempt ON job_id = job.id WHERE job.project_id = $1",
    [tenant.projectId],
  );
  for (const { attempt_id, state, status } of rows) {
    const log = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${attempt_id}`);
    const { count } = (await log.json()) as { count: number }; // as the sandbox answers
    expect([status, state]).toEqual(count === 1 ? ["succeeded", "settled"] : ["failed", "released"]);
  }
  await web.kill();
}, 180_000);
