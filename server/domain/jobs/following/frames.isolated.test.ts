/** @module-tag long */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";
import { projectLeasesPass } from "@/testing/leases";
import { startWebProcess, type WebProcess } from "@/testing/processes";
import { type Frame, openStream } from "@/testing/streams";
import { rowsOf, testClock } from "@/testing/world";
import { hub } from "./hub";

const INVOKE = "/v1/capabilities/text.general.fast.v1/invoke";

let here: WebServer;
let there: WebProcess;
let tenant: Tenant;

beforeAll(async () => {
  [here, there, tenant] = await Promise.all([
    startServer({ host: "127.0.0.1", port: 0, pages: null }),
    startWebProcess(),
    makeTenant(),
  ]);
});

afterAll(async () => {
  await Promise.all([here.stop(0), there.kill()]);
});

const question = "Tell me of rivers in 3 paragraphs";
const ask = (model = "sandbox-1", more: object = {}) => ({
  input: { messages: [{ role: "user", content: question }] },
  execution: { executionConstraints: { preferredModel: model } },
  executionMode: "Stream",
  ...more,
});

async function start(model?: string, more?: object): Promise<string> {
  const { status, json } = await tenant.post(INVOKE, ask(model, more));
  expect([status, json.status, json.dispatchStatus]).toEqual([200, "running", "streaming"]);
  return json.executionId;
}

const open = (base: string, executionId: string, lastEventId?: string) =>
  openStream(`${base}/v1/executions/${executionId}/events`, tenant.key, { lastEventId });
const framesOf = async (executionId: string, lastEventId?: string) =>
  (await open(here.url, executionId, lastEventId)).ended;

const textOf = (frames: Frame[]) =>
  frames
    .filter(({ event }) => event === "token")
    .map(({ data }) => data.text)
    .join("");

describe("a streaming invoke", () => {
  test("the answer has the id at once, and the frames are the start, text, usage and an end that agrees with the record", async () => {
    const executionId = await start();
    const frames = await framesOf(executionId);
    const events = frames.map(({ event }) => event);
    expect([events[0], ...events.slice(-2)]).toEqual(["execution.started", "usage", "execution.succeeded"]);
    expect(new Set(events.slice(1, -2))).toEqual(new Set(["token"]));
    expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, place) => place + 1));
    expect(frames.slice(1, -2).map(({ data }) => data.index)).toEqual(
      frames.slice(3).map((_, index) => index),
    );

    const end = frames.at(-1)?.data;
    const { json: job } = await tenant.get(`/v1/jobs/${executionId}`);
    expect(end?.charge).toEqual(job.charge);
    expect(end?.usage).toMatchObject({ providerCostMicros: job.providerCostMicros });
    const { json: receipt } = await tenant.get(`/v1/jobs/${executionId}/receipt`);
    expect(job.status).toBe("succeeded");
    expect(end.typedOutput).toEqual(job.typedOutput);
    expect(end.receiptId).toBe(receipt.receiptId);
    expect(end.usage).toEqual(frames.at(-2)?.data);
    expect(textOf(frames)).toBe(job.typedOutput.content);

    // A synchronous call with the same question has the same answer, price, receipt and money.
    const { json: sync } = await tenant.post(INVOKE, ask("sandbox-1", { executionMode: "RequestResponse" }));
    expect(sync.typedOutput).toEqual(end.typedOutput);
    expect(sync.usage).toEqual(end.usage);
    const [streamed, atOnce] = [await rowsOf(executionId), await rowsOf(sync.executionId)];
    expect([streamed.job.mode, atOnce.job.mode]).toEqual(["invoke_stream", "invoke_sync"]);
    expect(streamed.events.map(({ type }) => type)).toEqual(atOnce.events.map(({ type }) => type));
    expect(streamed.hold.settled_micros).toBe(atOnce.hold.settled_micros);
    expect(streamed.ledger.map(({ amount_micros }) => amount_micros)).toEqual(
      atOnce.ledger.map(({ amount_micros }) => amount_micros),
    );
    expect(streamed.receipts).toHaveLength(1);
  });

  test("a stream cut after any frame and resumed by Last-Event-ID, here or on another process, gives the uncut text", async () => {
    const executionId = await start();
    const whole = await framesOf(executionId);
    for (let seen = 0; seen <= whole.length; seen++) {
      for (const base of [here.url, there.url]) {
        const stream = await open(base, executionId, seen ? String(seen) : undefined);
        const rest = await stream.ended;
        expect(rest).toEqual(whole.slice(seen));
        const answer = rest.length > 0 ? [200, 1_000, whole.at(-1)?.id] : [204, null, undefined];
        expect([stream.response.statusCode, stream.retryMs(), stream.lastId()]).toEqual(answer);
      }
    }
  });

  test("an ended stream resumed beyond its last frame sends that frame again and ends", async () => {
    const executionId = await start();
    const whole = await framesOf(executionId);
    for (const beyond of [String(whole.length + 1), "9".repeat(30)])
      expect(await framesOf(executionId, beyond)).toEqual(whole.slice(-1));
  });

  test("a running stream resumed beyond its last frame continues to its end", { tags: "long" }, async () => {
    const executionId = await start("sandbox-slow", {
      input: { messages: [{ role: "user", content: "Brief?" }] },
    });
    const reader = await open(here.url, executionId);
    const before = await reader.until(2);
    const resumed = await framesOf(executionId, "5000");
    const whole = await reader.ended;
    expect(whole.slice(-resumed.length)).toEqual(resumed);
    expect(Number(resumed[0]?.id)).toBeGreaterThan(Number(before.at(-1)?.id));
    expect(resumed.length).toBeGreaterThan(2);
  });

  test("a reader that changes processes while the text is being written misses nothing", async () => {
    const executionId = await start("sandbox-slow", {
      input: { messages: [{ role: "user", content: "Short?" }] },
    });
    const seen: Frame[] = [];
    for (let turn = 0; seen.at(-1)?.event !== "execution.succeeded"; turn++) {
      const stream = await open(turn % 2 ? here.url : there.url, executionId, seen.at(-1)?.id);
      // Leaves after three more frames, whichever they are.
      const frames = await stream.until(3);
      stream.cut();
      seen.push(...frames);
    }
    expect(seen).toEqual(await framesOf(executionId));
    const { json: job } = await tenant.get(`/v1/jobs/${executionId}`);
    expect(textOf(seen)).toBe(job.typedOutput.content);
  });

  test("Accept: text/event-stream makes the answer the stream itself, which runs on after its reader leaves", async () => {
    const body = ask("sandbox-1");
    const stream = await openStream(`${here.url}${INVOKE}`, tenant.key, { body });
    const executionId = String(stream.response.headers["x-execution-id"]);
    expect(await stream.ended).toEqual(await framesOf(executionId));
    expect(stream.retryMs()).toBe(1_000);

    const left = await openStream(`${here.url}${INVOKE}`, tenant.key, { body });
    left.cut();
    const { json: job } = await tenant.get(`/v1/jobs/${left.response.headers["x-execution-id"]}`);
    const frames = await framesOf(job.jobId);
    expect(frames.at(-1)?.event).toBe("execution.succeeded");
    while (hub().count() > 0) await new Promise(setImmediate);
  });

  test("the same key and request return the first stream, and another execution mode is a conflict", async () => {
    const idempotencyKey = "one-stream";
    const executionId = await start("sandbox-1", { idempotencyKey });
    await framesOf(executionId);
    const again = await tenant.post(INVOKE, ask("sandbox-1", { idempotencyKey }));
    expect([again.status, again.json.executionId, again.json.dispatchStatus]).toEqual([
      200,
      executionId,
      "completed",
    ]);
    const replayed = await openStream(`${here.url}${INVOKE}`, tenant.key, {
      body: ask("sandbox-1", { idempotencyKey }),
    });
    expect(await replayed.ended).toEqual(await framesOf(executionId));
    const sync = await tenant.post(INVOKE, ask("sandbox-1", { idempotencyKey, executionMode: null }));
    expect([sync.status, sync.json.code]).toEqual([409, "IdempotencyConflict"]);
  });

  test.each([
    ["sandbox-refuse", "ProviderRejected", "released"],
    ["sandbox-lost", "TRANSPORT_AMBIGUOUS", "ambiguous"],
    ["sandbox-empty", "PROVIDER_EMPTY_OUTPUT", "settled"],
    ["sandbox-fail", "PROVIDER_ERROR", "released"],
  ])("a stream on %s ends with the error of its record, %s, and its hold %s", async (model, code, hold) => {
    const executionId = await start(model);
    const frames = await framesOf(executionId);
    const { json: job } = await tenant.get(`/v1/jobs/${executionId}`);
    expect(frames.at(-1)).toMatchObject({ event: "execution.failed", data: { error: { code } } });
    expect(frames.at(-1)?.data.error).toEqual(job.error);
    expect((await rowsOf(executionId)).hold.state).toBe(hold);
    // The text that was written before the failure stays readable.
    expect(frames.some(({ event }) => event === "token")).toBe(model === "sandbox-lost");
    const again = await tenant.get(`/v1/jobs/${executionId}/receipt`);
    expect(again.json.receiptId).toBe(frames.at(-1)?.data.receiptId);
  });

  test("readers on other processes get the written text and an end if the running process dies", async () => {
    const doomed = await startWebProcess();
    const started = await fetch(`${doomed.url}${INVOKE}`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
      body: JSON.stringify(ask("sandbox-slow")),
    });
    const { executionId } = await started.json();
    const reader = await open(here.url, executionId);
    const before = await reader.until(3);
    expect(textOf(before)).not.toBe("");
    await doomed.kill();
    const clock = testClock();
    clock.advance(60_000);
    await projectLeasesPass(tenant.projectId, 60_000);
    await jobs.sweep(systemCtx("sweeper", clock.now), { projectId: tenant.projectId });
    const frames = await reader.ended;
    expect(frames.slice(0, before.length)).toEqual(before);
    expect(frames.at(-1)).toMatchObject({
      event: "execution.failed",
      data: { error: { code: "TRANSPORT_AMBIGUOUS" } },
    });
    expect(await (await open(there.url, executionId)).ended).toEqual(frames);
    expect((await rowsOf(executionId)).hold.state).toBe("ambiguous");
  });

  test("a canceled stream ends as canceled", async () => {
    // Differs from the request before, whose outcome is ambiguous, so that it is no repeat.
    const executionId = await start("sandbox-slow", { externalRef: "canceled" });
    const reader = await open(there.url, executionId);
    await reader.until(2);
    expect((await tenant.post(`/v1/jobs/${executionId}/cancel`)).status).toBe(200);
    expect((await reader.ended).at(-1)).toMatchObject({
      event: "execution.failed",
      data: { error: { code: "Cancelled" } },
    });
  });

  test("a capability without streaming refuses it, and one with streaming lists its mode", async () => {
    const compute = await tenant.post("/v1/capabilities/compute.evaluate.v1/invoke", {
      input: { expression: "1" },
      executionMode: "Stream",
    });
    expect([compute.status, compute.json.detail[0].loc]).toEqual([422, ["body", "executionMode"]]);
    const { json } = await tenant.get("/v1/capabilities/text.general.fast.v1");
    expect(json.executionModes).toContain("invoke_stream");
  });

  test("a durable job and another caller's execution have no frames, and an invalid frame id is refused", async () => {
    const { json: job } = await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", {
      input: { messages: [{ role: "user", content: "A job." }] },
    });
    expect((await tenant.get(`/v1/executions/${job.jobId}/events`)).status).toBe(404);
    const executionId = await start();
    const stranger = await makeTenant();
    expect((await stranger.get(`/v1/executions/${executionId}/events`)).status).toBe(404);
    const odd = { headers: { "last-event-id": "first" } };
    expect((await tenant.get(`/v1/executions/${executionId}/events`, odd)).status).toBe(422);
    await framesOf(executionId);
  });

  test("private text is stored encrypted and read in the clear", async () => {
    const executionId = await start("sandbox-1", { context: { dataClassification: "PrivateUserContent" } });
    const frames = await framesOf(executionId);
    expect(textOf(frames)).toContain("rivers");
    const { rows } = await pool.query("SELECT * FROM stream_frame WHERE job_id = $1", [executionId]);
    expect(rows.length).toBeGreaterThan(3);
    expect(JSON.stringify(rows)).not.toContain("rivers");
  });

  test.each([
    [
      "whose own time has come",
      0,
      "UPDATE stream_frame SET expires_at = now() - interval '1 hour' WHERE job_id = $1",
    ],
    ["that goes with all other content", 31 * DAY_MS, null],
  ])(
    "removed text %s leaves its ids unused, and a reader that resumes anywhere gets the original end",
    async (_, ms, sql) => {
      const owner = await makeTenant();
      const { json } = await owner.post(INVOKE, ask());
      const read = async (lastEventId?: string) =>
        (await openStream(`${here.url}/v1/executions/${json.executionId}/events`, owner.key, { lastEventId }))
          .ended;
      const whole = await read();
      expect(whole.length).toBeGreaterThan(5);
      if (sql) await pool.query(sql, [json.executionId]);
      const clock = testClock();
      clock.advance(ms);
      const pruner = systemCtx("pruner", clock.now);
      const [{ texts }] = await Promise.all([jobs.prune(pruner, owner), jobs.prune(pruner, owner)]);
      expect(texts).toBeLessThanOrEqual(whole.length - 3);
      const placeOf = ({ id, event }: Frame) => [id, event];
      const left = whole.filter(({ event }) => event !== "token").map(placeOf);
      expect((await read()).map(placeOf)).toEqual(left);
      for (let seen = 1; seen <= whole.length; seen++)
        expect((await read(String(seen))).map(placeOf)).toEqual(left.filter(([id]) => Number(id) > seen));
    },
  );

  test("every frame of text is stored as content that expires", async () => {
    const executionId = await start();
    const frames = await framesOf(executionId);
    const { rows } = await pool.query(
      "SELECT id, expires_at FROM stream_frame WHERE job_id = $1 ORDER BY id",
      [executionId],
    );
    expect(rows.map(({ id }) => String(id))).toEqual(
      frames.filter(({ event }) => event === "token").map(({ id }) => id),
    );
    expect(rows.every(({ expires_at }) => expires_at instanceof Date)).toBe(true);
  });
});
