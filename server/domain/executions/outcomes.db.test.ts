import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { connectOpenAi, projectAt, TIMEOUT_MS } from "@/server/domain/pins/testing/patience";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { receiptIdOf } from "@/server/platform/ids";
import { SCRIPTS, type ScriptName } from "@/testing/responses-server/scripts";
import { type ResponsesServer, startResponsesServer } from "@/testing/responses-server/server";
import { SECRET, vendorAsOpenAi } from "@/testing/vault";
import { inlineStep, makeProject } from "@/testing/world";

/*
 * Every way in which a server of the Responses protocol answers or fails, run by a durable job, a synchronous
 * call and a pinned execution. Each case checks the end, the charge and the number of submissions that
 * arrived.
 */

const folder = mkdtempSync(join(tmpdir(), "outcomes-"));
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

type Row = {
  status: string;
  code: string | null;
  submission: string;
  /** True if the request may be sent again under a new key without running twice. */
  isSafe: boolean;
  hold: string;
  /** In micros; null if nothing is charged. */
  charged: number | "the hold" | "an estimate" | null;
  refusals: number | "many";
  arrived: number | "many";
};

const COST = 40 * 1 + 20 * 6;
const answered: Row = {
  status: "succeeded",
  code: null,
  submission: "attempted",
  isSafe: false,
  hold: "settled",
  charged: COST,
  refusals: 0,
  arrived: 1,
};
/** The request may have run, so it is never sent again and its money stays held. */
const lost: Row = {
  ...answered,
  status: "failed",
  code: "TRANSPORT_AMBIGUOUS",
  submission: "ambiguous",
  hold: "ambiguous",
  charged: null,
};
/** The provider refused the request, so nothing ran. */
const refused: Row = {
  ...answered,
  status: "failed",
  code: "ProviderRejected",
  isSafe: true,
  hold: "released",
  charged: null,
};
/** A complete answer that is not a result and reports no usage. */
const failed: Row = {
  ...answered,
  status: "failed",
  code: "PROVIDER_ERROR",
  hold: "released",
  charged: null,
};
/** A result that was charged although it cannot be used. */
const unusable = (code: string): Row => ({ ...answered, status: "failed", code });
const unavailable: Row = { ...refused, code: "ProviderUnavailable", refusals: "many", arrived: "many" };
const after = (refusals: number, row: Row = answered): Row => ({ ...row, refusals, arrived: refusals + 1 });

type Driver = "durable" | "invoke" | "pinned";
/** The outcome of all three drivers, with exceptions by driver. */
type Expected = Row & Partial<Record<Driver, Row>>;

/** A durable job requests the flex tier, and after a 400 it is sent once more on the standard tier. */
const refusedOnBothTiers: Expected = { ...refused, durable: { ...refused, arrived: 2 } };
/**
 * Pins need every piece of evidence. A job needs less, and its usage is estimated on the customer's own
 * account.
 */
const lacksUsage: Expected = {
  ...answered,
  charged: "an estimate",
  pinned: { ...failed, hold: "settled", charged: "an estimate" },
};
const lacksEvidence: Expected = { ...answered, pinned: unusable("PROVIDER_ERROR") };
const failedWithUsage = unusable("PROVIDER_ERROR");

const TABLE: Record<ScriptName, Expected> = {
  answers: answered,
  "accepts and closes": { ...lost, arrived: 0 },
  "speaks no HTTP": lost,
  "closes after the head of the request": lost,
  "reads half of the body and resets": lost,
  "reads everything and closes": lost,
  "reads everything and ends": lost,
  "reads everything and resets": lost,
  "reads everything and is silent": lost,
  "answers before the body is there": refusedOnBothTiers,
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
  "a length too short": failed,
  "two lengths": lost,
  "another protocol": lost,
  "headers without an end": lost,
  "a body without an end": failed,
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
  "429 ten times": { ...after(10), invoke: unavailable },
  "429 with retry-after": after(1),
  "429 for ever": unavailable,
  "429 cut in its body": unavailable,
  "503 overloaded once": after(1),
  "529 once": after(1),
  "429, then a reset": after(1, lost),
  "429, then 400": { ...after(1, refused), durable: { ...refused, refusals: 1, arrived: 3 } },
  "429 for want of credit": refused,
  "400": refusedOnBothTiers,
  "401": refused,
  "403": refused,
  "404": refused,
  "413": refused,
  "422": refused,
  "400 without JSON": refusedOnBothTiers,
  "400 cut in its body": refusedOnBothTiers,
  "500": failed,
  "502 in HTML": failed,
  "503 without a word": failed,
  "504": failed,
  "408": failed,
  "a redirect to a metadata address": refused,
  "307 to itself": refused,
  "a gzip bomb": failed,
  "204": failed,
  "an empty body": failed,
  "bad JSON": failed,
  "JSON that is null": failed,
  "JSON of another shape": failed,
  "no usage": lacksUsage,
  "no figures in the usage": lacksUsage,
  "usage below zero": lacksUsage,
  "no model": lacksEvidence,
  "no id": failed,
  "status failed": failedWithUsage,
  "status failed, nothing counted": failed,
  "status cancelled": failedWithUsage,
  "repeats the key in an error": refusedOnBothTiers,
  "repeats the key in an answer": lacksEvidence,
  "repeats the key as its id": lacksEvidence,
  "empty text": unusable("PROVIDER_EMPTY_OUTPUT"),
  "reasoning and no text": unusable("PROVIDER_EMPTY_OUTPUT"),
  "a tool call": answered,
  "a refusal": answered,
  "cut by max_output_tokens": { ...unusable("OutputLimitReached"), pinned: answered },
  "cut by a content filter": { ...unusable("ProviderRejected"), pinned: answered },
  "a large answer": answered,
  "usage above the hold": { ...answered, charged: 90_000_000 * 7 },
  "400 on flex": {
    ...answered,
    durable: { ...answered, arrived: 2 },
    pinned: refused,
  },
  "flex full once": { ...after(1, { ...answered, charged: COST / 2 }) },
  "flex served as flex": { ...answered, charged: COST / 2 },
  "flex served as default": answered,
};

const isFlex = (name: ScriptName) => name.includes("flex");
const isSilent = (name: ScriptName) => name.includes("silen");
/** The outcome of jobs only: a pinned record has no separate code for a time limit. */
const timedOut: Row = { ...lost, code: "ExecutionTimeout", submission: "attempted" };

function expectedOf(name: ScriptName, driver: Driver): Row {
  const { durable, invoke, pinned, ...shared } = TABLE[name];
  const row = { durable, invoke, pinned }[driver] ?? shared;
  if (driver !== "pinned") return isSilent(name) ? timedOut : row;
  return row.hold === "ambiguous" ? { ...row, status: "ambiguous" } : row;
}

// ---- the drivers

const PROMPT = "Name a fish. ".repeat(500);
const CAPABILITY = "text.general.fast.v1";
const asJob = (name: ScriptName) => ({
  input: { messages: [{ role: "user", content: PROMPT }] },
  pin: { target: "openai/gpt-5.6-luna" },
  ...(isSilent(name) ? { maxDurationSeconds: 5 } : {}),
});

async function makeConnected(name: ScriptName, driver: Driver) {
  const project = await makeProject();
  const url = await server.open(`${name}, ${driver}`, SCRIPTS[name]);
  await connectOpenAi(project.organizationId, project.projectId, url);
  return project;
}

/** The id of an execution, from its answer or its error. */
const idOf = (answer: Promise<{ executionId: string }>): Promise<string> =>
  answer.then(
    ({ executionId }) => executionId,
    (cause) => {
      const { executionId } = cause instanceof Fault ? (cause.details as { executionId?: string }) : {};
      if (!executionId) throw cause;
      return executionId;
    },
  );

const DRIVERS = {
  async durable(name: ScriptName) {
    const { ctx, clock } = await makeConnected(name, "durable");
    const { jobId } = await jobs.submit(ctx, CAPABILITY, asJob(name));
    await jobs.run(ctx, jobId, inlineStep(clock));
    return ofJob(ctx, jobId);
  },
  async invoke(name: ScriptName) {
    const { ctx } = await makeConnected(name, "invoke");
    const isFull = expectedOf(name, "invoke").arrived === "many";
    const executionConstraints = { queueDeadlineSeconds: isFull ? 3 : 10 };
    const request = { ...asJob(name), execution: { executionConstraints } };
    return ofJob(ctx, await idOf(jobs.invoke(ctx, CAPABILITY, request)));
  },
  async pinned(name: ScriptName) {
    const key = `${name}, pinned`;
    const project = await projectAt(await server.open(key, SCRIPTS[name]));
    const request = {
      pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" },
      input: PROMPT,
      includeNativeResponse: true,
      ...(isFlex(name) ? { processing: "deferred" } : {}),
    };
    const posting = idOf(pins.run(project.ctx, request, undefined, project.clock));
    if (isSilent(name)) {
      await vi.waitFor(() => expect(server.arrived(key)).toHaveLength(1), { interval: 5, timeout: 10_000 });
      await new Promise((passed) => setTimeout(passed, 20)); // the rest of the response arrives
      project.pass(TIMEOUT_MS);
    }
    return ofPin(project.ctx, await posting, key);
  },
} satisfies Record<Driver, unknown>;

async function ofJob(ctx: Ctx, jobId: string) {
  const job = await jobs.get(ctx, jobId);
  const receipt = await jobs.receipt(ctx, jobId);
  return {
    status: job.status,
    code: job.error?.code ?? null,
    submission: job.diagnostics?.backendState,
    isSafe: job.retry?.newKeySafe,
    refusals: receipt.capacityRejections,
    ...(await moneyOf(jobId)),
  };
}

async function ofPin(ctx: Ctx, pinnedId: string, key: string) {
  const record = await pins.get(ctx, receiptIdOf(pinnedId));
  // The vendor received what the record shows: one body with the recorded hash, under the execution's own id.
  const arrived = server.arrived(key);
  expect(record.attempts).toHaveLength(record.providerSubmissions);
  for (const { attemptId, sha256 } of arrived) {
    expect(attemptId).toBe(pinnedId);
    if (sha256 !== null) expect(sha256).toBe(record.sentHash);
  }
  if (record.status === "succeeded") expect(record.nativeResponse).toMatchObject({ id: "resp_0a1b2c" });
  expect(JSON.stringify(record)).not.toContain(SECRET.slice(0, 12));
  const money = await moneyOf(pinnedId);
  expect(record.holdState).toBe(money.hold);
  return {
    status: record.status,
    code: record.error?.code ?? null,
    submission: record.providerSubmission,
    isSafe: record.safelyRetryable,
    refusals: record.capacityRejections,
    ...money,
  };
}

async function moneyOf(executionId: string) {
  const { rows } = await pool.query(
    `SELECT state, amount_micros, settled_micros,
       EXISTS (SELECT FROM attempt WHERE job_id = $1 AND answer ? 'estimated')
         OR EXISTS (SELECT FROM pinned_record WHERE pinned_id = $1 AND body::jsonb->>'costBasis' = 'estimated') AS is_estimated
     FROM hold WHERE execution_id = $1`,
    [executionId],
  );
  const [{ state, amount_micros, settled_micros, is_estimated }] = rows;
  if (is_estimated) {
    expect(settled_micros).toBeGreaterThan(0);
    expect(settled_micros).toBeLessThan(amount_micros);
  }
  const charged = is_estimated ? "an estimate" : settled_micros;
  return { hold: state, charged: settled_micros === amount_micros ? "the hold" : charged };
}

const cases = (Object.keys(TABLE) as ScriptName[]).flatMap((name) =>
  (["durable", "invoke", "pinned"] as const).map((driver) => [name, driver] as const),
);

test.concurrent.each(cases)(
  'the script "%s" ends a %s execution as the table says',
  { timeout: 60_000 },
  async (name, driver) => {
    const { refusals, ...found } = await DRIVERS[driver](name);
    const arrived = server.arrived(`${name}, ${driver}`).length;
    const expected = expectedOf(name, driver);
    const isMany = expected.arrived === "many";
    expect({
      ...found,
      refusals: expected.refusals === "many" && refusals === arrived ? "many" : refusals,
      arrived: isMany && arrived > 1 ? "many" : arrived,
    }).toEqual(expected);
  },
);

test("a call canceled before its answer arrives fails as Cancelled, its record is canceled, and its cost is charged", async () => {
  const { ctx, organizationId, projectId } = await makeProject();
  let say = () => {};
  const url = await server.open("canceled", {
    answer: (socket, request) => {
      say = () => SCRIPTS.answers.answer?.(socket, request);
    },
  });
  await connectOpenAi(organizationId, projectId, url);
  const answer = jobs.invoke(ctx, CAPABILITY, asJob("answers")).catch((cause) => cause);
  await expect.poll(() => server.arrived("canceled").length, { interval: 5, timeout: 10_000 }).toBe(1);
  const { rows } = await pool.query("SELECT id FROM job WHERE project_id = $1", [projectId]);
  const executionId: string = rows[0].id;
  expect(await jobs.cancel(ctx, executionId)).toMatchObject({ status: "canceling" });
  say();
  expect(await answer).toMatchObject({ code: "Cancelled", details: { executionId } });
  expect(await jobs.get(ctx, executionId)).toMatchObject({ status: "canceled" });
  expect(await moneyOf(executionId)).toEqual({ hold: "settled", charged: COST });
});
