import { expect } from "vitest";
import * as budgets from "@/server/domain/budgets";
import * as connections from "@/server/domain/connections";
import { systemCtx } from "@/server/domain/ctx";
import { serviceFee } from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import { tagOf } from "@/server/providers/maker-tag";
import { verifyText } from "@/server/verify";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { COMPATIBLE_MODELS } from "./cases";
import type { Form, Seen } from "./forms";
import type { MadeCase } from "./made";
import type { SeenMade } from "./made-forms";
import type { Expected, UpstreamCase } from "./upstream";

/* Checks how each case ends: for its caller, in the ledger and in the receipt. */

export type World = { own: Tenant; managed: Tenant };
type Account = keyof World;

const system = systemCtx("test");

/** A tenant with its own connections to the server, and one that uses the operator's. */
export async function makeWorld(url: string): Promise<World> {
  setSettings({
    ALLOW_PRIVATE_ADDRESSES: true,
    OPENAI_COMPATIBLE_BASE_URL: url,
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: "sk-1",
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-1",
    GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "sk-1",
    FAL_BASE_URL: url,
    FAL_API_KEY: "sk-1",
    REPLICATE_BASE_URL: url,
    REPLICATE_API_TOKEN: "sk-1",
    MESHY_BASE_URL: url,
    MESHY_API_KEY: "sk-1",
    ELEVENLABS_BASE_URL: url,
    ELEVENLABS_API_KEY: "sk-1",
  });
  const [own, managed] = [await makeTenant(), await makeTenant()];
  const places = [{ projectId: own.projectId, environment: "development" }];
  for (const provider of ["openai", "anthropic", "google", "fal", "replicate", "meshy", "elevenlabs"])
    await connections.createCredential(
      system,
      own.organizationId,
      { provider, secret: "sk-own-123456", label: provider },
      { places, alongside: async () => {} },
    );
  await connections.createCredential(
    system,
    own.organizationId,
    {
      provider: "openai-compatible",
      secret: "sk-own-123456",
      label: "own",
      endpointUrl: url,
      models: COMPATIBLE_MODELS,
    },
    {
      places,
      alongside: (client, credential) =>
        budgets.writeConnectionGuardrails(system, client, credential, { dailyMicros: 1_000_000_000 }),
    },
  );
  return { own, managed };
}

function expectedOf(played: UpstreamCase, form: Form, account: Account): Expected {
  const expected = {
    ...((form.isStream && played.ofStream) || played.expect),
    ...(form.isEnvelope ? played.ofEnvelope : {}),
    ...(account === "managed" ? played.managed : {}),
    ...(form.isObject && played.request?.response_format ? played.object : {}),
    ...(form.name === "pinned" ? played.pinned : {}),
    ...(form.name === "job" ? played.job : {}),
  };
  const isCutOff = expected.finish === "length" && form.isEnvelope;
  return isCutOff ? { ...expected, fails: "OutputLimitReached" } : expected;
}

/** The row of an execution of any kind. */
export async function rowOf(executionId: string) {
  const { rows } = await pool.query(
    `SELECT x.status, x.actual_micros, x.fee_bps, h.state, h.amount_micros, h.settled_micros,
       coalesce((SELECT a.submission FROM attempt a WHERE a.job_id = x.id ORDER BY a.number DESC LIMIT 1),
         (SELECT a.submission FROM pinned_attempt a WHERE a.pinned_id = x.id ORDER BY a.number DESC LIMIT 1)) AS submission,
       coalesce((SELECT j.error_code FROM job j WHERE j.id = x.id), (SELECT p.error_code FROM pinned_execution p WHERE p.id = x.id)) AS code
     FROM execution x LEFT JOIN hold h ON h.execution_id = x.id WHERE x.id = $1`,
    [executionId],
  );
  expect(rows, `no execution ${executionId}`).toHaveLength(1);
  return rows[0];
}

/** One row with the sum of an execution's ledger entries; no row if they add up to zero. */
export const unbalanced = async (executionId: string) =>
  (
    await pool.query<{ sum: string }>(
      "SELECT sum(amount_micros) AS sum FROM ledger_entry WHERE job_id = $1 OR hold_id = capstan_hold_id($1) HAVING sum(amount_micros) <> 0",
      [executionId],
    )
  ).rows;

/** Asserts the whole expected end of a case. */
export async function expectEnd(
  seen: Seen,
  played: UpstreamCase,
  { form, account, tenant }: { form: Form; account: Account; tenant: Tenant },
): Promise<void> {
  const expected = expectedOf(played, form, account);
  const row = await expectState(seen.executionId, expected);
  expectSeen(seen, expected, account);
  expectCharged(row, expected, account);
  if (form.name !== "pinned") await expectRecord(seen.executionId, expected, tenant);
}

/** Asserts what a case expects of the last request that its server received. */
export function expectSent(
  body: unknown,
  played: UpstreamCase,
  { form, account }: { form: Form; account: Account },
): void {
  const { like = {}, has = [], lacks = [] } = expectedOf(played, form, account).sent ?? {};
  expect(body).toMatchObject(like);
  const members = Object.keys(body as object); // the body of a request is an object
  expect(members).toEqual(expect.arrayContaining([...has]));
  expect(members.filter((each) => lacks.includes(each))).toEqual([]);
}

/** Asserts the expected end of a case that returns no text. */
export async function expectMade(
  seen: SeenMade,
  played: MadeCase,
  { account, tenant }: { account: Account; tenant: Tenant },
): Promise<void> {
  const expected = { ...played.expect, ...(account === "managed" ? played.managed : {}) };
  const row = await expectState(seen.executionId, expected);
  expectSeen({ ...seen, text: null, calls: null, finish: null }, expected, account);
  const { vectors, files, mediaType } = expected;
  if (vectors) expect(seen.vectors).toEqual(vectors);
  if (files !== undefined) expect(seen.files).toHaveLength(files);
  if (mediaType) expect(new Set(seen.files)).toEqual(new Set([mediaType]));
  expectCharged(row, expected, account);
  await expectRecord(seen.executionId, expected, tenant);
}

/** Checks the row of an execution: error, submission and hold are as expected, and its ledger entries balance. */
async function expectState(
  executionId: string,
  { fails, submission = "attempted", hold = "settled" }: Expected,
) {
  const row = await rowOf(executionId);
  expect({ code: row.code, submission: row.submission, hold: row.state }).toEqual({
    code: fails ?? null,
    submission,
    hold,
  });
  expect(await unbalanced(executionId)).toEqual([]);
  return row;
}

function expectSeen(
  seen: Seen,
  { text, isRefusal = false, calls, opaque, finish, fails, status, said }: Expected,
  account: Account,
): void {
  if (seen.refusal !== undefined && !fails) {
    // OpenAI's interfaces have a member for a refusal, and then no text.
    expect(seen.refusal).toBe(isRefusal ? text : null);
    if (isRefusal) expect(seen.text).toBe("");
  }
  expect(seen.code).toBe(fails ?? null);
  if (seen.status !== null && (status !== undefined || !fails)) expect(seen.status).toBe(status ?? 200);
  const isElsewhere = isRefusal && seen.refusal !== undefined;
  if (text !== undefined && seen.text !== null && !isElsewhere) expect(seen.text).toBe(text);
  if (calls && seen.calls && !fails) {
    // Ids of answers with opaque members end with our tag; the case has the server's own ids.
    expect(seen.calls.map((call) => ({ ...call, id: tagOf(call.id ?? "")?.id ?? call.id }))).toMatchObject(
      calls,
    );
    const ids = seen.calls.flatMap(({ id }) => id || []);
    expect(new Set(ids).size, "no two calls share an id").toBe(ids.length);
  }
  if (opaque && seen.opaque && !fails) expect(seen.opaque).toEqual(opaque);
  if (finish && seen.finish !== null) expect(seen.finish).toBe(finish);
  if (said && seen.said && account === "own") expect(seen.said).toEqual(said);
}

function expectCharged(row: Awaited<ReturnType<typeof rowOf>>, expected: Expected, account: Account): void {
  const { cost, atLeast, chargesHold = false, exceedsHold = false, hold = "settled" } = expected;
  const { settled_micros: charged, amount_micros: held, actual_micros: actual, fee_bps: bps } = row;
  if (cost !== undefined) expect(actual, "the provider's cost").toBe(cost);
  if (atLeast !== undefined) expect(actual, "the estimate counts all output").toBeGreaterThanOrEqual(atLeast);
  if (hold !== "settled") return;
  if (account === "managed") expect(charged, "charged at most the hold").toBeLessThanOrEqual(held);
  if (chargesHold && account === "managed") expect(charged).toBe(held);
  else if (actual !== null) {
    const due = actual + serviceFee(actual, bps);
    expect(charged).toBe(exceedsHold && account === "managed" ? Math.min(due, held) : due);
  }
  // Nothing was produced if the provider's cost is known to be zero.
  if (cost !== 0) expect(charged, "a settled answer is never free").toBeGreaterThan(0);
}

/**
 * Checks that the receipt verifies, and that the job reports an unknown finish reason and whether a retry under a new key is
 * safe.
 */
async function expectRecord(
  executionId: string,
  { isSafe = false, fails, isEstimated, reportedMicros, unknownFinish, retryAfterSeconds }: Expected,
  tenant: Tenant,
): Promise<void> {
  const { text, json } = await tenant.get(`/v1/jobs/${executionId}/receipt`);
  const keys = await call("GET", "/.well-known/jwks.json");
  const { verified, checks } = await verifyText(text, keys.json);
  expect(verified, JSON.stringify(checks)).toBe(true);
  const { providerCost, providerReportedCostMicros } = json.pricing;
  if (isEstimated) expect(providerCost).toMatchObject({ basis: "estimated" });
  if (reportedMicros !== undefined) expect(providerReportedCostMicros).toBe(reportedMicros);
  const job = await tenant.get(`/v1/jobs/${executionId}`);
  const unknown = job.json.warnings.filter(({ code }: { code: string }) => code === "UnknownFinishReason");
  expect(unknown.map(({ details }: { details: object }) => details)).toEqual(
    unknownFinish === undefined ? [] : [{ finishReason: unknownFinish }],
  );
  if (retryAfterSeconds !== undefined) expect(job.json.error.details).toMatchObject({ retryAfterSeconds });
  if (fails) expect(job.json.retry).toMatchObject({ newKeySafe: isSafe });
}
