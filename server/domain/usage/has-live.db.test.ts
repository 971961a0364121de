import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { makeTenant } from "@/testing/tenants";
import { copyJob, makeProject } from "@/testing/world";
import * as usage from ".";

test("a project has live executions once one ran outside the sandbox", async () => {
  const project = await makeProject();
  const hasLive = () => usage.hasLive(project.ctx, project.projectId);
  expect(await hasLive()).toBe(false);
  const input = { messages: [{ role: "user" as const, content: "Hello" }] };
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", { input });
  expect(await hasLive()).toBe(false);
  const local = { provider: "''", estimated_micros: "0", dispatch_state: "'none'" };
  await copyJob(jobId, 1, {
    ...local,
    id: "left(id, -6) || 'zzzzz1'",
    idempotency_key: "idempotency_key || 'local'",
  });
  expect(await hasLive()).toBe(false);
  await copyJob(jobId, 1, { provider: "'openai'", dispatch_state: "'none'" });
  expect(await hasLive()).toBe(true);
});

test("another organization's project is refused", async () => {
  const [project, foreign] = await Promise.all([makeProject(), makeTenant()]);
  await expect(usage.hasLive(project.ctx, foreign.projectId)).rejects.toMatchObject({
    code: "AuthorizationFailed",
  });
});
