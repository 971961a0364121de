import { InngestTestEngine } from "@inngest/test";
import { serve } from "inngest/next";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createTestDatabase } from "./test/database";
import { type Handlers, startProtocolClient } from "./test/protocol-client";

/*
 * The product's own function files under the embedded engine, through the SDK's HTTP handler driven by Inngest's
 * protocol, and under @inngest/test: a job ends the same way each time. An own database, because an engine takes
 * every job of its database.
 */

const database = await createTestDatabase();
process.env.DATABASE_URL = database.url;
const { inngest } = await import("./client");
const { startEngine } = await import("./embedded");
const { functions } = await import("./functions/registry.gen");
const { default: runJob } = await import("./functions/run-job");
const { closeDatabase, pool } = await import("@/server/db");
const jobs = await import("@/server/domain/jobs");
const { makeProject, rowsOf } = await import("@/testing/world");

afterAll(async () => {
  await closeDatabase();
  await database.close();
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function admitted(model: string) {
  const project = await makeProject();
  const job = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "Through which engine?" }] },
    preferredModel: model,
  });
  const wake = { name: "job/admitted", data: { jobId: job.jobId, projectId: project.projectId } };
  return { ...project, jobId: job.jobId, wake };
}

/** What must be true of a job that succeeded, whatever ran it. */
async function expectSucceeded(jobId: string) {
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "succeeded", lease_owner: null });
  expect(rows.attempts).toMatchObject([{ submission: "attempted" }]);
  expect(rows.events.map((event) => event.type)).toEqual([
    "job.queued",
    "job.started",
    "job.provider_submitted",
    "job.succeeded",
    "job.receipt_sealed",
  ]);
  expect(rows.receipts).toHaveLength(1);
  expect(rows.hold).toMatchObject({ state: "settled" });
}

test("on the embedded engine an admitted job is run from its wake, with no other call", async () => {
  const engine = await startEngine({ functions, pool, log: quiet });
  onTestFinished(() => engine.stop());
  const { jobId } = await admitted("sandbox-1");
  await vi.waitFor(async () => expect((await rowsOf(jobId)).job.status).toBe("succeeded"), {
    timeout: 20_000,
    interval: 10,
  });
  await expectSucceeded(jobId);
});

test("on the embedded engine capacity refusals are waited out by the flow's own steps", async () => {
  const engine = await startEngine({ functions, pool, log: quiet });
  onTestFinished(() => engine.stop());
  const { jobId } = await admitted("sandbox-busy");
  await vi.waitFor(async () => expect((await rowsOf(jobId)).job.status).toBe("succeeded"), {
    timeout: 30_000,
    interval: 20,
  });
  expect((await rowsOf(jobId)).attempts).toMatchObject([{ capacity_rejections: 2, submission: "attempted" }]);
});

describe.each([{ checkpointing: false }, { checkpointing: true }])(
  "through the HTTP handler, driven by Inngest's protocol (checkpointing: $checkpointing)",
  ({ checkpointing }) => {
    const signingKey = "signkey-test-0123456789abcdef0123456789abcdef";
    let server: Awaited<ReturnType<typeof startProtocolClient>>;
    let handlers: Handlers;
    beforeAll(async () => {
      server = await startProtocolClient({ signingKey, checkpointing });
      vi.stubEnv("INNGEST_BASE_URL", server.url);
      vi.stubEnv("INNGEST_SIGNING_KEY", signingKey);
      vi.stubEnv("INNGEST_EVENT_KEY", "event-key");
      handlers = serve({ client: inngest.setEnvVars(), functions }) as unknown as Handlers; // its own request type is wider than needed
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await server.close();
    });

    test("an admitted job is run step by step to its end; a second delivery changes nothing", async () => {
      await server.register(handlers);
      const { jobId, wake } = await admitted("sandbox-2");
      const runs = await server.send(handlers, wake);
      expect(runs).toMatchObject([{ functionId: "capstan-run-job", status: "completed" }]);
      await expectSucceeded(jobId);
      await server.send(handlers, { ...wake, id: "again" });
      await expectSucceeded(jobId);
    });
  },
);

test("under @inngest/test the same function runs the same job", async () => {
  const { jobId, wake } = await admitted("sandbox-1");
  const engine = new InngestTestEngine({ function: runJob, events: [wake] });
  await engine.execute();
  await expectSucceeded(jobId);
});
