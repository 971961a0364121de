import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { PinnedAnswer, PinnedRecord } from "@/server/contract/pinned-records";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { Fault } from "@/server/platform/errors/errors";
import { receiptIdOf } from "@/server/platform/ids";
import { response, SCRIPTS, says } from "@/testing/responses-server/scripts";
import { type ResponsesServer, startResponsesServer } from "@/testing/responses-server/server";
import { vendorAsOpenAi } from "@/testing/vault";
import { type PatientProject, projectAt } from "./testing/patience";

/*
 * Covers only what is specific to pinned executions when the vendor fails: their clocks and their caller's
 * errors. The end in each case is tested in server/domain/executions/outcomes.db.test.ts.
 */

const folder = mkdtempSync(join(tmpdir(), "pinned-faults-"));
let server: ResponsesServer;
let openai: Awaited<ReturnType<typeof vendorAsOpenAi>>;
beforeAll(async () => {
  openai = await vendorAsOpenAi();
  server = startResponsesServer(folder);
});
afterAll(async () => {
  await server.stop();
  await openai.close();
  rmSync(folder, { recursive: true });
});

afterEach(() => vi.restoreAllMocks());

const PIN = { provider: "openai", model: "gpt-5.6-luna", api: "responses" };
type Ended = { http: number; answer: PinnedAnswer | null; record: PinnedRecord; details: unknown };

async function post({ ctx, clock }: PatientProject, more: Record<string, Json> = {}): Promise<Ended> {
  const request = {
    pin: PIN,
    input: "Name a fish. ".repeat(500),
    includeNativeResponse: true,
    ...more,
  };
  try {
    const answer = await pins.run(ctx, request, undefined, clock);
    return { http: 200, answer, record: answer.receipt, details: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { executionId } = error.details as { executionId: string }; // every failure names its execution
    const record = await pins.get(ctx, receiptIdOf(executionId));
    return { http: error.row.status, answer: null, record, details: error.details };
  }
}

test("an unreachable vendor is retried until the deadline, or tried once if the deadline is 0", async () => {
  const project = await projectAt("http://127.0.0.1:1");
  const { http, record } = await post(project);
  expect([http, record.error?.code, record.providerSubmission]).toEqual([
    503,
    "ProviderUnavailable",
    "not_attempted",
  ]);
  expect(record).toMatchObject({ capacityRejections: 0, safelyRetryable: true, holdState: "released" });
  expect(record.attempts.length).toBeGreaterThan(10);
  const once = await post(project, { limits: { admissionDeadlineSeconds: 0 } });
  expect(once.record.attempts).toHaveLength(1);
});

test("with an admission deadline of 0, a vendor without capacity is called once", async () => {
  const project = await projectAt(await server.open("full, once", SCRIPTS["429 for ever"]));
  const { http, record } = await post(project, { limits: { admissionDeadlineSeconds: 0 } });
  expect([http, record.error?.code, record.capacityRejections]).toEqual([503, "ProviderUnavailable", 1]);
  expect(server.arrived("full, once")).toHaveLength(1);
});

test("waits between submissions are recorded apart from the vendor's execution time", async () => {
  const project = await projectAt(await server.open("waits", SCRIPTS["429 with retry-after"]));
  const { record } = await post(project);
  expect(record).toMatchObject({ retryWaitMs: 2_000, providerExecutionMs: 0, wallClockMs: 2_000 });
});

test.each([301, 599])("an answer after %i seconds still counts", async (seconds) => {
  const name = `late by ${seconds}`;
  let say = () => {};
  const url = await server.open(name, {
    answer: (socket, request) => {
      say = () => says(answerOf).answer?.(socket, request);
    },
  });
  const project = await projectAt(url);
  const posting = post(project);
  await expect.poll(() => server.arrived(name).length, { interval: 5, timeout: 10_000 }).toBe(1);
  project.pass(seconds * 1_000);
  say();
  const { record } = await posting;
  expect(record).toMatchObject({ status: "succeeded", providerExecutionMs: seconds * 1_000 });
  expect(record.limits.timeoutSeconds).toBe(600);
  expect(server.arrived(name)).toHaveLength(1);
});

test("a process whose execution was taken over writes no end, although its answer is complete", async () => {
  const name = "taken over";
  let say = () => {};
  const url = await server.open(name, {
    answer: (socket, request) => {
      say = () => says(answerOf).answer?.(socket, request);
    },
  });
  const project = await projectAt(url);
  const posting = post(project).catch((error) => error);
  await expect.poll(() => server.arrived(name).length, { interval: 5, timeout: 10_000 }).toBe(1);
  const { rows } = await pool.query<{ id: string }>(
    `UPDATE pinned_execution SET fence = fence + 1, lease_owner = 'another' WHERE status = 'running'
       AND project_id = (SELECT project_id FROM credential_binding JOIN credential ON credential.id = credential_id WHERE base_url = $1)
     RETURNING id`,
    [url],
  );
  say();
  await posting;
  const { rows: left } = await pool.query(
    `SELECT status, (SELECT count(*)::int FROM pinned_record WHERE pinned_id = pin.id) AS records
     FROM pinned_execution pin WHERE id = $1`,
    [rows[0]?.id],
  );
  expect(left).toEqual([{ status: "running", records: 0 }]);
});

const answerOf = () => {
  const body = JSON.stringify(response());
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

test("a refusal shows the provider's reply without the key, its record does not contain the reply, and private work hides the message", async () => {
  const name = "repeats the key in an error";
  const project = await projectAt(await server.open(`${name}, shown`, SCRIPTS[name]));
  const { details, record } = await post(project);
  expect(details).toMatchObject({
    provider: { status: 400, code: null, message: "Not good: Bearer [redacted]" },
  });
  expect(record).not.toHaveProperty("provider");
  const { details: again } = await post(project, { context: { dataClassification: "Manuscript" } });
  expect(again).toMatchObject({ provider: { status: 400, code: null } });
  expect(JSON.stringify(again)).not.toContain("Not good");
});

test("a provider that never has capacity leads to an error with a retry delay", async () => {
  const project = await projectAt(await server.open("full, shown", SCRIPTS["429 ten times"]));
  const { http, details } = await post(project, { limits: { admissionDeadlineSeconds: 0 } });
  expect(http).toBe(503);
  expect(details).toMatchObject({
    retryAfterSeconds: 1,
    provider: { status: 429, code: "rate_limit_exceeded", message: "As was asked for." },
  });
});

/**
 * Makes the statement that begins a submission fail this often, as it does while PostgreSQL restarts.
 * `isFirstWritten`: the first one is written before it fails.
 */
function refuseBegin(times: number, isFirstWritten = false) {
  const query = pool.query.bind(pool);
  let refused = 0;
  vi.spyOn(pool, "query").mockImplementation((async (asked: { name?: string }, ...rest: unknown[]) => {
    const isBegin = asked?.name?.startsWith("pin-begin");
    if (!isBegin || refused++ >= times) return query(asked as never, ...(rest as []));
    if (isFirstWritten && refused === 1) await query(asked as never);
    throw Object.assign(new Error("terminating connection"), { code: "57P01" });
  }) as never);
}

test("a database outage before anything is sent is waited out, and the request is sent once", async () => {
  const project = await projectAt(await server.open("begun late", says(answerOf)));
  refuseBegin(3);
  const { http, record } = await post(project);
  expect(http).toBe(200);
  expect(record).toMatchObject({ status: "succeeded", holdState: "settled" });
  expect(record.attempts).toHaveLength(1);
  expect(server.arrived("begun late")).toHaveLength(1);
});

test("a lasting database outage before anything is sent ends the execution as unsent, without a charge", async () => {
  const project = await projectAt(await server.open("never begun", says(answerOf)));
  refuseBegin(Number.POSITIVE_INFINITY);
  const { http, record } = await post(project);
  expect([http, record.error?.code, record.providerSubmission]).toEqual([
    503,
    "ProviderUnavailable",
    "not_attempted",
  ]);
  expect(record).toMatchObject({ safelyRetryable: true, holdState: "released", attempts: [] });
  expect(server.arrived("never begun")).toHaveLength(0);
});

test("a submission whose beginning the database did not confirm ends with its execution", async () => {
  const project = await projectAt(await server.open("begun unheard", says(answerOf)));
  refuseBegin(Number.POSITIVE_INFINITY, true);
  const { http, record } = await post(project);
  expect([http, record.error?.code, record.holdState]).toEqual([503, "ProviderUnavailable", "released"]);
  const { rows } = await pool.query(
    "SELECT submission, ended_at IS NOT NULL AS ended FROM pinned_attempt WHERE pinned_id = $1",
    [record.pinnedId],
  );
  expect(rows).toEqual([{ submission: "not_attempted", ended: true }]);
  expect(server.arrived("begun unheard")).toHaveLength(0);
});
