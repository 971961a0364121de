import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PinnedAnswer, PinnedRecord } from "@/server/contract/pinned";
import { pool } from "@/server/db";
import * as pins from "@/server/domain/pins";
import { Fault } from "@/server/errors";
import { receiptIdOf } from "@/server/ids";
import type { Json } from "@/server/step";
import { response, SCRIPTS, type ScriptName, says } from "@/testing/responses-server/scripts";
import { type ResponsesServer, startResponsesServer } from "@/testing/responses-server/server";
import { SECRET, vendorAsOpenAi } from "@/testing/vault";
import { type PatientProject, projectAt, TIMEOUT_MS } from "./testing/patience";

/*
 * Pinned executions against a server of the Responses protocol that fails in every way we know. Of each way: how it ends,
 * what is told to the caller, what became of the money, and how many submissions arrived.
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
    const { executionId } = error.details as { executionId: string }; // what every end has
    const record = await pins.get(ctx, receiptIdOf(executionId));
    return { http: error.row.status, answer: null, record, details: error.details };
  }
}

// ---- the table

type Row = {
  status: string;
  code: string | null;
  http: number;
  submission: string;
  attempts: number;
  capacity: number;
  retryable: boolean;
  hold: string;
  /** In micros; null: unknown. */
  cost: number | null;
  arrived: number;
};

const COST = 40 * 1 + 20 * 6;
const answered: Row = {
  status: "succeeded",
  code: null,
  http: 200,
  submission: "attempted",
  attempts: 1,
  capacity: 0,
  retryable: false,
  hold: "settled",
  cost: COST,
  arrived: 1,
};
/** It may have run: never sent again, and the money waits. */
const lost: Row = {
  ...answered,
  status: "ambiguous",
  code: "TRANSPORT_AMBIGUOUS",
  http: 502,
  submission: "ambiguous",
  hold: "ambiguous",
  cost: null,
};
/** A definite no. */
const refused: Row = {
  ...answered,
  status: "failed",
  code: "ProviderRejected",
  http: 502,
  retryable: true,
  hold: "released",
  cost: 0,
};
/** An answer that is none; what it cost nobody knows. */
const broken: Row = { ...answered, status: "failed", code: "PROVIDER_ERROR", http: 502, cost: null };
const brokenAt = (cost: number): Row => ({ ...broken, cost });
const empty: Row = { ...broken, code: "PROVIDER_EMPTY_OUTPUT", cost: COST };
/** Given up when the deadline of admission came: thirteen submissions fit into two minutes. */
const unavailable: Row = {
  ...refused,
  code: "ProviderUnavailable",
  http: 503,
  attempts: 13,
  capacity: 13,
  arrived: 13,
};
const unreached: Row = { ...unavailable, submission: "not_attempted", capacity: 0, arrived: 0 };
const after = (refusals: number, row: Row = answered): Row => ({
  ...row,
  attempts: refusals + 1,
  capacity: refusals,
  arrived: refusals + 1,
});

const TABLE: Record<ScriptName, Row> = {
  answers: answered,
  "accepts and closes": { ...lost, arrived: 0 },
  "speaks no HTTP": lost,
  "closes after the head of the request": lost,
  "reads half of the body and resets": lost,
  "reads everything and closes": lost,
  "reads everything and ends": lost,
  "reads everything and resets": lost,
  "reads everything and is silent": lost,
  "answers before the body is there": refused,
  "status line cut": lost,
  "headers cut": lost,
  "headers, then silence": lost,
  "headers, then the end": lost,
  "body cut after one byte": lost,
  "body cut in the middle": lost,
  "body cut before its last byte": lost,
  "body cut by a reset": lost,
  "half a body, then silence": lost,
  "chunks without an end": lost,
  "chunks, then silence": lost,
  "a chunk of no size": lost,
  "a length too long": lost,
  "a length too short": broken,
  "two lengths": lost,
  "another protocol": lost,
  "headers without an end": lost,
  "a body without an end": broken,
  chunks: answered,
  "no length, ended by closing": answered,
  "100 before the answer": lost,
  "100 twenty times": lost,
  "hints before the answer": answered,
  "dropped after the answer": answered,
  "two answers to one request": answered,
  "429 once": after(1),
  "429 twice": after(2),
  "429 three times": after(3),
  "429 ten times": after(10),
  "429 with retry-after": after(1),
  "429 for ever": unavailable,
  "429 cut in its body": unavailable,
  "503 overloaded once": after(1),
  "529 once": after(1),
  "429, then a reset": after(1, lost),
  "429, then 400": after(1, refused),
  "429 for want of credit": refused,
  "400": refused,
  "401": refused,
  "403": refused,
  "404": refused,
  "413": refused,
  "422": refused,
  "400 without JSON": refused,
  "400 cut in its body": refused,
  "500": broken,
  "502 in HTML": broken,
  "503 without a word": broken,
  "504": broken,
  "408": broken,
  "a redirect to a metadata address": broken,
  "307 to itself": broken,
  "a gzip bomb": broken,
  "204": broken,
  "an empty body": broken,
  "bad JSON": broken,
  "JSON that is null": broken,
  "JSON of another shape": broken,
  "no usage": broken,
  "no figures in the usage": broken,
  "usage below zero": broken,
  "no model": brokenAt(COST),
  "no id": broken,
  "status failed": brokenAt(COST),
  "status failed, nothing counted": broken,
  "status cancelled": brokenAt(COST),
  "repeats the key in an error": refused,
  "repeats the key in an answer": brokenAt(COST),
  "repeats the key as its id": brokenAt(COST),
  "empty text": empty,
  "reasoning and no text": empty,
  "a tool call": answered,
  "a refusal": answered,
  "cut by max_output_tokens": answered,
  "cut by a content filter": answered,
  "a large answer": answered,
  "usage above the hold": { ...answered, cost: 90_000_000 * 7 },
  "400 on flex": refused,
  "flex full once": { ...after(1), cost: COST / 2 },
  "flex served as flex": { ...answered, cost: COST / 2 },
  "flex served as default": answered,
};

const isFlex = (name: ScriptName) => name.includes("flex");
const isSilent = (name: ScriptName) => name.includes("silen");

test.each(Object.entries(TABLE) as [ScriptName, Row][])("%s", async (name, expected) => {
  const project = await projectAt(await server.open(name, SCRIPTS[name]));
  const posting = post(project, isFlex(name) ? { processing: "deferred" } : {});
  if (isSilent(name)) {
    await expect.poll(() => server.arrived(name).length, { interval: 5, timeout: 10_000 }).toBe(1);
    await new Promise((passed) => setTimeout(passed, 20)); // whatever is still said arrives
    project.pass(TIMEOUT_MS);
  }
  const { http, answer, record, details } = await posting;
  const arrived = server.arrived(name);
  const found = await moneyOf(record.pinnedId);
  expect({
    status: record.status,
    code: record.error?.code ?? null,
    http,
    submission: record.providerSubmission,
    attempts: record.attempts.length,
    capacity: record.capacityRejections,
    retryable: record.safelyRetryable,
    hold: record.holdState,
    cost: record.cost === null ? null : found.costMicros,
    arrived: arrived.length,
  }).toEqual(expected);

  // What the vendor saw is what the record says: one body, whose hash it has, under the execution's own name.
  expect(record.providerSubmissions).toBe(expected.attempts);
  expect(found.hold).toBe(expected.hold);
  for (const { attemptId, sha256 } of arrived) {
    expect(attemptId).toBe(record.pinnedId);
    if (sha256 !== null) expect(sha256).toBe(record.sentHash);
  }
  if (answer === null) {
    expect(details).toMatchObject({
      executionId: record.pinnedId,
      receiptId: record.receiptId,
      providerSubmission: expected.submission,
      safelyRetryable: expected.retryable,
    });
  } else {
    expect(answer.nativeResponse).toMatchObject({ id: "resp_0a1b2c" });
    expect(record.processingTier).toBe(
      record.cost !== null && expected.cost === COST / 2 ? "flex" : "standard",
    );
  }
  expect(JSON.stringify([record, answer, details])).not.toContain(SECRET.slice(0, 12));
});

async function moneyOf(pinnedId: string) {
  const { rows } = await pool.query(
    `SELECT pinned.actual_micros, hold.state FROM pinned_execution pinned
     LEFT JOIN hold ON hold.execution_id = pinned.id WHERE pinned.id = $1`,
    [pinnedId],
  );
  const [{ actual_micros, state }] = rows;
  return { costMicros: actual_micros === null ? null : Number(actual_micros), hold: state };
}

test("a closed door is knocked at until the deadline, or once where there is none", async () => {
  const project = await projectAt("http://127.0.0.1:1");
  const { http, record } = await post(project);
  expect([http, record.error?.code, record.providerSubmission]).toEqual([
    503,
    "ProviderUnavailable",
    "not_attempted",
  ]);
  expect(record).toMatchObject({ capacityRejections: 0, safelyRetryable: true, holdState: "released" });
  expect(record.attempts).toHaveLength(unreached.attempts);
  const once = await post(project, { limits: { admissionDeadlineSeconds: 0 } });
  expect(once.record.attempts).toHaveLength(1);
});

test("without a deadline of admission a full house is asked once", async () => {
  const project = await projectAt(await server.open("full, once", SCRIPTS["429 for ever"]));
  const { http, record } = await post(project, { limits: { admissionDeadlineSeconds: 0 } });
  expect([http, record.error?.code, record.capacityRejections]).toEqual([503, "ProviderUnavailable", 1]);
  expect(server.arrived("full, once")).toHaveLength(1);
});

test("waits between submissions are counted, and are no part of how long the vendor took", async () => {
  const project = await projectAt(await server.open("waits", SCRIPTS["429 with retry-after"]));
  const { record } = await post(project);
  expect(record).toMatchObject({ retryWaitMs: 2_000, providerExecutionMs: 0, wallClockMs: 2_000 });
});

test.each([301, 599])("an answer after %i seconds is an answer", async (seconds) => {
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

const answerOf = () => {
  const body = JSON.stringify(response());
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

test("a refusal tells once what the provider answered, without the key, and its record does not", async () => {
  const name = "repeats the key in an error";
  const project = await projectAt(await server.open(`${name}, told`, SCRIPTS[name]));
  const { details, record } = await post(project);
  expect(details).toMatchObject({
    provider: { status: 400, code: null, message: "Not good: Bearer [redacted]" },
  });
  expect(record).not.toHaveProperty("provider");
  const { details: again } = await post(project, { context: { dataClassification: "Manuscript" } });
  expect(again).toMatchObject({ provider: { status: 400, code: null } });
  expect(JSON.stringify(again)).not.toContain("Not good");
});

test("a provider that is full to the end says when to come again", async () => {
  const project = await projectAt(await server.open("full, told", SCRIPTS["429 ten times"]));
  const { http, details } = await post(project, { limits: { admissionDeadlineSeconds: 0 } });
  expect(http).toBe(503);
  expect(details).toMatchObject({
    retryAfterSeconds: 1,
    provider: { status: 429, code: "rate_limit_exceeded", message: "As was asked for." },
  });
});
