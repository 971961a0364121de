import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import { sealSecret } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";
import {
  announce,
  bodiesOf,
  deliverAll,
  ended,
  endpoint,
  listed,
  openProject,
  project,
  QUESTION,
  receiver,
  SECRET,
  submitted,
} from "./webhooks.fixture";

// The receivers of these tests run on this machine.
setSettings({ ALLOW_PRIVATE_ADDRESSES: true });

beforeEach(openProject);
afterEach(() => receiver.stop());

const events = async (jobId: string) => (await jobs.events(project.ctx, jobId, { limit: 200 })).events;

test("the text of a job with encrypted content is stored encrypted in deliveries and arrives as in the pages of events", async () => {
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

test("at most a hundred endpoints of an organization are enabled, however many are created or enabled at once", async () => {
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
  // An endpoint that is already enabled takes no further place.
  await webhooks.updateEndpoint(project.ctx, first.endpointId, { enabled: true });
});

test("every event of a job arrives in order, with exactly the body of the JSON pages", async () => {
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
  ["a Standard Webhooks secret", SECRET],
  ["the shortest one", `whsec_${randomBytes(24).toString("base64")}`],
  ["the longest one", `whsec_${randomBytes(64).toString("base64")}`],
  ["a text of one's own", "my own words, twenty-four"],
  ["a text of one's own beyond ASCII", "schlüssel-ключ-鍵-".repeat(2)],
  ["the longest text", "😀".repeat(512)],
])("with %s the Standard Webhooks package accepts the signature", async (_name, secret) => {
  const { signingSecret, ...made } = await endpoint({ secret });
  expect(signingSecret === undefined).toBe(secret.startsWith("whsec_"));
  const verifier = new Webhook(signingSecret ?? secret);
  if (signingSecret) {
    const isShown = (answer: unknown) => JSON.stringify(answer).includes(signingSecret);
    expect([made, await webhooks.listEndpoints(project.ctx, {})].some(isShown)).toBe(false);
    const changed = await webhooks.updateEndpoint(project.ctx, made.endpointId, { secret });
    expect(changed.signingSecret).toBe(signingSecret);
    expect(await webhooks.updateEndpoint(project.ctx, made.endpointId, { enabled: true })).not.toHaveProperty(
      "signingSecret",
    );
  }
  await submitted();
  await deliverAll();
  expect(receiver.received).toHaveLength(1);
  for (const { body, headers } of receiver.received) {
    expect(verifier.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => verifier.verify(`${body} `, headers)).toThrow("No matching signature");
    expect(headers["content-type"]).toBe("application/json");
  }
});

test.each([
  ["a short text", "s3cret", new Webhook("s3cret", { format: "raw" })],
  ["a padded text", ` ${"a".repeat(30)}`, new Webhook(` ${"a".repeat(30)}`, { format: "raw" })],
  ["a short key", "whsec_YQ==", new Webhook("whsec_YQ==")],
])(
  "%s that was stored earlier still signs in its own form, and is flagged until it is replaced",
  async (_name, old, verifier) => {
    const { endpointId } = await endpoint();
    const stored = sealSecret(old, `delivery_endpoint|${endpointId}|secret`);
    await pool.query("UPDATE delivery_endpoint SET secret = $2 WHERE id = $1", [endpointId, stored]);
    await submitted();
    await deliverAll();
    const [one] = receiver.received;
    expect(verifier.verify(one!.body, one!.headers)).toEqual(JSON.parse(one!.body));

    const flag = async () => (await webhooks.listEndpoints(project.ctx, {})).items[0]?.weakSecret;
    const isFound = async () =>
      (await webhooks.weakEndpoints()).some((each) => each.endpointId === endpointId);
    expect([await flag(), await isFound()]).toEqual([true, true]);
    await webhooks.updateEndpoint(project.ctx, endpointId, { secret: SECRET });
    expect([await flag(), await isFound()]).toEqual([false, false]);
  },
);

test("an endpoint whose secret does not open is listed and flagged", async () => {
  const { endpointId } = await endpoint();
  const elsewhere = sealSecret(SECRET, "delivery_endpoint|whe_another|secret");
  await pool.query("UPDATE delivery_endpoint SET secret = $2 WHERE id = $1", [endpointId, elsewhere]);
  expect((await webhooks.listEndpoints(project.ctx, {})).items).toMatchObject([
    { endpointId, weakSecret: true },
  ]);
});

test("a new secret signs every try from the next one on", async () => {
  const { endpointId } = await endpoint();
  await submitted();
  const next = `whsec_${randomBytes(32).toString("base64")}`;
  await webhooks.updateEndpoint(project.ctx, endpointId, { secret: next });
  await deliverAll();
  const [one] = receiver.received;
  expect(new Webhook(next).verify(one!.body, one!.headers)).toBeTruthy();
  expect(() => new Webhook(SECRET).verify(one!.body, one!.headers)).toThrow();
});

test("the secret is in no answer, and in no row in plain text", async () => {
  const made = await endpoint();
  const seen = [made, await webhooks.listEndpoints(project.ctx, {}), await listed()];
  const { rows } = await pool.query("SELECT * FROM delivery_endpoint WHERE id = $1", [made.endpointId]);
  for (const each of [...seen, rows]) expect(JSON.stringify(each)).not.toContain(SECRET.slice(6, 18));
});

test("an endpoint receives only the event types it asked for, and never another project's events", async () => {
  const other = await makeProject();
  await endpoint({ eventTypes: ["job.succeeded", "job.failed"] });
  await jobs.submit(other.ctx, "text.general.fast.v1", QUESTION);
  await ended();
  await jobs.announce(other.ctx, other);
  await deliverAll();
  expect(bodiesOf(receiver.received).map(({ type }) => type)).toEqual(["job.succeeded"]);
});

test("the first endpoint of an organization receives only the later events of jobs that are under way", async () => {
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
  // An admission that did not yet see the endpoint leaves the job like this.
  await pool.query("UPDATE job SET webhook_event = NULL WHERE id = $1", [jobId]);
  await deliverAll();
  expect(bodiesOf(receiver.received).map(({ type }) => type)).toEqual(["job.queued"]);
});

test("simultaneous passes create one delivery of every event", async () => {
  await endpoint();
  const jobId = await ended();
  await Promise.all(Array.from({ length: 8 }, announce));
  const made = await listed();
  expect(made.map(({ eventId }) => eventId).toSorted()).toEqual(
    (await events(jobId)).map(({ id }) => `evt_${jobId.slice(4)}_${id}`).toSorted(),
  );
});

test("jobs of an organization without an endpoint are not followed", async () => {
  const jobId = await ended();
  await announce();
  expect((await rowsOf(jobId)).job.webhook_event).toBeNull();
});
