import type { GetStepTools } from "inngest";
import { Client } from "pg";
import { afterEach, expect, test, vi } from "vitest";
import type { inngest } from "./sdk";
import { durableStep } from "./server";
import { startProtocolClient } from "./test/protocol-client";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test("events go with their ids to an Inngest server if one is configured", async () => {
  const server = await startProtocolClient({ signingKey: "signkey-test-00" });
  vi.stubEnv("INNGEST_BASE_URL", server.url);
  vi.stubEnv("INNGEST_EVENT_KEY", "event-key");
  vi.resetModules();
  const { sendEvents } = await import("./client");
  await sendEvents([{ id: "job:1:1", name: "job/admitted", data: { jobId: "wfr_1", projectId: "cpr_1" } }]);
  await sendEvents([]);
  await server.close();
  expect(server.sent).toMatchObject([{ id: "job:1:1", name: "job/admitted", data: { jobId: "wfr_1" } }]);
});

test("events go to the embedded engine if no server is configured, and wake each subject once", async () => {
  const { sendEvents } = await import("./client");
  const event = { name: "mail/due", data: { mailId: "client-test" } };
  await sendEvents([event, event]);
  await sendEvents([event]);
  const database = new Client({ connectionString: process.env.DATABASE_URL });
  await database.connect();
  const { rows } = await database.query("select key from graphile_worker.jobs");
  await database.end();
  expect(rows).toEqual([{ key: "mail/due:client-test" }]);
});

test("a durable step runs and sleeps with the SDK's tools", async () => {
  const asked: unknown[] = [];
  const tools = {
    run: async (id: string, work: () => Promise<unknown>) => {
      asked.push(id);
      return work();
    },
    sleepUntil: async (id: string, at: Date) => {
      asked.push([id, Math.round((at.getTime() - Date.now()) / 1000)]);
    },
  };
  const step = durableStep({ step: tools as unknown as GetStepTools<typeof inngest>, runId: "run" }); // has the two tools that a durable step uses
  expect(await step.run("one", async () => ({ n: 1 }))).toEqual({ n: 1 });
  await step.sleep("two", 90_000);
  expect(asked).toEqual(["one", ["two", 90]]);
});
