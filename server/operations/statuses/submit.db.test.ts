import { beforeAll, describe, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { makeTenant } from "@/testing/api";
import { COMPARED, COMPARISONS } from "@/testing/comparisons";
import { copyJob } from "@/testing/world";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { refusesWhatCannotBePlanned } from "./refusals.fixture";
import {
  at,
  get,
  IMAGE,
  input,
  JSON_TEXT,
  MATH,
  openTenant,
  post,
  say,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

everyEndpoint("submit", {
  sample: ({ method, path }) => ({
    method,
    target: path.replace("{capability_key}", TEXT),
    body: { input },
  }),
});

refusesWhatCannotBePlanned("jobs");

describe("submit", () => {
  test("a submitted job repeats the caller's values, and is read with the same members", async () => {
    const { json, headers } = await post(200, at(IMAGE, "jobs"), {
      input: { prompt: "A kite", variantCount: 2 },
      context: { productId: "shop" },
      externalRef: "order-1",
      tags: ["a"],
      metadata: { b: [1] },
      correlationId: "c",
      taskKind: "cover",
      idempotencyKey: "echo",
    });
    expect(headers["x-execution-id"]).toBe(json.jobId);
    expect(json).toMatchObject({
      status: "queued",
      capability: IMAGE,
      capabilityKey: IMAGE,
      projectId: tenant.projectId,
      productId: "shop",
      environment: "development",
      externalRef: "order-1",
      tags: ["a"],
      metadata: { b: [1] },
      correlationId: "c",
      taskKind: "cover",
      idempotencyKey: "echo",
      startedAt: null,
      completedAt: null,
      pricing: null,
      receiptId: null,
      artifacts: [],
      error: null,
      nextAction: "poll",
      pollAfterSeconds: 1,
      retry: { sameKey: true, newKeySafe: false },
      variantSet: { requestedCount: 2, completedCount: 0, failedCount: 0, selectedArtifactId: null },
      requestSnapshot: { capability: IMAGE, input: { prompt: "A kite", variantCount: 2 }, productId: "shop" },
    });
    const { idempotency: _, ...job } = json; // describes this request and not the job
    expect((await get(200, `/v1/jobs/${json.jobId}`)).json).toEqual(job);
  });

  test("the same key and request return the first job, and another request is a 409 that names the job", async () => {
    const body = { ...say("Once."), idempotencyKey: "one" };
    const first = await post(200, at(TEXT, "jobs"), body);
    expect((await post(200, at(TEXT, "jobs"), body)).json.jobId).toBe(first.json.jobId);
    const inHeader = { headers: { "idempotency-key": "one" } };
    expect((await post(200, at(TEXT, "jobs"), say("Once."), inHeader)).json.jobId).toBe(first.json.jobId);
    const refused = await post([409, "IdempotencyConflict"], at(TEXT, "jobs"), {
      ...say("Twice."),
      idempotencyKey: "one",
    });
    const { jobId } = first.json;
    expect(refused.json).toMatchObject({
      code: "IdempotencyConflict",
      jobId,
      detail: { details: { jobId } },
    });
    const two = { headers: { "idempotency-key": "two" } };
    const torn = await post([422, "list"], at(TEXT, "jobs"), body, two);
    expect(torn.json.detail[0].loc).toEqual(["body", "idempotencyKey"]);
  });

  test("200 concurrent submits with one key make one job", async () => {
    const body = { ...say("All at once."), idempotencyKey: "all at once" };
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(200, at(TEXT, "jobs"), body)));
    const ids = new Set(answers.map(({ json }) => json.jobId));
    expect(ids.size).toBe(1);
    const { rows } = await pool.query("SELECT id FROM job WHERE project_id = $1 AND idempotency_key = $2", [
      tenant.projectId,
      body.idempotencyKey,
    ]);
    expect(rows.map(({ id }) => id)).toEqual([...ids]);
  });

  test("a field that is null is the same as an absent one", async () => {
    const idempotencyKey = "with nulls";
    const first = await post(200, at(TEXT, "jobs"), { input, idempotencyKey });
    const nulls = {
      externalRef: null,
      execution: { billingMode: null, quoteId: null, executionConstraints: { preferredModel: null } },
      sampling: null,
      pin: null,
    };
    const again = await post(200, at(TEXT, "jobs"), { input, idempotencyKey, ...nulls });
    expect(again.json.jobId).toBe(first.json.jobId);
  });

  test("a capability without jobs is 400 with where it runs", async () => {
    const refused = await post([400, "USE_INVOKE"], at(MATH, "jobs"), { expression: "1" });
    expect(refused.json.details).toEqual({ invoke: `/v1/capabilities/${MATH}/invoke` });
  });

  test("a call may warn instead of refusing, and the job shows the warning", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), {
      input,
      execution: { executionConstraints: { maxCostUsd: 0.000001, budgetEnforcement: "warn" } },
    });
    expect(json.warnings).toEqual([
      expect.objectContaining({
        code: "BudgetExceeded",
        scope: "call",
        remaining: 0.000001,
        ceiling: 0.000001,
      }),
    ]);
    const { json: page } = await get(200, `/v1/jobs/${json.jobId}/events?type=job.budget_warning`);
    expect(page.events).toHaveLength(1);
    await post(200, at(TEXT, "jobs"), { input, maxCostUsd: 0.000001, budget: { enforcement: "off" } });
  });

  test("a missing stored input, reader delivery where it is unsupported, and too long a time limit are 422 at their fields", async () => {
    const missing = await post([422, "list"], at(TEXT, "jobs"), { input, inputPayloadRef: "pay_1" });
    expect(missing.json.detail[0]).toMatchObject({ loc: ["body", "inputPayloadRef"] });
    const readerDelivery = { boundary: "paragraph" };
    for (const [key, body] of [
      [TEXT, { input, responseSchema: { type: "object" } }],
      [TEXT, { input, toolSchemas: [{ name: "find" }] }],
      [JSON_TEXT, { input, responseSchema: { type: "object" } }],
      [IMAGE, { input: { prompt: "A kite" } }],
    ] as const) {
      const refused = await post([422, "list"], at(key, "jobs"), { ...body, readerDelivery });
      expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "readerDelivery"] });
    }
    await post(200, at(TEXT, "jobs"), { input, readerDelivery });
    const { json } = await post([422, "list"], at(TEXT, "jobs"), { input, maxDurationSeconds: 601 });
    expect(json.detail[0]).toMatchObject({
      loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
      type: "less_than_equal",
    });
  });

  test("an unknown file of a list is 422, at its index", async () => {
    const { json } = await post([422, "list"], at("model.generate.3d.v1", "jobs"), {
      input: { inputArtifactIds: [newId("artifact")] },
    });
    expect(json.detail[0]).toMatchObject({
      loc: ["body", "input", "inputArtifactIds", 0],
      type: "not_found",
    });
  });

  test("a project with ten thousand unfinished jobs is 429 for new ones, and replays those it has", async () => {
    const full = await makeTenant();
    const body = { ...say("First."), idempotencyKey: "first" };
    // Submitted earlier, because the count is cached for a second.
    const earlier = systemCtx("test", () => new Date(Date.now() - 5_000));
    const first = await jobs.submit(earlier, TEXT, { ...body, context: { projectId: full.projectId } });
    await copyJob(first.jobId, 10_000, { dispatch_state: "'none'" });
    const options = { key: full.key };
    const refused = await post([429, "DURABLE_CONCURRENCY_LIMIT"], at(TEXT, "jobs"), say("More."), options);
    expect(refused.json.details).toEqual({ current: 10_001, limit: 10_000, retryAfterSeconds: 1 });
    expect((await post(200, at(TEXT, "jobs"), body, options)).json.jobId).toBe(first.jobId);
    await post(200, `/v1/jobs/${first.jobId}/cancel`, undefined, options);
    await post([429, "DURABLE_CONCURRENCY_LIMIT"], `/v1/jobs/${first.jobId}/retry`, undefined, options);
    await post([429, "DURABLE_CONCURRENCY_LIMIT"], COMPARISONS, COMPARED, options);
    await pool.query(
      "UPDATE job SET status = 'canceled', completed_at = now() WHERE project_id = $1 AND completed_at IS NULL",
      [full.projectId],
    );
  });
});

everyStatusHasACase("submit");
