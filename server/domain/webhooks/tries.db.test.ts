import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import { pool } from "@/server/platform/db";
import { HOUR_MS } from "@/server/platform/time/units";
import { projectLeasesPass } from "@/testing/leases";
import type { Reaction } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { inlineStep } from "@/testing/world";
import {
  announce,
  bodiesOf,
  deliverAll,
  ended,
  endpoint,
  listed,
  openProject,
  project,
  receiver,
  submitted,
} from "./webhooks.fixture";

// The receivers of these tests run on this machine.
setSettings({ ALLOW_PRIVATE_ADDRESSES: true });

beforeEach(openProject);
afterEach(() => receiver.stop());

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
  // Each try is signed with its own time, so that a receiver can refuse old ones.
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
  // Every delivery in that time failed.
  expect((await webhooks.listEndpoints(project.ctx, {})).items).toMatchObject([
    { endpointId, enabled: false, disabledReason: expect.stringContaining("failed 8 times") },
  ]);
});

test("a delivery that fails for good does not disable an endpoint that accepted others meanwhile", async () => {
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
])("%s counts as a failure, and a later try succeeds", async (_name, reaction, words) => {
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

test("an answer of 410 disables the endpoint at once, ends its waiting deliveries as disabled, and later events create none", async () => {
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

test("a disabled endpoint receives nothing, even from an earlier handover, and after it is enabled it receives later events", async () => {
  const { endpointId } = await endpoint();
  const jobId = await submitted();
  await announce();
  const [waiting] = await listed();
  await webhooks.disableEndpoint(project.ctx, endpointId);
  await webhooks.deliver(project.ctx, waiting!.deliveryId, inlineStep(project.clock));
  // A pass that began before the endpoint was disabled leaves the row like this.
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

test("a delivery whose sender dies before storing the outcome is sent again under the same id", async () => {
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  // The request of the first sender arrives, but the sender never stores the outcome.
  receiver.reactWith(() => "silent");
  const lost = webhooks.attempt(project.ctx, one!.deliveryId);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { interval: 5 });
  receiver.reactWith(() => 200);
  // While its lease runs, no other sender sends.
  expect(await webhooks.attempt(project.ctx, one!.deliveryId)).toEqual({ state: "ended" });
  await announce();
  expect(receiver.received).toHaveLength(1);
  await project.pass(61_000);
  await announce();
  await webhooks.deliver(project.ctx, one!.deliveryId, inlineStep(project.clock));
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([one!.eventId, one!.eventId]);
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1 }]);
  // The first sender is still alive, but its outcome no longer changes anything.
  await receiver.stop();
  expect(await lost).toEqual({ state: "ended" });
  expect(await listed()).toMatchObject([{ state: "succeeded", attempts: 1, lastStatus: 200 }]);
});

test("a delivery whose run was lost while waiting is handed to the engine again by the sweeper", async () => {
  receiver.reactWith(() => 503);
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  expect(await webhooks.attempt(project.ctx, one!.deliveryId)).toMatchObject({ state: "again" });
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(0);
  await project.pass(HOUR_MS);
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(1);
  // A delivery that was just handed over is not handed over again at once.
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(0);
});

/** Returns a reaction that holds the request until `answer` is called. `arrived` resolves when the request arrives. */
function heldTry() {
  let arrive = () => {};
  let answer = (_reaction: Reaction) => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const answered = new Promise<Reaction>((resolve) => {
    answer = resolve;
  });
  const react = () => {
    arrive();
    return answered;
  };
  return { react, arrived, answer: (reaction: Reaction) => answer(reaction) };
}

test("a sender that lost its lease stores nothing of its try, even while the next sender is sending", async () => {
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  const [late, next] = [heldTry(), heldTry()];
  receiver.reactWith((_, number) => (number === 1 ? late : next).react());
  const first = webhooks.attempt(project.ctx, one!.deliveryId);
  await late.arrived;
  project.clock.advance(HOUR_MS);
  await projectLeasesPass(project.projectId, HOUR_MS);
  expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(1);
  const second = webhooks.attempt(project.ctx, one!.deliveryId);
  await next.arrived;
  late.answer(410);
  expect(await first).toEqual({ state: "ended" });
  expect(await webhooks.delivery(project.ctx, one!.deliveryId)).toMatchObject({
    state: "delivering",
    attempts: 0,
    tries: [],
  });
  next.answer(204);
  expect(await second).toEqual({ state: "ended" });
  expect(await webhooks.delivery(project.ctx, one!.deliveryId)).toMatchObject({
    state: "succeeded",
    attempts: 1,
    tries: [{ number: 1, httpStatus: 204 }],
  });
  expect((await webhooks.listEndpoints(project.ctx, {})).items).toMatchObject([{ enabled: true }]);
});

test("the events of one job are handed to the engine one after another, and a failed first try hands over the next", async () => {
  receiver.reactWith(({ body }) => (JSON.parse(body).id === "1" ? 500 : 200));
  await endpoint();
  const jobId = await ended();
  await announce();
  const handedOver = async () => {
    const { rows } = await pool.query<{ event_id: string }>(
      "SELECT event_id FROM delivery WHERE job_id = $1 AND state = 'pending' AND lease_until > clock_timestamp() AND next_attempt_at <= $2",
      [jobId, project.ctx.now()],
    );
    return rows.map(({ event_id }) => Number(event_id.split("_")[2]));
  };
  const made = await listed();
  for (const [place, { deliveryId }] of made.entries()) {
    expect(await handedOver()).toEqual([place + 1]);
    // A pass hands over no event out of turn.
    expect(await webhooks.dispatchDue(project.ctx.now(), project)).toBe(0);
    await webhooks.attempt(project.ctx, deliveryId);
  }
  expect(await handedOver()).toEqual([]);
  expect((await listed()).map(({ state }) => state)).toEqual([
    "pending",
    ...made.slice(1).map(() => "succeeded"),
  ]);
});

test("repeated runs of one delivery send it once", async () => {
  await endpoint();
  await submitted();
  await announce();
  const [one] = await listed();
  const run = () => webhooks.deliver(project.ctx, one!.deliveryId, inlineStep(project.clock));
  await Promise.all([run(), run(), run()]);
  await run();
  expect(receiver.received).toHaveLength(1);
});

test("each replay sends the same bytes under the same id with a full schedule of tries", async () => {
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

test("at most a hundred deliveries of one endpoint are with the engine at once, and another endpoint's are not held up", async () => {
  const slow = await endpoint({ eventTypes: ["job.queued"] });
  const other = await endpoint({ eventTypes: ["job.canceled"] });
  const ids = await Promise.all(Array.from({ length: 120 }, () => submitted()));
  await jobs.cancel(project.ctx, ids[0]!);
  await announce();
  const underWay = async (endpointId: string) =>
    (
      await pool.query("SELECT FROM delivery WHERE endpoint_id = $1 AND lease_until > clock_timestamp()", [
        endpointId,
      ])
    ).rowCount;
  expect(await underWay(slow.endpointId)).toBe(100);
  expect(await underWay(other.endpointId)).toBe(1);
  for (const { deliveryId } of (await listed({ endpointId: slow.endpointId })).slice(0, 30))
    await webhooks.attempt(project.ctx, deliveryId);
  await announce();
  expect(await underWay(slow.endpointId)).toBe(90);
});
