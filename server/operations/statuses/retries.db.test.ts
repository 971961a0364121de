import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { finish } from "@/testing/api";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { at, get, input, MANIFESTS, MATH, openTenant, post, say, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A succeeded job, one that waits, and a canceled one. */
let done: string;
let queued: string;
let canceled: string;
beforeAll(async () => {
  done = (await finish((await tenant.post(at(TEXT, "jobs"), { input })).json.jobId)).jobId;
  queued = (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  canceled = (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  expect((await tenant.post(`/v1/jobs/${canceled}/cancel`)).json.status).toBe("canceled");
}, 60_000);

everyEndpoint("retries", {
  sample: ({ method, path }) => ({ method, target: path.replace("{job_id}", canceled) }),
});

describe("retry", () => {
  const retry = (jobId: string) => `/v1/jobs/${jobId}/retry`;
  const refusedJob = async () => {
    const { json } = await post(200, at(TEXT, "jobs"), {
      input,
      preferredModel: "sandbox-refuse",
      tags: ["mine"],
    });
    return (await finish(json.jobId)).jobId;
  };

  test("a retry is a new job of the same request under a new key, once, or once for each key that is named", async () => {
    const first = await refusedJob();
    const { json } = await post(200, retry(first));
    expect(json).toMatchObject({ retryOf: first, status: "queued", tags: ["mine"] });
    const original = (await get(200, `/v1/jobs/${first}/request`)).json;
    const again = (await get(200, `/v1/jobs/${json.jobId}/request`)).json;
    expect(again.request).toEqual(original.request);
    expect(again.requestHash).toBe(original.requestHash);
    expect(again.idempotencyKey).not.toBe(original.idempotencyKey);
    expect((await post(200, retry(first))).json.jobId).toBe(json.jobId);
    const headers = { "idempotency-key": "third-try" };
    const third = await post(200, retry(first), undefined, { headers });
    expect([first, json.jobId]).not.toContain(third.json.jobId);
    const taken = { "idempotency-key": original.idempotencyKey };
    expect((await post(200, retry(first), undefined, { headers: taken })).json.jobId).toBe(first);
  });

  test("a job that may have run is retried once its caller accepts a possible double charge", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input, preferredModel: "sandbox-lost" });
    await finish(json.jobId);
    const { json: refused } = await post([409, "RetryNotSafe"], retry(json.jobId), {
      acceptPossibleDuplicateCharge: false,
    });
    expect(refused.detail.message).toContain("acceptPossibleDuplicateCharge: true");
    const accepted = { acceptPossibleDuplicateCharge: true };
    const again = await post(200, retry(json.jobId), accepted);
    expect(again.json).toMatchObject({ retryOf: json.jobId, status: "queued" });
    expect((await post(200, retry(json.jobId), accepted)).json.jobId).toBe(again.json.jobId);
    for (const job of [done, queued]) await post([409, "RetryNotSafe"], retry(job), accepted);
  });

  test("a refused request is retried on another model, with one job for each model", async () => {
    const first = await refusedJob();
    const { error } = (await get(200, `/v1/jobs/${first}`)).json;
    expect(error.resolution).toContain("Another model may accept it.");
    const other = await post(200, retry(first), { model: "sandbox/sandbox-2" });
    expect(other.json).toMatchObject({
      retryOf: first,
      tags: ["mine"],
      diagnostics: { backendId: "sandbox/sandbox-2" },
    });
    expect((await post(200, retry(first), { model: "sandbox/sandbox-2" })).json.jobId).toBe(other.json.jobId);
    expect((await post(200, retry(first))).json.jobId).not.toBe(other.json.jobId);
    expect((await finish(other.json.jobId)).status).toBe("succeeded");
  });

  test("a retry is 409 if the job may have run, has not ended, or the key belongs to another request", async () => {
    await post([409, "RetryNotSafe"], retry(done));
    await post([409, "RetryNotSafe"], retry(queued));
    const { json } = await post(200, at(TEXT, "jobs"), { input, preferredModel: "sandbox-lost" });
    await finish(json.jobId);
    await post([409, "RetryNotSafe"], retry(json.jobId));
    const other = (await post(200, at(TEXT, "jobs"), say("Something else."))).json;
    const headers = { "idempotency-key": other.idempotencyKey };
    await post([409, "IdempotencyConflict"], retry(canceled), undefined, { headers });
  });

  test("a retry of an unjudged competitor is 409, and so is its receipt", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input });
    const { receiptId } = await finish(json.jobId);
    const comparisonId = newId("comparison");
    await pool.query("UPDATE job SET is_blind = true, comparison_id = $2 WHERE id = $1", [
      json.jobId,
      comparisonId,
    ]);
    for (const refused of [
      await post([409, "ComparisonUnjudged"], retry(json.jobId)),
      await get([409, "ComparisonUnjudged"], `/v1/jobs/${json.jobId}/receipt`),
      await post([409, "ComparisonUnjudged"], MANIFESTS, { label: "x", receiptIds: [receiptId] }),
    ])
      expect(refused.json.detail.details).toEqual({ comparisonId });
  });

  test("a retry is 409 without the route, 410 without the content, and 400 for a synchronous run", async () => {
    const rewrite = (jobId: string, content: string | null) =>
      pool.query("UPDATE payload SET content = $2 WHERE job_id = $1 AND kind = 'request'", [jobId, content]);
    const first = await refusedJob();
    const { request } = (await get(200, `/v1/jobs/${first}/request`)).json;
    const wanting = (preferredModel: string) => {
      const execution = { ...request.execution, executionConstraints: { preferredModel } };
      return JSON.stringify({ ...request, execution });
    };
    await rewrite(first, wanting("gone-1"));
    await post([409, "ROUTE_UNAVAILABLE"], retry(first));
    await rewrite(first, wanting("gpt-4.1-mini"));
    await post([409, "CONNECTION_REQUIRED"], retry(first));
    await rewrite(first, null);
    await post([410, "PayloadUnavailable"], retry(first));
    const { json } = await post([422, "division_by_zero"], at(MATH, "invoke"), { expression: "1 / 0" });
    await post([400, "USE_INVOKE"], retry(json.detail.executionId));
  });
});

everyStatusHasACase("retries");
