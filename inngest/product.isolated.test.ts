/** @module-tag long */
import { InngestTestEngine } from "@inngest/test";
import { serve } from "inngest/next";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { itemsOf, plain, seenBySandbox, submitBulk } from "@/testing/bulks";
import { campaign } from "@/testing/campaign";
import { runJobKilledAt } from "@/testing/processes";
import { startReceiver } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { makeProject, rowsOf } from "@/testing/world";
import deliverWebhook from "./functions/deliver-webhook";
import { functions } from "./functions/registry.gen";
import runJob from "./functions/run-job";
import { inngest } from "./sdk";
import { served, toInngest } from "./server";
import { ENGINES } from "./test/engines";
import { type Handlers, startProtocolClient } from "./test/protocol-client";

/*
 * The product's own flows end the same way on the embedded engine, through the SDK's HTTP handler driven by Inngest's
 * protocol, and under @inngest/test. The file has its own database, because an engine takes every job of its database.
 */

setSettings({ ALLOW_PRIVATE_ADDRESSES: true }); // the webhook receivers run on this machine

async function admitted(model: string) {
  const project = await makeProject();
  const job = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "Through which engine?" }] },
    preferredModel: model,
  });
  const wake = { name: "job/admitted", data: { jobId: job.jobId, projectId: project.projectId } };
  return { ...project, jobId: job.jobId, wake };
}

/** Checks a succeeded job, whatever engine ran it. */
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

const INPUTS = ["[refuse] a", ...plain(24), "[lost] b"];

/** An accepted bulk, and the event that wakes it. */
async function accepted() {
  const project = await makeProject();
  const bulkId = await submitBulk(project, INPUTS, { concurrency: 6 });
  const wake = { name: "bulk/accepted", data: { bulkId, projectId: project.projectId } };
  return { ...project, bulkId, wake };
}

/** All rows of a bulk, for a comparison byte for byte. */
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

/** Checks the ended bulk, whatever engine ran it: each item was sent once, with its record and its end. */
async function expectBulkEnded(bulkId: string) {
  const items = await itemsOf(bulkId);
  expect(items.map(({ status, hold }) => `${status} ${hold}`)).toEqual([
    "failed released",
    ...plain(24).map(() => "succeeded settled"),
    "ambiguous ambiguous",
  ]);
  expect(items.every(({ records, attempts }) => records === 1 && attempts?.length === 1)).toBe(true);
  // The sandbox does not log refused requests.
  expect(await seenBySandbox(items)).toEqual(items.map((_, place) => (place === 0 ? 0 : 1)));
  const { rows } = await pool.query("SELECT status, lease_owner FROM pinned_bulk WHERE id = $1", [bulkId]);
  expect(rows).toEqual([{ status: "partial", lease_owner: null }]);
}

/** A job whose first event is due at its receiver, which refuses the first `refusals` requests. */
async function announced(refusals = 0) {
  const project = await makeProject();
  const receiver = await startReceiver((_, number) => (number <= refusals ? 500 : 204));
  onTestFinished(() => receiver.stop());
  await webhooks.createEndpoint(project.ctx, {
    url: receiver.url,
    secret: "a secret of this test alone",
    enabled: true,
  });
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    messages: [{ role: "user", content: "Who is told?" }],
  });
  const listed = async () => (await webhooks.deliveries(project.ctx, { limit: 200 })).items;
  return { ...project, receiver, jobId, listed };
}

/** The points at which a process dies; its run must end nonetheless. */
const DEATHS = [
  { place: "after-claim", status: "succeeded", error: null, sent: 1 },
  { place: "after-submission-begun", status: "failed", error: "TRANSPORT_AMBIGUOUS", sent: 0 },
  { place: "after-answer", status: "succeeded", error: null, sent: 1 },
  { place: "before-receipt", status: "succeeded", error: null, sent: 1 },
] as const;
const PLACED = ENGINES.map((engine, place) => ({ ...engine, deaths: campaign.inTurn(DEATHS, place) }));

describe.each(PLACED)("on $name", ({ start, isEmbedded, deaths }) => {
  test("an admitted job runs from its wake to its end, and a second delivery changes nothing", async () => {
    const engine = await start(functions);
    const { jobId, wake } = await admitted("sandbox-2");
    await engine.run(wake);
    await expectSucceeded(jobId);
    const before = await rowsOf(jobId);
    await engine.run({ ...wake, id: "again" });
    expect(await rowsOf(jobId)).toEqual(before);
  });

  test("a job that its provider refuses for capacity waits in its flow and succeeds", async () => {
    const engine = await start(functions);
    const { jobId, wake } = await admitted("sandbox-busy");
    await engine.run(wake);
    const { job, attempts } = await rowsOf(jobId);
    expect(job.status).toBe("succeeded");
    expect(attempts).toMatchObject([{ capacity_rejections: 2, submission: "attempted" }]);
  });

  test("an accepted bulk runs to its end, and a second delivery changes nothing", async () => {
    const engine = await start(functions);
    const { bulkId, wake } = await accepted();
    await engine.run(wake);
    await expectBulkEnded(bulkId);
    const before = await rowsOfBulk(bulkId);
    await engine.run({ ...wake, id: "again" });
    expect(await rowsOfBulk(bulkId)).toEqual(before);
  });

  test("two concurrent deliveries run an accepted bulk once", async () => {
    const engine = await start(functions);
    const { bulkId, wake } = await accepted();
    await Promise.all([engine.run(wake), engine.run({ ...wake, id: "at once" })]);
    await expectBulkEnded(bulkId);
  });

  test("a due delivery is sent by its wake, and a second wake sends nothing", async () => {
    const engine = await start(functions);
    const { ctx, projectId, listed, receiver } = await announced();
    await jobs.announce(ctx, { projectId });
    const [one] = await listed();
    const due = { name: "delivery/due", data: { deliveryId: one!.deliveryId, endpointId: one!.endpointId } };
    await engine.run(due);
    const before = receiver.received.length;
    expect(before).toBeGreaterThanOrEqual(1);
    await engine.run({ ...due, id: "again" });
    expect((await listed()).at(0)).toMatchObject({ state: "succeeded", attempts: 1 });
    const ids = receiver.received.map(({ body }) => String(JSON.parse(body).id));
    expect(ids.filter((id) => id === ids[0])).toHaveLength(1);
  });

  test.each(deaths)(
    "the run of a process that died $place continues when it is delivered again, and sends nothing twice",
    async (story) => {
      const { jobId, wake } = await admitted("sandbox-1");
      const runId = isEmbedded ? `job/admitted:${jobId}` : "01RUN";
      expect(await runJobKilledAt(jobId, story.place, runId)).toBe("SIGKILL");
      const [killed] = (await rowsOf(jobId)).attempts;
      if (story.place === "after-submission-begun")
        // Another process may work on the job until its lease ends.
        await pool.query("UPDATE job SET lease_until = now() - interval '1 second' WHERE id = $1", [jobId]);
      const engine = await start(functions);
      await engine.run(wake, runId);
      const { job, attempts, events, receipts } = await rowsOf(jobId);
      expect(job).toMatchObject({ status: story.status, error_code: story.error, lease_owner: null });
      expect([attempts.length, receipts.length]).toEqual([1, 1]);
      expect(events.filter(({ type }) => type === "job.started")).toHaveLength(1);
      const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${killed.id}`);
      expect(((await answer.json()) as { count: number }).count).toBe(story.sent);
    },
  );
});

test("a job that waits with the embedded engine is not sent again, and one whose event was lost is", async () => {
  const { jobId, projectId, ctx, clock } = await admitted("sandbox-1");
  const sweepAfter = async (seconds: number) => {
    clock.advance(seconds * 1000);
    await jobs.sweep(ctx, { projectId });
  };
  const key = `job/admitted:${jobId}`;
  const waiting = async () =>
    (await pool.query("SELECT FROM graphile_worker.jobs WHERE key = $1", [key])).rowCount;
  await vi.waitFor(async () => expect(await waiting()).toBe(1));
  for (const seconds of [20, 40, 80, 160]) await sweepAfter(seconds);
  expect(await waiting()).toBe(1);
  await pool.query("DELETE FROM graphile_worker._private_jobs WHERE key = $1", [key]);
  await pool.query("DELETE FROM run_slot WHERE key = $1", [key]);
  await sweepAfter(320);
  expect(await waiting()).toBe(1);
  await (await ENGINES[0]!.start(functions)).run({ name: "job/admitted", data: { jobId, projectId } });
  await expectSucceeded(jobId);
});

test("the announcer's pass delivers events in order, and a refused one is retried", async () => {
  await ENGINES[0]!.start(functions);
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
  // The events arrive one after another. The refused event does not delay the others, and comes again.
  const ids = receiver.received.map(({ body }) => String(JSON.parse(body).id));
  expect([...new Set(ids)]).toEqual(events.map(({ id }) => String(id)));
  expect(ids.filter((id) => id === "1")).toHaveLength(2);
});

describe("an Inngest server", () => {
  async function serving() {
    const signingKey = "signkey-test-0123456789abcdef0123456789abcdef";
    const server = await startProtocolClient({ signingKey });
    vi.stubEnv("INNGEST_BASE_URL", server.url);
    vi.stubEnv("INNGEST_SIGNING_KEY", signingKey);
    vi.stubEnv("INNGEST_EVENT_KEY", "event-key");
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await server.close();
    });
    const handlers = serve({ client: inngest.setEnvVars(), functions: served }) as unknown as Handlers; // the handlers' own request type is wider
    return { server, handlers };
  }

  test("an Inngest server gets every flow with its event, retries and limit, and one cron for the periodic tasks", async () => {
    const { server, handlers } = await serving();
    const registered = await server.register(handlers);
    expect(server.registrations.at(-1)?.authorization).toBe(server.authorization);
    const facts = registered.map(({ id, triggers, concurrency, steps }) => [
      id,
      triggers,
      concurrency,
      steps.step.retries?.attempts,
    ]);
    expect(facts.toSorted()).toEqual([
      [
        "capstan-deliver-webhook",
        [{ event: "delivery/due" }],
        { key: "event.data.endpointId", limit: 16 },
        10,
      ],
      ["capstan-periodic-tasks", [{ cron: "* * * * *" }], 1, 0],
      ["capstan-refund-payment", [{ event: "refund/due" }], 8, 10],
      ["capstan-run-bulk", [{ event: "bulk/accepted" }], { key: "event.data.projectId", limit: 4 }, 10],
      ["capstan-run-job", [{ event: "job/admitted" }], { key: "event.data.projectId", limit: 30 }, 10],
      ["capstan-send-mail", [{ event: "mail/due" }], 4, 10],
    ]);
  });

  test("an Inngest server can introspect and call only with its signature", async () => {
    const { server, handlers } = await serving();
    const signed = await server.call(handlers, "GET");
    expect(signed).toMatchObject({
      status: 200,
      body: { function_count: 6, authentication_succeeded: true },
    });
    expect((await server.call(handlers, "GET", { signed: false })).status).toBe(401);
    const { jobId, wake } = await admitted("sandbox-1");
    const request = {
      query: { fnId: "capstan-run-job", stepId: "step" },
      body: { event: wake, events: [], steps: {} },
    };
    expect((await server.call(handlers, "POST", { ...request, signed: false })).status).toBe(401);
    vi.stubEnv("INNGEST_SIGNING_KEY", "signkey-test-ffffffffffffffffffffffffffffffff");
    expect((await server.call(handlers, "POST", request)).status).toBe(401);
    expect((await rowsOf(jobId)).job.status).toBe("queued");
  });

  test("an Inngest server runs the due periodic tasks by its cron", async () => {
    const { server, handlers } = await serving();
    await server.register(handlers);
    await pool.query("DELETE FROM periodic_task");
    await server.run(handlers, "capstan-periodic-tasks", { name: "inngest/scheduled.timer", data: {} });
    const { rows } = await pool.query("SELECT outcome, count(*)::int FROM periodic_task GROUP BY 1");
    expect(rows).toEqual([{ outcome: "succeeded", count: 14 }]);
  });
});

test("an admitted job succeeds under @inngest/test, too", async () => {
  const { jobId, wake } = await admitted("sandbox-1");
  const engine = new InngestTestEngine({ function: toInngest(runJob), events: [wake] });
  await engine.execute();
  await expectSucceeded(jobId);
});

test("a due delivery succeeds under @inngest/test, too", async () => {
  const { ctx, projectId, listed, receiver } = await announced();
  await jobs.announce(ctx, { projectId });
  const [one] = await listed();
  const due = {
    name: "delivery/due",
    data: { deliveryId: one!.deliveryId, endpointId: one!.endpointId },
  };
  await new InngestTestEngine({ function: toInngest(deliverWebhook), events: [due] }).execute();
  expect(receiver.received).toHaveLength(1);
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1, lastStatus: 204 }]);
});
