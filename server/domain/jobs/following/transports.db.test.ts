import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JobEvent } from "@/server/contract/job-events";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import type { Step } from "@/server/platform/durable/step";
import { HOUR_MS } from "@/server/platform/time/units";
import { startServer, type WebServer } from "@/server/web/server";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { type Reaction, startReceiver } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { openStream } from "@/testing/streams";
import { testClock } from "@/testing/world";

/*
 * One consumer changes at random between the three ways to follow a job. It skips ids that it has seen and
 * orders by id, as the documentation asks, and must see every event exactly once and in order.
 */

// The receiver is on this machine.
setSettings({ ALLOW_PRIVATE_ADDRESSES: true });

let servers: [WebServer, WebServer];
beforeAll(async () => {
  const start = () => startServer({ host: "127.0.0.1", port: 0, pages: null });
  servers = [await start(), await start()];
});
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

/** The state that a consumer keeps of one job. */
function makeConsumer() {
  const applied: JobEvent[] = [];
  const early = new Map<number, JobEvent>();
  let skipped = 0;
  return {
    applied,
    get skipped() {
      return skipped;
    },
    last: () => applied.length,
    /** Takes an event from any transport. */
    take(event: JobEvent) {
      const number = Number(event.id);
      if (number <= applied.length || early.has(number)) {
        skipped++;
        return;
      }
      early.set(number, event);
      for (let next = early.get(applied.length + 1); next; next = early.get(applied.length + 1)) {
        early.delete(applied.length + 1);
        applied.push(next);
      }
    },
  };
}

type Followed = { jobId: string; consumer: ReturnType<typeof makeConsumer> };

/** One run of the property: a tenant, its running jobs, a receiver, and a consumer per job. */
async function makeRun(tenant: Tenant, models: string[]) {
  const receiver = await startReceiver();
  const hook = (
    await tenant.post("/v1/delivery-endpoints", { url: receiver.url, secret: "a secret of this test alone" })
  ).json;
  const webhookClock = testClock();
  const system: Ctx = systemCtx("engine", webhookClock.now);
  const followed: Followed[] = [];
  for (const preferredModel of models) {
    const { json } = await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", {
      input: { messages: [{ role: "user", content: "Tell me." }] },
      preferredModel,
    });
    followed.push({ jobId: json.jobId, consumer: makeConsumer() });
  }
  const waiting: (() => void)[] = [];
  let isFree = false;
  const clock = testClock();
  const step: Step = {
    runId: randomUUID(),
    async run(_id, work) {
      if (!isFree) await new Promise<void>((go) => waiting.push(go));
      return work();
    },
    sleep: async (_id, ms) => clock.advance(ms),
  };
  const running = followed.map(({ jobId }) => jobs.run(systemCtx("worker", clock.now), jobId, step));

  receiver.reactWith(() => 503);
  /** Makes the receiver react like this and lets the engine attempt some of the due deliveries. */
  async function pump(reactions: Reaction[], most: number) {
    let number = 0;
    receiver.reactWith(({ body }) => {
      const reaction = reactions[number++ % reactions.length] ?? 200;
      const event: JobEvent = JSON.parse(body);
      // A 503 means that the event was not taken. A receiver that hangs up may have taken it.
      if (reaction !== 503) followed.find(({ jobId }) => jobId === event.jobId)?.consumer.take(event);
      return reaction;
    });
    webhookClock.advance(25 * HOUR_MS);
    await jobs.announce(system, tenant);
    const { items } = await webhooks.deliveries(system, {
      endpointId: hook.endpointId,
      state: "pending",
      limit: 200,
    });
    await Promise.all(items.slice(0, most).map(({ deliveryId }) => webhooks.attempt(system, deliveryId)));
    receiver.reactWith(() => 503);
  }

  async function readPage({ jobId, consumer }: Followed, limit: number, back: number) {
    const cursor = Math.max(0, consumer.last() - back);
    const { json } = await tenant.get(`/v1/jobs/${jobId}/events?limit=${limit}&cursor=${cursor}`);
    for (const event of json.events) consumer.take(event);
    return json.nextCursor !== undefined;
  }

  async function stream({ jobId, consumer }: Followed, server: WebServer, count: number) {
    const lastEventId = consumer.last() > 0 ? String(consumer.last()) : undefined;
    const opened = await openStream(`${server.url}/v1/jobs/${jobId}/events`, tenant.key, { lastEventId });
    let frames = opened.frames();
    if (count === Number.POSITIVE_INFINITY) frames = await opened.ended;
    else if (count > 0) {
      // Waits only for events that exist already, because the job may make no progress.
      const { json } = await tenant.get(`/v1/jobs/${jobId}/events?limit=200&cursor=${consumer.last()}`);
      frames = await opened.until(Math.min(count, json.events.length));
    }
    opened.cut();
    for (const { data } of frames) consumer.take(data);
  }

  return {
    followed,
    pump,
    readPage,
    stream,
    work(place: number) {
      waiting.splice(place % Math.max(waiting.length, 1), 1)[0]?.();
    },
    async replay(place: number) {
      const { items } = await webhooks.deliveries(system, { endpointId: hook.endpointId, limit: 200 });
      const one = items[place % Math.max(items.length, 1)];
      if (one) await tenant.post(`/v1/deliveries/${one.deliveryId}/replay`);
    },
    async endWork() {
      isFree = true;
      for (const go of waiting.splice(0)) go();
      await Promise.all(running);
    },
    /** Delivers every missing event by webhook: deliveries that failed for good are replayed. */
    async drainWebhooks() {
      await call("PATCH", `/v1/delivery-endpoints/${hook.endpointId}`, {
        key: tenant.key,
        body: { enabled: true },
      });
      for (const state of ["failed", "disabled"] as const) {
        const { items } = await webhooks.deliveries(system, {
          endpointId: hook.endpointId,
          state,
          limit: 200,
        });
        for (const { deliveryId } of items) await webhooks.replay(system, deliveryId);
      }
      await pump([200], 200);
    },
    async stop() {
      await tenant.post(`/v1/delivery-endpoints/${hook.endpointId}/disable`);
      await receiver.stop();
    },
  };
}

const small = fc.nat({ max: 7 });
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("work" as const), place: small }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("page" as const),
      place: small,
      limit: fc.integer({ min: 1, max: 4 }),
      back: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("stream" as const),
      place: small,
      count: fc.nat({ max: 4 }),
      server: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("webhooks" as const),
      reactions: fc.array(fc.constantFrom<Reaction[]>(200, 204, 503, "close"), {
        minLength: 1,
        maxLength: 5,
      }),
      most: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("replay" as const), place: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), place: small }) },
);

const story = fc.record({
  models: fc.array(fc.constantFrom("sandbox-1", "sandbox-2", "sandbox-busy", "sandbox-refuse"), {
    minLength: 1,
    maxLength: 3,
  }),
  moves: fc.array(move, { maxLength: 40 }),
  /** The transport that reads the rest. */
  rest: fc.constantFrom("page", "stream", "webhooks"),
});

test("a consumer that changes between pages, streams and webhooks, with disconnects, sees every event once and in order", async () => {
  const tenant = await makeTenant();
  let skipped = 0;
  const settings = campaign.covering(
    story,
    ({ models, moves, rest }) => [
      ...models,
      ...moves.map(({ kind }) => kind),
      ...moves.flatMap((each) => (each.kind === "stream" ? [`stream from ${each.server}`] : [])),
      ...moves.flatMap((each) =>
        each.kind === "webhooks" ? each.reactions.map((one) => `answered ${one}`) : [],
      ),
      `rest by ${rest}`,
    ],
    60,
  );
  await fc.assert(
    fc.asyncProperty(story, async ({ models, moves, rest }) => {
      const run = await makeRun(tenant, models);
      try {
        for (const move of moves) {
          if (move.kind === "work") run.work(move.place);
          else if (move.kind === "webhooks") await run.pump(move.reactions, move.most);
          else if (move.kind === "replay") await run.replay(move.place);
          else {
            const one = run.followed[move.place % run.followed.length]!;
            if (move.kind === "page") await run.readPage(one, move.limit, move.back);
            else if (move.kind === "stream") await run.stream(one, servers[move.server], move.count);
            else await tenant.post(`/v1/jobs/${one.jobId}/cancel`);
          }
        }
        await run.endWork();
        if (rest === "webhooks") await run.drainWebhooks();
        for (const one of run.followed) {
          if (rest === "page") while (await run.readPage(one, 3, 0));
          if (rest === "stream") await run.stream(one, servers[1], Number.POSITIVE_INFINITY);
          const { json } = await tenant.get(`/v1/jobs/${one.jobId}/events?limit=200`);
          expect(one.consumer.applied).toEqual(json.events);
          expect(json.events.map(({ id }: JobEvent) => Number(id))).toEqual(
            json.events.map((_: JobEvent, place: number) => place + 1),
          );
          expect(json.events.at(-1).type).toBe("job.receipt_sealed");
          skipped += one.consumer.skipped;
        }
      } finally {
        await run.endWork();
        await run.stop();
      }
    }),
    settings,
  );
  // The run was not trivial: some events arrived more than once.
  expect(skipped).toBeGreaterThan(campaign.size({ small: 3, full: 10 }));
});
