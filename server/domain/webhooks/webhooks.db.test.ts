import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import { pool } from "@/server/platform/db";
import { HOUR_MS } from "@/server/platform/time/units";
import { type Reaction, type Received, startReceiver } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";

// Receivers of these tests are on this machine.
setSettings({ ALLOW_PRIVATE_ADDRESSES: true });

const SECRET = `whsec_${randomBytes(24).toString("base64")}`;
const QUESTION = { messages: [{ role: "user", content: "What is a webhook?" }] };

let project: TestProject;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeEach(async () => {
  [project, receiver] = await Promise.all([makeProject(), startReceiver()]);
});
afterEach(() => receiver.stop());

type Wanted = { url?: string; secret?: string; eventTypes?: string[]; enabled?: boolean };
function endpoint({ url = receiver.url, secret = SECRET, enabled = true, ...more }: Wanted = {}) {
  return webhooks.createEndpoint(project.ctx, { url, secret, enabled, ...more } as Parameters<
    typeof webhooks.createEndpoint
  >[1]); // event types of a test are given as plain strings
}

async function submitted(ctx: Ctx = project.ctx): Promise<string> {
  return (await jobs.submit(ctx, "text.general.fast.v1", QUESTION)).jobId;
}

async function ended(): Promise<string> {
  const jobId = await submitted();
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  return jobId;
}

const announce = () => jobs.announce(project.ctx, project);

async function listed(query: { endpointId?: string; jobId?: string } = {}) {
  return (await webhooks.deliveries(project.ctx, { limit: 200, ...query })).items.toReversed();
}

/** Does what the engine does: runs the flow of every delivery that was handed to it. */
async function deliverAll(): Promise<void> {
  await announce();
  for (const { deliveryId, state } of await listed()) {
    if (state === "pending") await webhooks.deliver(project.ctx, deliveryId, inlineStep(project.clock));
  }
}

const events = async (jobId: string) => (await jobs.events(project.ctx, jobId, { limit: 200 })).events;
const bodiesOf = (received: Received[]) => received.map(({ body }) => JSON.parse(body));

test("text of a job whose content is encrypted lies encrypted here too, and arrives as the pages have it", async () => {
  await endpoint({ eventTypes: ["job.reader_text"] });
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: QUESTION,
    readerDelivery: { boundary: "paragraph" },
    context: { dataClassification: "Manuscript" },
  });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  await deliverAll();
  const texts = (await events(jobId)).filter(({ type }) => type === "job.reader_text");
  expect(texts.length).toBeGreaterThan(0);
  expect(bodiesOf(receiver.received)).toEqual(texts);
  const { rows } = await pool.query("SELECT body FROM delivery WHERE job_id = $1", [jobId]);
  expect(JSON.stringify(rows)).not.toContain(String(texts[0]!.payload.text).slice(0, 12));
  const [first] = await listed({ jobId });
  expect(JSON.parse((await webhooks.delivery(project.ctx, first!.deliveryId)).body ?? "")).toEqual(texts[0]);
});

test("a hundred endpoints of an organization are enabled at most, however many are made or enabled at once", async () => {
  const first = await endpoint();
  await pool.query(
    `INSERT INTO delivery_endpoint (id, organization_id, project_id, url, secret, event_types, enabled, created_at, updated_at)
     SELECT id || n, organization_id, project_id, url, secret, event_types, true, created_at, updated_at
     FROM delivery_endpoint, generate_series(1, 96) n WHERE id = $1`,
    [first.endpointId],
  );
  const off = [await endpoint({ enabled: false }), await endpoint({ enabled: false })];
  const made = await Promise.allSettled([
    ...Array.from({ length: 6 }, () => endpoint()),
    ...off.map(({ endpointId }) => webhooks.updateEndpoint(project.ctx, endpointId, { enabled: true })),
  ]);
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  for (const each of made)
    if (each.status === "rejected") expect(each.reason).toMatchObject({ issues: [{ type: "too_many" }] });
  const { items } = await webhooks.listEndpoints(project.ctx, {});
  expect(items.filter(({ enabled }) => enabled)).toHaveLength(100);
  // One that is enabled already takes no further place.
  await webhooks.updateEndpoint(project.ctx, first.endpointId, { enabled: true });
});

test("every event of a job arrives in order, with the very body of the JSON pages", async () => {
  await endpoint();
  const jobId = await ended();
  await deliverAll();
  expect(bodiesOf(receiver.received)).toEqual(await events(jobId));
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(
    (await rowsOf(jobId)).events.map(({ id }) => `evt_${jobId.slice(4)}_${id}`),
  );
  expect(await listed()).toMatchObject(
    (await events(jobId)).map(({ type }) => ({
      type,
      jobId,
      state: "succeeded",
      attempts: 1,
      lastStatus: 204,
      lastError: null,
    })),
  );
});

test.each([
  ["a Standard Webhooks secret", SECRET, new Webhook(SECRET)],
  ["a text of one's own", "my own words", new Webhook("my own words", { format: "raw" })],
  [
    "a text of one's own beyond ASCII",
    "schlüssel-ключ-鍵",
    new Webhook(new Uint8Array(Buffer.from("schlüssel-ключ-鍵")), { format: "raw" }),
  ],
])("with %s the signature is good to the package of Standard Webhooks", async (_name, secret, verifier) => {
  await endpoint({ secret });
  await submitted();
  await deliverAll();
  expect(receiver.received).toHaveLength(1);
  for (const { body, headers } of receiver.received) {
    expect(verifier.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => verifier.verify(`${body} `, headers)).toThrow("No matching signature");
    expect(headers["content-type"]).toBe("application/json");
  }
});

test("a new secret signs from the next try on", async () => {
  const { endpointId } = await endpoint();
  await submitted();
  const next = `whsec_${randomBytes(32).toString("base64")}`;
  await webhooks.updateEndpoint(project.ctx, endpointId, { secret: next });
  await deliverAll();
  const [one] = receiver.received;
  expect(new Webhook(next).verify(one!.body, one!.headers)).toBeTruthy();
  expect(() => new Webhook(SECRET).verify(one!.body, one!.headers)).toThrow();
});

test("the secret is in no answer and, in plain, in no row", async () => {
  const made = await endpoint();
  const seen = [made, await webhooks.listEndpoints(project.ctx, {}), await listed()];
  const { rows } = await pool.query("SELECT * FROM delivery_endpoint WHERE id = $1", [made.endpointId]);
  for (const each of [...seen, rows]) expect(JSON.stringify(each)).not.toContain(SECRET.slice(6, 18));
});

test("an endpoint gets the types it asked for, and another project's events never", async () => {
  const other = await makeProject();
  await endpoint({ eventTypes: ["job.succeeded", "job.failed"] });
  await jobs.submit(other.ctx, "text.general.fast.v1", QUESTION);
  await ended();
  await jobs.announce(other.ctx, other);
  await deliverAll();
  expect(bodiesOf(receiver.received).map(({ type }) => type)).toEqual(["job.succeeded"]);
});

test("the first endpoint of an organization gets the later events of jobs that are under way, and no earlier ones", async () => {
  const jobId = await submitted();
  const over = await ended();
  await announce();
  await endpoint();
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  await deliverAll();
  expect(bodiesOf(receiver.received).map(({ id, type }) => [id, type])).toEqual(
    (await rowsOf(jobId)).events.slice(1).map(({ id, type }) => [String(id), type]),
  );
  expect(await listed({ jobId: over })).toEqual([]);
});

test("a job admitted at the same moment as the first endpoint is followed from its first event", async () => {
  await endpoint();
  const jobId = await submitted();
  // As an admission leaves it that did not yet see the endpoint.
  await pool.query("UPDATE job SET webhook_event = NULL WHERE id = $1", [jobId]);
  await deliverAll();
  expect(bodiesOf(receiver.received).map(({ type }) => type)).toEqual(["job.queued"]);
});

test("passes side by side write every event once", async () => {
  await endpoint();
  const jobId = await ended();
  await Promise.all(Array.from({ length: 8 }, announce));
  const made = await listed();
  expect(made.map(({ eventId }) => eventId).toSorted()).toEqual(
    (await events(jobId)).map(({ id }) => `evt_${jobId.slice(4)}_${id}`).toSorted(),
  );
});

test("an organization without an endpoint costs nothing: its jobs are not followed", async () => {
  const jobId = await ended();
  await announce();
  expect((await rowsOf(jobId)).job.webhook_event).toBeNull();
});

test("a failing receiver is tried again after 5 s, 30 s, 2 min, 15 min, 1 h, 6 h and 24 h, give or take a tenth", async () => {
  receiver.reactWith(() => 500);
  const { endpointId } = await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  const startedAt: number[] = [];
  receiver.reactWith(() => {
    startedAt.push(project.clock.now().getTime());
    return 500;
  });
  const waits: number[] = [];
  const step = inlineStep(project.clock);
  await webhooks.deliver(project.ctx, one!.deliveryId, {
    ...step,
    sleep: (id, ms) => {
      waits.push(ms);
      return step.sleep(id, ms);
    },
  });
  expect(waits).toHaveLength(webhooks.WAITS_MS.length);
  for (const [place, wait] of waits.entries()) {
    expect(wait / webhooks.WAITS_MS[place]!).toBeGreaterThanOrEqual(0.9);
    expect(wait / webhooks.WAITS_MS[place]!).toBeLessThanOrEqual(1.1);
  }
  expect(receiver.received).toHaveLength(8);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  // Each try is signed for its own time, so that a receiver may refuse old ones.
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(8);
  const detail = await webhooks.delivery(project.ctx, one!.deliveryId);
  expect(detail).toMatchObject({
    state: "failed",
    attempts: 8,
    lastStatus: 500,
    lastError: "The receiver answered HTTP 500.",
    nextAttemptAt: null,
    completedAt: expect.any(String),
  });
  expect(detail.tries.map(({ number }) => number)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  // Nothing else arrived in all that time.
  expect((await webhooks.listEndpoints(project.ctx, {})).items).toMatchObject([
    { endpointId, enabled: false, disabledReason: expect.stringContaining("failed 8 times") },
  ]);
});

test("one delivery that fails for good does not disable an endpoint that took others meanwhile", async () => {
  await endpoint();
  const jobId = await submitted();
  await announce();
  receiver.reactWith(({ body }) => (JSON.parse(body).type === "job.queued" ? 500 : 200));
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  await announce();
  for (const { deliveryId } of (await listed()).toReversed())
    await webhooks.deliver(project.ctx, deliveryId, inlineStep(project.clock));
  expect((await listed())[0]).toMatchObject({ type: "job.queued", state: "failed" });
  expect((await webhooks.listEndpoints(project.ctx, {})).items).toMatchObject([{ enabled: true }]);
});

test.each<[string, Reaction, string]>([
  ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "redirect"],
  ["a refusal", 404, "HTTP 404"],
  ["a hang-up", "close", "lost before the receiver responded"],
])("%s is a failure, and the next try may succeed", async (_name, reaction, words) => {
  await endpoint();
  await submitted();
  const errors: (string | null)[] = [];
  receiver.reactWith((_, number) => (number < 3 ? reaction : 200));
  await announce();
  const [one] = await listed();
  await webhooks.deliver(project.ctx, one!.deliveryId, inlineStep(project.clock));
  const detail = await webhooks.delivery(project.ctx, one!.deliveryId);
  for (const made of detail.tries) errors.push(made.error);
  expect(detail).toMatchObject({ state: "succeeded", attempts: 3, lastStatus: 200, lastError: null });
  expect(errors).toEqual([null, expect.stringContaining(words), expect.stringContaining(words)]);
});

test("410 disables the endpoint at once; what waited is disabled, and later events make no delivery", async () => {
  receiver.reactWith(() => 410);
  const { endpointId } = await endpoint();
  await submitted();
  const jobId = await submitted();
  await deliverAll();
  expect(receiver.received).toHaveLength(1);
  expect(await listed()).toMatchObject([
    { type: "job.queued", state: "failed", lastStatus: 410 },
    { type: "job.queued", state: "disabled", attempts: 0, nextAttemptAt: null },
  ]);
  expect((await webhooks.listEndpoints(project.ctx, {})).items).toMatchObject([
    { endpointId, enabled: false, disabledReason: expect.stringContaining("410") },
  ]);
  await jobs.cancel(project.ctx, jobId);
  await deliverAll();
  expect(await listed()).toHaveLength(2);
  expect(receiver.received).toHaveLength(1);
});

test("a disabled endpoint gets nothing, not even what was handed to the engine before; enabled again, it gets what comes", async () => {
  const { endpointId } = await endpoint();
  const jobId = await submitted();
  await announce();
  const [waiting] = await listed();
  await webhooks.disableEndpoint(project.ctx, endpointId);
  await webhooks.deliver(project.ctx, waiting!.deliveryId, inlineStep(project.clock));
  // Written by a pass that began before the endpoint was disabled.
  await pool.query("UPDATE delivery SET state = 'pending', next_attempt_at = created_at WHERE id = $1", [
    waiting!.deliveryId,
  ]);
  await webhooks.deliver(project.ctx, waiting!.deliveryId, inlineStep(project.clock));
  expect(receiver.received).toEqual([]);
  expect(await listed()).toMatchObject([{ state: "disabled" }]);
  await expect(webhooks.replay(project.ctx, waiting!.deliveryId)).rejects.toMatchObject({
    code: "EndpointDisabled",
  });

  const enabled = await webhooks.updateEndpoint(project.ctx, endpointId, { enabled: true });
  expect(enabled).toMatchObject({ enabled: true, disabledReason: null });
  await jobs.cancel(project.ctx, jobId);
  await deliverAll();
  expect(bodiesOf(receiver.received).map(({ type }) => type)).toContain("job.canceled");
  expect(bodiesOf(receiver.received).map(({ type }) => type)).not.toContain("job.queued");
});

test("a sender that dies between sending and writing sends again, under the same id", async () => {
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  // The first sender: its request arrives, and it never stores the outcome.
  receiver.reactWith(() => "silent");
  const lost = webhooks.attempt(project.ctx, one!.deliveryId);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { interval: 5 });
  receiver.reactWith(() => 200);
  // While its lease runs, no one else sends.
  expect(await webhooks.attempt(project.ctx, one!.deliveryId)).toEqual({ state: "ended" });
  await announce();
  expect(receiver.received).toHaveLength(1);
  project.clock.advance(61_000);
  await announce();
  await webhooks.deliver(project.ctx, one!.deliveryId, inlineStep(project.clock));
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([one!.eventId, one!.eventId]);
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1 }]);
  // The first one turns out to be alive after all: what it has to say changes nothing any more.
  await receiver.stop();
  expect(await lost).toEqual({ state: "ended" });
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1, lastStatus: 200 }]);
});

test("a run that was lost while it waited is handed to the engine again by the sweeper", async () => {
  receiver.reactWith(() => 503);
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  expect(await webhooks.attempt(project.ctx, one!.deliveryId)).toMatchObject({ state: "again" });
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(0);
  project.clock.advance(HOUR_MS);
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(1);
  // Handed over: not again at once.
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(0);
});

test("of one job's events the engine gets one after the other; a failed first try hands on the next", async () => {
  receiver.reactWith(({ body }) => (JSON.parse(body).id === "1" ? 500 : 200));
  await endpoint();
  const jobId = await ended();
  await announce();
  const handedOver = async () => {
    const { rows } = await pool.query<{ event_id: string }>(
      "SELECT event_id FROM delivery WHERE job_id = $1 AND state = 'pending' AND lease_until > $2 AND next_attempt_at <= $2",
      [jobId, project.ctx.now()],
    );
    return rows.map(({ event_id }) => Number(event_id.split("_")[2]));
  };
  const made = await listed();
  for (const [place, { deliveryId }] of made.entries()) {
    expect(await handedOver()).toEqual([place + 1]);
    // A pass hands over nothing out of turn.
    expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(0);
    await webhooks.attempt(project.ctx, deliveryId);
  }
  expect(await handedOver()).toEqual([]);
  expect((await listed()).map(({ state }) => state)).toEqual([
    "pending",
    ...made.slice(1).map(() => "succeeded"),
  ]);
});

test("second runs of one delivery send nothing", async () => {
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  const run = () => webhooks.deliver(project.ctx, one!.deliveryId, inlineStep(project.clock));
  await Promise.all([run(), run(), run()]);
  await run();
  expect(receiver.received).toHaveLength(1);
});

test("replay sends the same bytes under the same id, with the whole schedule before it, as often as asked", async () => {
  await endpoint();
  await submitted();
  await deliverAll();
  const [one] = await listed();
  receiver.reactWith((_, number) => (number < 5 ? 500 : 200));
  for (let again = 0; again < 2; again++) {
    expect(await webhooks.replay(project.ctx, one!.deliveryId)).toMatchObject({
      deliveryId: one!.deliveryId,
      eventId: one!.eventId,
      state: "pending",
      completedAt: null,
    });
    await webhooks.deliver(project.ctx, one!.deliveryId, inlineStep(project.clock));
  }
  const sent = receiver.received.map(({ body, headers }) => [headers["webhook-id"], body]);
  expect(sent).toHaveLength(6);
  for (const each of sent) expect(each).toEqual(sent[0]);
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 6 }]);
});

test("of one endpoint so many deliveries at most are with the engine at once, and another endpoint's are not held up", async () => {
  const slow = await endpoint({ eventTypes: ["job.queued"] });
  const other = await endpoint({ eventTypes: ["job.canceled"] });
  const ids = await Promise.all(Array.from({ length: 120 }, () => submitted()));
  await jobs.cancel(project.ctx, ids[0]!);
  await announce();
  const underWay = async (endpointId: string) =>
    (
      await pool.query("SELECT FROM delivery WHERE endpoint_id = $1 AND lease_until > $2", [
        endpointId,
        project.ctx.now(),
      ])
    ).rowCount;
  expect(await underWay(slow.endpointId)).toBe(100);
  expect(await underWay(other.endpointId)).toBe(1);
  for (const { deliveryId } of (await listed({ endpointId: slow.endpointId })).slice(0, 30))
    await webhooks.attempt(project.ctx, deliveryId);
  await announce();
  expect(await underWay(slow.endpointId)).toBe(90);
});
