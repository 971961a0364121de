/** @module-tag long */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { makeTenant, type Tenant } from "@/testing/api";
import { projectLeasesPass } from "@/testing/leases";
import { startWebProcess, type WebProcess } from "@/testing/processes";

/* Web processes that die in the middle of a call, and clients that retry on another process. */

const CHAT = "/v1/chat/completions";

let web: WebProcess;
let tenant: Tenant;
beforeAll(async () => {
  [web, tenant] = await Promise.all([startWebProcess(), makeTenant()]);
});
afterAll(() => web.kill());

const question = (script: string) => ({
  model: "text.general.fast.v1@sandbox/sandbox-mixed",
  messages: [{ role: "user", content: `${script} ${randomUUID()}?` }],
});
/** Sends as the AI SDK does: no idempotency key and no retry count. */
const post = (url: string, body: object) =>
  fetch(`${url}${CHAT}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const executions = async () =>
  (
    await pool.query<{ id: string }>("SELECT id FROM job WHERE project_id = $1 ORDER BY id", [
      tenant.projectId,
    ])
  ).rows;

test("a call whose web process is killed runs once, however often it is repeated", async () => {
  const doomed = await startWebProcess();
  const body = question("[slow 60000]");
  const first = post(doomed.url, body).catch(() => "cut");
  await expect.poll(executions).toHaveLength(1);
  const [killed] = await executions();
  await doomed.kill();
  expect(await first).toBe("cut");
  // Sent at once, long before the call's lease of 15 s ends.
  const again = post(web.url, body);
  await expect
    .poll(
      async () => (await pool.query("SELECT waiter FROM job WHERE id = $1", [killed?.id])).rows[0]?.waiter,
    )
    .not.toBe(killed?.id);
  await projectLeasesPass(tenant.projectId, 60_000);
  await jobs.sweep(systemCtx("sweeper"), { projectId: tenant.projectId });
  const answers = [await again, await post(web.url, body), await post(web.url, body)];
  for (const answer of answers) {
    expect([
      answer.status,
      answer.headers.get("x-idempotent-replay"),
      answer.headers.get("x-should-retry"),
    ]).toEqual([502, "true", "false"]);
    expect((await answer.json()).error).toMatchObject({
      code: "TRANSPORT_AMBIGUOUS",
      details: { executionId: killed?.id },
    });
  }
  expect(await executions()).toHaveLength(1);
});

test("two live web processes do not join equal calls", async () => {
  const other = await startWebProcess();
  const before = (await executions()).length;
  const body = question("[slow 500]");
  const answers = await Promise.all([post(web.url, body), post(other.url, body)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map(({ headers }) => headers.get("x-idempotent-replay"))).toEqual([null, null]);
  expect(await executions()).toHaveLength(before + 2);
  await other.kill();
});
