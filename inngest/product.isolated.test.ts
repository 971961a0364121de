import { InngestTestEngine } from "@inngest/test";
import { serve } from "inngest/next";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { pool } from "@/server/db";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import { itemsOf, plain, seenBySandbox, submitBulk } from "@/testing/bulks";
import { startReceiver } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { makeProject, rowsOf } from "@/testing/world";
import { inngest, sendEvents } from "./client";
import { startEngine } from "./embedded";
import { default as deliverWebhook } from "./functions/deliver-webhook";
import { functions } from "./functions/registry.gen";
import { default as runJob } from "./functions/run-job";
import { type Handlers, startProtocolClient } from "./test/protocol-client";

/*
 * The product's own function files under the embedded engine, through the SDK's HTTP handler driven by Inngest's
 * protocol, and under @inngest/test: a job ends the same way each time. A database of its own, because an engine
 * takes every job of its database.
 */

setSettings({ ALLOW_PRIVATE_ADDRESSES: true }); // receivers of webhooks are on this machine

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

test("a job that waits with the embedded engine is not sent again, and one whose event was lost is", async () => {
  const { jobId, projectId, ctx, clock } = await admitted("sandbox-1");
  const sweepAfter = async (seconds: number) => {
    clock.advance(seconds * 1000);
    await jobs.sweep(ctx, { projectId });
  };
  const waiting = async () =>
    (
      await pool.query(
        "SELECT payload->'event'->>'id' AS id FROM graphile_worker._private_jobs WHERE payload->'event'->'data'->>'jobId' = $1",
        [jobId],
      )
    ).rows.map(({ id }) => id);
  await vi.waitFor(async () => expect(await waiting()).toEqual([`job:${jobId}:1`]));
  for (const seconds of [20, 40, 80, 160]) await sweepAfter(seconds);
  expect(await waiting()).toEqual([`job:${jobId}:1`]);
  await pool.query(
    "DELETE FROM graphile_worker._private_jobs WHERE payload->'event'->'data'->>'jobId' = $1",
    [jobId],
  );
  await sweepAfter(320);
  expect(await waiting()).toEqual([`job:${jobId}:6`]);

  const engine = await startEngine({ functions, pool, log: quiet });
  onTestFinished(() => engine.stop());
  await vi.waitFor(async () => expect((await rowsOf(jobId)).job.status).toBe("succeeded"), {
    timeout: 20_000,
    interval: 10,
  });
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

const INPUTS = ["[refuse] a", ...plain(24), "[lost] b"];

/** A bulk that was accepted, and the event that tells of it. */
async function accepted() {
  const project = await makeProject();
  const bulkId = await submitBulk(project, INPUTS, { concurrency: 6 });
  const wake = { name: "bulk/accepted", data: { bulkId, projectId: project.projectId } };
  return { ...project, bulkId, wake };
}

/** All that belongs to a bulk, byte for byte. */
async function rowsOfBulk(bulkId: string) {
  const of = (table: string) =>
    pool.query(
      `SELECT row_to_json(x) AS row FROM ${table} x
       WHERE x.pinned_id IN (SELECT id FROM pinned_execution WHERE bulk_id = $1) ORDER BY x.id`,
      [bulkId],
    );
  const own = (table: string, column: string) =>
    pool.query(`SELECT row_to_json(x) AS row FROM ${table} x WHERE ${column} = $1 ORDER BY id`, [bulkId]);
  const found = await Promise.all([
    own("pinned_bulk", "id"),
    own("pinned_execution", "bulk_id"),
    of("pinned_attempt"),
    of("pinned_record"),
    of("payload"),
  ]);
  return found.map(({ rows }) => rows);
}

/** What must be true of that bulk when it has ended, whatever ran it: each item sent once, with its record and its end. */
async function expectBulkEnded(bulkId: string) {
  const items = await itemsOf(bulkId);
  expect(items.map(({ status, hold }) => `${status} ${hold}`)).toEqual([
    "failed released",
    ...plain(24).map(() => "succeeded settled"),
    "ambiguous ambiguous",
  ]);
  expect(items.every(({ records, attempts }) => records === 1 && attempts?.length === 1)).toBe(true);
  // The sandbox does not log what it refuses.
  expect(await seenBySandbox(items)).toEqual(items.map((_, place) => (place === 0 ? 0 : 1)));
  const { rows } = await pool.query("SELECT status, lease_owner FROM pinned_bulk WHERE id = $1", [bulkId]);
  expect(rows).toEqual([{ status: "partial", lease_owner: null }]);
}

test("on the embedded engine an accepted bulk is run from its wake to its end; a second wake changes nothing", async () => {
  const engine = await startEngine({ functions, pool, log: quiet });
  onTestFinished(() => engine.stop());
  const { bulkId, wake } = await accepted();
  const completed = (runs: number) =>
    vi.waitFor(
      async () => {
        const { rows } = await pool.query(
          "SELECT status FROM engine_run WHERE function_id = $1 AND event->'data'->>'bulkId' = $2",
          ["capstan-run-bulk", bulkId],
        );
        expect(rows).toEqual(Array(runs).fill({ status: "completed" }));
      },
      { timeout: 60_000, interval: 20 },
    );
  await completed(1);
  await expectBulkEnded(bulkId);
  const before = await rowsOfBulk(bulkId);
  await sendEvents([{ ...wake, id: "again" }]);
  await completed(2);
  expect(await rowsOfBulk(bulkId)).toEqual(before);
});

/** A job whose first event waits for its receiver, which refuses it so many times. */
async function announced(refusals = 0) {
  const project = await makeProject();
  const receiver = await startReceiver((_, number) => (number <= refusals ? 500 : 204));
  onTestFinished(() => receiver.stop());
  await webhooks.createEndpoint(project.ctx, { url: receiver.url, secret: "s3cret", enabled: true });
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    messages: [{ role: "user", content: "Who is told?" }],
  });
  const listed = async () => (await webhooks.deliveries(project.ctx, { limit: 200 })).items;
  return { ...project, receiver, jobId, listed };
}

test("on the embedded engine events are delivered by the announcer's pass alone, and a refusal is tried again", async () => {
  const engine = await startEngine({ functions, pool, log: quiet });
  onTestFinished(() => engine.stop());
  const { ctx, projectId, jobId, listed, receiver } = await announced(1);
  await vi.waitFor(async () => expect((await rowsOf(jobId)).job.status).toBe("succeeded"), {
    timeout: 20_000,
    interval: 10,
  });
  await jobs.announce(ctx, { projectId });
  const { events } = await rowsOf(jobId);
  await vi.waitFor(
    async () => expect((await listed()).map(({ state }) => state)).toEqual(events.map(() => "succeeded")),
    { timeout: 30_000, interval: 20 },
  );
  expect(receiver.received).toHaveLength(events.length + 1);
  // One after another; the one that was refused holds up none of the others, and comes again.
  const ids = receiver.received.map(({ body }) => String(JSON.parse(body).id));
  expect([...new Set(ids)]).toEqual(events.map(({ id }) => String(id)));
  expect(ids.filter((id) => id === "1")).toHaveLength(2);
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

    test("an accepted bulk is run step by step to its end; a second delivery changes nothing", async () => {
      await server.register(handlers);
      const { bulkId, wake } = await accepted();
      const runs = await server.send(handlers, wake);
      expect(runs).toMatchObject([{ functionId: "capstan-run-bulk", status: "completed" }]);
      await expectBulkEnded(bulkId);
      const before = await rowsOfBulk(bulkId);
      const again = await server.send(handlers, { ...wake, id: "again" });
      expect(again).toMatchObject([{ functionId: "capstan-run-bulk", status: "completed" }]);
      expect(await rowsOfBulk(bulkId)).toEqual(before);
    });

    test("two deliveries at once run an accepted bulk once", async () => {
      await server.register(handlers);
      const { bulkId, wake } = await accepted();
      await Promise.all([server.send(handlers, wake), server.send(handlers, { ...wake, id: "at once" })]);
      await expectBulkEnded(bulkId);
    });

    test("a delivery is tried step by step until it arrives; a second wake sends nothing", async () => {
      await server.register(handlers);
      const { ctx, projectId, listed, receiver } = await announced();
      await jobs.announce(ctx, { projectId });
      const [one] = await listed();
      const due = {
        name: "delivery/due",
        data: { deliveryId: one!.deliveryId, endpointId: one!.endpointId },
      };
      const runs = await server.send(handlers, due);
      expect(runs).toMatchObject([{ functionId: "capstan-deliver-webhook", status: "completed" }]);
      await server.send(handlers, { ...due, id: "again" });
      expect(receiver.received).toHaveLength(1);
      expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1 }]);
    });
  },
);

test("under @inngest/test the same function runs the same job", async () => {
  const { jobId, wake } = await admitted("sandbox-1");
  const engine = new InngestTestEngine({ function: runJob, events: [wake] });
  await engine.execute();
  await expectSucceeded(jobId);
});

test("under @inngest/test the same function makes the same delivery", async () => {
  const { ctx, projectId, listed, receiver } = await announced();
  await jobs.announce(ctx, { projectId });
  const [one] = await listed();
  const due = {
    name: "delivery/due",
    data: { deliveryId: one!.deliveryId, endpointId: one!.endpointId },
  };
  await new InngestTestEngine({ function: deliverWebhook, events: [due] }).execute();
  expect(receiver.received).toHaveLength(1);
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1, lastStatus: 204 }]);
});
