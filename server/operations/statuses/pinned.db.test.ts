import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { type Call, finish, makeTenant } from "@/testing/api";
import { type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, input, MANIFESTS, openTenant, PIN, PINNED, post, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

const LOCKFILE = "/v1/provenance/lockfile";
/** The id of a finished job. */
let done: string;
/** The receipt id of a pinned execution. */
let pinned: string;
/** The id of its manifest, and its lockfile. */
let manifest: string;
let lockfile: object;
beforeAll(async () => {
  done = (await finish((await tenant.post(at(TEXT, "jobs"), { input })).json.jobId)).jobId;
  pinned = (await tenant.post(PINNED, PIN)).json.receiptId;
  manifest = (await tenant.post(MANIFESTS, { label: "x", receiptIds: [pinned] })).json.manifestId;
  lockfile = (await tenant.get(`${LOCKFILE}?receipt_id=${pinned}`)).json;
}, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  const target = path.replace("{receipt_id}", pinned).replace("{manifest_id}", manifest);
  if (path === PINNED && method === "GET")
    return { method, target: `${target}?projectId=${tenant.projectId}` };
  if (path === PINNED) return { method, target, body: PIN };
  if (path === LOCKFILE) return { method, target: `${target}?receipt_id=${pinned}` };
  if (path === `${LOCKFILE}/verify`) return { method, target, body: lockfile };
  if (path === MANIFESTS) return { method, target, body: { label: "x", receiptIds: [pinned] } };
  return { method, target };
}

everyEndpoint("pinned", { sample });

describe("pinned executions", () => {
  const pin = (wanted: ExpectedStatus, more: object = {}, options: Call = {}) =>
    post(wanted, PINNED, { ...PIN, ...more }, options);
  const of = (model: string) => ({ pin: { ...PIN.pin, model } });

  test("run returns 200 with the record, and the execution's id in a header", async () => {
    const { json, headers } = await pin(200);
    expect(headers["x-execution-id"]).toBe(json.executionId);
    expect(json.result.receipt).toEqual(json.receipt);
    expect(json.receipt.receipt_id).toBe(json.receiptId);
    const { json: read } = await get(200, `${PINNED}/${json.receiptId}`);
    expect(read).toEqual(json.receipt);
  });

  test("run returns 501 for managed billing, wherever it is requested", async () => {
    await pin([501, "MANAGED_PINNED_UNAVAILABLE"], { billingMode: "managed" });
    await pin([501, "MANAGED_PINNED_UNAVAILABLE"], { execution: { billingMode: "managed" } });
    await pin(200, { billingMode: "byok" });
  });

  test("run returns 422 for an invalid pin, with the field", async () => {
    for (const [more, loc] of [
      [{ pin: { ...PIN.pin, provider: "unknown" } }, ["body", "pin", "provider"]],
      [{ pin: { ...PIN.pin, provider: "elevenlabs" } }, ["body", "pin", "provider"]],
      [{ pin: { ...PIN.pin, model: "nothing" } }, ["body", "pin", "model"]],
      [{ pin: { ...PIN.pin, model: "sandbox-image" } }, ["body", "pin", "model"]],
      [{ pin: { ...PIN.pin, api: "messages" } }, ["body", "pin", "api"]],
      [{ pin: { ...PIN.pin, api: "constructor" } }, ["body", "pin", "api"]],
      [{ pin: undefined }, ["body", "pin"]],
      [{ input: "" }, ["body", "input"]],
      [{ input: { text: "no" } }, ["body", "input"]],
      [{ isolation: "shared" }, ["body", "isolation"]],
      [{ includeNativeResponse: "yes" }, ["body", "includeNativeResponse"]],
      [{ limits: { timeoutSeconds: 29 } }, ["body", "limits", "timeoutSeconds"]],
      [{ limits: { timeoutSeconds: 601 } }, ["body", "limits", "timeoutSeconds"]],
      [{ timeoutSeconds: 29 }, ["body", "timeoutSeconds"]],
      [{ timeoutSeconds: 601 }, ["body", "timeoutSeconds"]],
      [{ limits: { admissionDeadlineSeconds: -1 } }, ["body", "limits", "admissionDeadlineSeconds"]],
      [{ limits: { admissionDeadlineSeconds: 1_801 } }, ["body", "limits", "admissionDeadlineSeconds"]],
      [{ sampling: { topK: 3 } }, ["body", "sampling", "topK"]],
      [{ idempotencyKey: "k".repeat(256) }, ["body", "idempotencyKey"]],
    ] as const) {
      const { json } = await pin([422, "list"], more);
      expect(json.detail[0].loc, JSON.stringify(more)).toEqual(loc);
    }
    for (const seconds of [30, 600]) await pin(200, { limits: { timeoutSeconds: seconds } });
    for (const seconds of [0, 1_800]) await pin(200, { limits: { admissionDeadlineSeconds: seconds } });
  });

  test("run returns 422 for an unknown field, with the nearest known one", async () => {
    for (const [more, path, didYouMean] of [
      [{ inputs: "x" }, "inputs", "input"],
      [{ model: "sandbox-1" }, "model", null],
      [{ sampling: { temprature: 1 } }, "sampling.temprature", "temperature"],
      [{ limits: { timeout: 60 } }, "limits.timeout", null],
      [{ execution: { quoteId: "q" } }, "execution.quoteId", null],
      [
        { execution: { executionConstraints: { maxCostUSD: 1 } } },
        "execution.executionConstraints.maxCostUSD",
        "maxCostUsd",
      ],
    ] as const) {
      const { json } = await pin([422, "UNKNOWN_EXECUTION_FIELD"], more);
      expect(json.detail).toMatchObject({ path, ...(didYouMean ? { didYouMean } : {}) });
    }
  });

  test("run returns 422 for a response format without a type, as a missing field", async () => {
    const { json } = await pin([422, "list"], { responseFormat: {} });
    expect(json.detail).toEqual([
      { loc: ["body", "responseFormat", "type"], msg: "Field required", type: "missing" },
    ]);
  });

  test("run returns 422 when two names of one limit differ", async () => {
    await pin([422, "CONFLICTING_EXECUTION_CONSTRAINT"], {
      timeoutSeconds: 60,
      limits: { timeoutSeconds: 61 },
    });
    await pin(200, { timeoutSeconds: 60, limits: { timeoutSeconds: 60 } });
  });

  test("run returns 422 for an unbound key that names no project", async () => {
    await pin([422, "PROJECT_REQUIRED"], {}, { key: tenant.unboundKey });
    await pin(200, { context: { projectId: tenant.projectId } }, { key: tenant.unboundKey });
  });

  test("run returns 409 without an account of the provider", async () => {
    const openai = { pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" } };
    const { json } = await pin([409, "CONNECTION_REQUIRED"], openai);
    expect(json.detail.details.connectUrl).toContain(tenant.projectId);
  });

  test("run returns 422 for more tokens than the model's window", async () => {
    const { json } = await pin([422, "PromptTooLong"], { input: "x".repeat(1_000_000) });
    expect(json.detail).toMatchObject({ field: "input", capabilityKey: "inference.pinned" });
  });

  test("run returns 400 if the project requires approval above a price", async () => {
    const strict = await makeTenant();
    await pool.query("UPDATE project SET approval_threshold_micros = 1 WHERE id = $1", [strict.projectId]);
    await pin([400, "PolicyRejected"], {}, { key: strict.key });
  });

  test("run returns 402 above the ceiling of the call, under the name that was sent", async () => {
    const least = { maxCostUsd: 0.000001 };
    for (const [more, field] of [
      [{ execution: least }, "execution.maxCostUsd"],
      [{ execution: { executionConstraints: least } }, "execution.executionConstraints.maxCostUsd"],
      [{ execution: { ...least, executionConstraints: least } }, "execution.executionConstraints.maxCostUsd"],
      [{ budget: { maximumEstimatedCost: least.maxCostUsd } }, "budget.maximumEstimatedCost"],
    ] as const) {
      const { json } = await pin([402, "BudgetExceeded"], more);
      expect(json.detail.details.field).toBe(field);
    }
  });

  test("run returns 409 for another request under the same key, and 200 for the same", async () => {
    const { json: first } = await pin(200, { idempotencyKey: "pin-1" });
    const { json } = await pin([409, "IdempotencyConflict"], { idempotencyKey: "pin-1", input: "Another." });
    expect(json).toMatchObject({ jobId: first.executionId });
    const again = await pin(200, {}, { headers: { "idempotency-key": "pin-1" } });
    expect(again.json).toEqual(first);
    await pin([422, "list"], { idempotencyKey: "pin-1" }, { headers: { "idempotency-key": "pin-2" } });
  });

  test.each([
    ["sandbox-refuse", 502, "ProviderRejected", "attempted", true],
    ["sandbox-fail", 502, "PROVIDER_ERROR", "attempted", false],
    ["sandbox-empty", 502, "PROVIDER_EMPTY_OUTPUT", "attempted", false],
    ["sandbox-lost", 502, "TRANSPORT_AMBIGUOUS", "ambiguous", false],
    ["sandbox-busy", 503, "ProviderUnavailable", "attempted", true],
  ] as const)(
    "run ends %s with %i %s, and its record is readable",
    async (model, status, code, providerSubmission, safelyRetryable) => {
      const once = { limits: { admissionDeadlineSeconds: 0 } };
      const { json, headers } = await pin([status, code], { ...of(model), ...once });
      const { details } = json.detail;
      expect(details).toMatchObject({ providerSubmission, safelyRetryable });
      expect(headers["x-execution-id"]).toBe(details.executionId);
      const { json: record } = await get(200, `${PINNED}/${details.receiptId}`);
      expect(record).toMatchObject({ providerSubmission, safelyRetryable, error: { code } });
    },
  );

  test("read returns 409 while the pin runs, and 404 for an unknown id or an id of another kind", async () => {
    const running = pin(200, of("sandbox-slow"));
    let receiptId: string | undefined;
    while (!receiptId) {
      const { rows } = await pool.query(
        "SELECT id FROM pinned_execution WHERE project_id = $1 AND status = 'running'",
        [tenant.projectId],
      );
      receiptId = rows[0] && `rcpt_${rows[0].id.slice(4)}`;
    }
    const { json } = await get([409, "JobNotFinished"], `${PINNED}/${receiptId}`);
    expect(json.detail.details).toEqual({ status: "running" });
    for (const id of [newId("receipt"), newId("pinned"), "bulks", "rcpt_"])
      await get([404, "NotFound"], `${PINNED}/${id}`);
    expect((await running).json.receiptId).toBe(receiptId);
    await get(200, `${PINNED}/${receiptId}`);
  });

  test("list is newest first, in pages, and 422 for a cursor of another list", async () => {
    const one = await makeTenant();
    const ids: string[] = [];
    for (const word of ["one", "two", "three"])
      ids.unshift((await pin(200, { input: word }, { key: one.key })).json.receiptId);
    const { json: first } = await get(200, `${PINNED}?limit=2`, { key: one.key });
    const { json: rest } = await get(200, `${PINNED}?limit=2&cursor=${first.nextCursor}`, { key: one.key });
    expect([...first.items, ...rest.items].map((item) => item.receipt_id)).toEqual(ids);
    expect(rest.nextCursor).toBeNull();
    for (const query of ["cursor=wfr_1", "limit=0", "limit=101"])
      await get([422, "list"], `${PINNED}?${query}`);
    await get([422, "PROJECT_REQUIRED"], PINNED, { key: tenant.unboundKey });
    await get([403, "AuthorizationFailed"], `${PINNED}?projectId=${one.projectId}`);
  });
});

describe("provenance", () => {
  test("manifests are 404 if unknown; 422 without a project, with two, and for unknown or repeated receipts", async () => {
    const none = `${MANIFESTS}/${newId("manifest")}`;
    await get([404, "NotFound"], none);
    await post([404, "NotFound"], `${none}/verify`);
    const body = { label: "x", receiptIds: [pinned] };
    await post([422, "PROJECT_REQUIRED"], MANIFESTS, body, { key: tenant.unboundKey });
    const two = { ...body, projectId: tenant.projectId, context: { projectId: tenant.otherProjectId } };
    await post([422, "CONFLICTING_EXECUTION_CONSTRAINT"], MANIFESTS, two);
    await post([403, "AuthorizationFailed"], MANIFESTS, { ...body, projectId: tenant.otherProjectId });
    for (const [receiptIds, place] of [
      [[pinned, newId("receipt")], 1],
      [[pinned, pinned], 1],
      [["x"], 0],
    ] as const) {
      const { json } = await post([422, "list"], MANIFESTS, { label: "x", receiptIds });
      expect(json.detail).toMatchObject([{ loc: ["body", "receiptIds", place] }]);
    }
    for (const wrong of [{}, { label: "x", receiptIds: [] }, { ...body, label: "" }, { ...body, more: 1 }])
      await post([422, "list"], MANIFESTS, wrong);
    const { json } = await post(200, `${MANIFESTS}/${manifest}/verify`);
    expect(json).toMatchObject({ verified: true, receiptsFound: 1 });
  });

  test("a lockfile is 404 for an unknown receipt, 422 for a job's receipt, and 409 while the pin runs", async () => {
    await get([404, "NotFound"], `${LOCKFILE}?receipt_id=${newId("receipt")}`);
    const { json } = await get([422, "list"], `${LOCKFILE}?receipt_id=rcpt_${done.slice(4)}`);
    expect(json.detail[0]).toMatchObject({ loc: ["query", "receipt_id"], type: "not_pinned" });
    await get([422, "list"], LOCKFILE);
    const slow = { ...PIN, pin: { ...PIN.pin, model: "sandbox-slow" }, input: "For a lockfile." };
    const running = post(200, PINNED, slow);
    let receiptId: string | undefined;
    while (!receiptId) {
      const { rows } = await pool.query(
        "SELECT id FROM pinned_execution WHERE project_id = $1 AND status = 'running'",
        [tenant.projectId],
      );
      receiptId = rows[0] && `rcpt_${rows[0].id.slice(4)}`;
    }
    await get([409, "JobNotFinished"], `${LOCKFILE}?receipt_id=${receiptId}`);
    await running;
  });

  test("a verification of a lockfile reports what was changed, and an invalid lockfile is 422", async () => {
    const changed = { ...lockfile, settings: { temperature: 2 } };
    const { json } = await post(200, `${LOCKFILE}/verify`, changed);
    expect(json.verified).toBe(false);
    expect(json.checks[2].detail).toContain("settings.temperature is 2");
    await post([422, "list"], `${LOCKFILE}/verify`, { ...lockfile, receiptId: newId("receipt") });
    const { json: nothing } = await post([422, "list"], `${LOCKFILE}/verify`, {});
    expect(nothing.detail.map(({ type }: { type: string }) => type)).toEqual(
      Object.keys(lockfile).map(() => "missing"),
    );
  });
});

everyStatusHasACase("pinned");
