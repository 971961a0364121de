import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobEvent } from "@/server/contract/job-events";
import * as jobs from "@/server/domain/jobs";
import { pool, relaxedPool } from "@/server/platform/db";
import { startServer, type WebServer } from "@/server/web/server";
import { makeKeyWithId, makeTenant, revokeKey, finish as runToEnd, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { type OpenStream, openStream } from "@/testing/streams";
import { followEvents } from "./events";
import { hub } from "./hub";

let server: WebServer;
let other: WebServer;
let tenant: Tenant;

beforeAll(async () => {
  [server, other, tenant] = await Promise.all([
    startServer({ host: "127.0.0.1", port: 0, pages: null }),
    startServer({ host: "127.0.0.1", port: 0, pages: null }),
    makeTenant(),
  ]);
});

afterAll(async () => {
  await Promise.all([server.stop(0), other.stop(0)]);
});

async function submit(model = "sandbox-1"): Promise<string> {
  const { json } = await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", {
    input: { messages: [{ role: "user", content: "Follow me." }] },
    execution: { executionConstraints: { preferredModel: model } },
  });
  return json.jobId;
}

const pageOf = async (jobId: string): Promise<JobEvent[]> =>
  (await tenant.get(`/v1/jobs/${jobId}/events?limit=200`)).json.events;

const open = (jobId: string, query = "", options: Parameters<typeof openStream>[2] = {}) =>
  openStream(`${server.url}/v1/jobs/${jobId}/events${query}`, tenant.key, options);

async function finished(): Promise<{ jobId: string; events: JobEvent[] }> {
  const jobId = await submit();
  await runToEnd(jobId);
  return { jobId, events: await pageOf(jobId) };
}

describe("a job's events as a stream", () => {
  test("events arrive as they are written, with the ids and bodies of the pages, and end with the job", async () => {
    const jobId = await submit();
    const stream = await open(jobId);
    expect(stream.response.headers["content-type"]).toBe("text/event-stream");
    expect((await stream.until(1)).map(({ event }) => event)).toEqual(["job.queued"]);
    await runToEnd(jobId);
    const frames = await stream.ended;
    const events = await pageOf(jobId);
    expect(frames.map(({ data }) => data)).toEqual(events);
    expect(frames.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(frames.map(({ event }) => event)).toEqual(events.map(({ type }) => type));
    expect(events.at(-1)?.type).toBe("job.receipt_sealed");
  });

  test("a stream cut after any event and resumed by Last-Event-ID or cursor loses and repeats nothing", async () => {
    const { jobId, events } = await finished();
    for (let seen = 0; seen <= events.length; seen++) {
      const rest = events.slice(seen);
      const byHeader = await open(jobId, "", seen ? { lastEventId: String(seen) } : {});
      expect((await byHeader.ended).map(({ data }) => data)).toEqual(rest);
      expect(byHeader.response.statusCode).toBe(rest.length > 0 ? 200 : 204);
      const byCursor = await open(jobId, `?cursor=${seen}`);
      expect((await byCursor.ended).map(({ data }) => data)).toEqual(rest);
    }
    // A browser that reconnects sends the URL's cursor and Last-Event-ID; Last-Event-ID takes precedence.
    const both = await open(jobId, "?cursor=1", { lastEventId: String(events.length - 1) });
    expect((await both.ended).map(({ data }) => data)).toEqual(events.slice(-1));
  });

  test("an EventSource of an ended job reconnects once with the last event's id and is ended by 204", async () => {
    const { jobId, events } = await finished();
    const last = events.at(-1)?.id;
    const filters = ["", `?cursor=${last}`, "?type=job.queued", "?type=job.none"];
    for (const query of filters) {
      const stream = await open(jobId, query);
      await stream.ended;
      expect([stream.response.statusCode, stream.retryMs(), stream.lastId()]).toEqual([200, 1_000, last]);
      const again = await open(jobId, query, { lastEventId: stream.lastId() });
      expect(await again.ended).toEqual([]);
      expect([again.response.statusCode, again.retryMs()]).toEqual([204, null]);
    }
    const running = await submit();
    const stream = await open(running, "", { lastEventId: "1" });
    expect(stream.response.statusCode).toBe(200);
    stream.cut();
  });

  test("a fetch() that is no EventSource reads an empty stream after the last event, as clients of 0.2.0 need", async () => {
    const { jobId, events } = await finished();
    const lastEventId = events.at(-1)?.id;
    const mode = { "sec-fetch-mode": "cors" };
    for (const [headers, wanted] of [
      [mode, 200],
      [{ ...mode, "cache-control": "no-cache" }, 204],
    ] as const) {
      const stream = await open(jobId, "", { lastEventId, headers });
      expect([await stream.ended, stream.response.statusCode]).toEqual([[], wanted]);
    }
  });

  test("a stream filtered by type sends only the events of that type", async () => {
    const { jobId, events } = await finished();
    const stream = await open(jobId, "?type=job.succeeded");
    expect((await stream.ended).map(({ data }) => data)).toEqual(
      events.filter(({ type }) => type === "job.succeeded"),
    );
  });

  test("a stream of an ended job resumed beyond its last event sends that event again and ends", async () => {
    const { jobId, events } = await finished();
    const last = events.slice(-1);
    const beyond = [
      await open(jobId, `?cursor=${events.length + 1}`),
      await open(jobId, "?cursor=9999999999"),
      await open(jobId, "", { lastEventId: "9".repeat(30) }),
    ];
    for (const stream of beyond) expect((await stream.ended).map(({ data }) => data)).toEqual(last);
    expect(await (await open(jobId, "?cursor=50&type=job.queued")).ended).toEqual([]);
  });

  test("a stream of a running job resumed beyond its last event continues after that event", async () => {
    const jobId = await submit();
    const stream = await open(jobId, "", { lastEventId: "50" });
    await runToEnd(jobId);
    expect((await stream.ended).map(({ data }) => data)).toEqual((await pageOf(jobId)).slice(1));
  });

  test("an invalid id is refused, and another tenant's job is NotFound", async () => {
    const { jobId } = await finished();
    const headers = { accept: "text/event-stream", "last-event-id": "seven" };
    const refused = await tenant.get(`/v1/jobs/${jobId}/events`, { headers });
    expect([refused.status, refused.json.detail[0].loc]).toEqual([422, ["header", "Last-Event-ID"]]);
    const stranger = await makeTenant();
    const hidden = await stranger.get(`/v1/jobs/${jobId}/events`, {
      headers: { accept: "text/event-stream" },
    });
    expect(hidden.status).toBe(404);
  });

  test("a client that accepts anything or prefers JSON gets JSON", async () => {
    const { jobId, events } = await finished();
    for (const accept of ["*/*", "application/json", "application/json, text/event-stream;q=0.5"]) {
      const { json } = await tenant.get(`/v1/jobs/${jobId}/events`, { headers: { accept } });
      expect(json.events).toEqual(events);
    }
  });

  test("a reader that leaves is removed from the hub", async () => {
    const jobId = await submit();
    const stream = await open(jobId);
    await stream.until(1);
    const before = hub().count();
    stream.cut();
    while (hub().count() !== before - 1) await new Promise(setImmediate);
  });

  test("a revoked key ends the stream", async () => {
    const { apiKey, keyId } = await makeKeyWithId({ projectId: tenant.projectId });
    const jobId = await submit();
    const stream = await openStream(`${server.url}/v1/jobs/${jobId}/events`, apiKey);
    await stream.until(1);
    await revokeKey(keyId);
    expect(await stream.ended).toHaveLength(1);
    expect(stream.retryMs()).toBeNull();
  });

  test("a quiet stream sends empty pages and checks the reader's rights", async () => {
    const jobId = await submit();
    const pages: number[] = [];
    let looks = 0;
    // Tests beside this one may also cause rights checks, so the reader loses its rights only after it has
    // seen both pages.
    const ctx = {
      ...(await systemOf()),
      whoNow: async () =>
        ++looks < 3 || ![0, 1].every((size) => pages.includes(size)) ? ctx.principal : null,
    };
    for await (const page of await followEvents(ctx, jobId, {}, { pace: { quietMs: 1, checkMs: 0 } }))
      pages.push(page.items.length);
    expect(looks).toBeGreaterThanOrEqual(3);
    expect(pages).toContain(1);
    expect(pages).toContain(0);
  });

  test("an event without a notice reaches the stream", { tags: "long" }, async () => {
    const jobId = await submit();
    const stream = await open(jobId);
    await stream.until(1);
    await pool.query(
      `WITH moved AS (UPDATE job SET last_event = last_event + 1 WHERE id = $1 RETURNING project_id, id, last_event)
       INSERT INTO event (project_id, job_id, id, type, payload, created_at)
       SELECT project_id, id, last_event, 'job.progress', '{}', now() FROM moved`,
      [jobId],
    );
    expect((await stream.until(2)).map(({ event }) => event)).toEqual(["job.queued", "job.progress"]);
    stream.cut();
  });

  test("a lost listening connection is replaced, and no event is missed", {
    tags: "long",
  }, async () => {
    const jobId = await submit();
    const stream = await open(jobId);
    await stream.until(1);
    await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [
      hub().listener,
    ]);
    await runToEnd(jobId);
    expect((await stream.ended).map(({ data }) => data)).toEqual(await pageOf(jobId));
  });
});

async function systemOf() {
  const { systemCtx } = await import("@/server/domain/ctx");
  return systemCtx("test");
}

test("hundreds of open streams of a process get an event over one listening connection", async () => {
  const STREAMS = campaign.size({ small: 200, full: 2_000 });
  const others = hub().count(); // readers that tests of other files left in this process
  const ids = await Promise.all(Array.from({ length: 20 }, () => submit()));
  const streams: OpenStream[] = [];
  // Opens a few at a time, because the system resets connections beyond its accept queue.
  while (streams.length < STREAMS)
    streams.push(...(await Promise.all(ids.flatMap((id) => Array.from({ length: 10 }, () => open(id))))));
  const all = (count: number) => Promise.all(streams.map((stream) => stream.until(count)));
  await all(1);
  expect(hub().count()).toBeGreaterThanOrEqual(STREAMS);
  const { rows } = await pool.query(
    "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()",
    [hub().listener],
  );
  expect(rows).toHaveLength(1);
  expect(pool.totalCount + relaxedPool.totalCount).toBeLessThanOrEqual(pool.options.max + 10);
  for (const jobId of ids) await jobs.cancel(await systemOf(), jobId);
  for (const frames of await Promise.all(streams.map(({ ended }) => ended)))
    expect(frames.map(({ event }) => event)).toEqual(["job.queued", "job.canceled", "job.receipt_sealed"]);
  while (hub().count() > others) await new Promise(setImmediate);
});
