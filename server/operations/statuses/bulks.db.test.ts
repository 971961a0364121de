import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { type Call, makeTenant } from "@/testing/api";
import { inlineStep, testClock } from "@/testing/world";
import { type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { BULK, BULKS, get, openTenant, PIN, PINNED, post, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A bulk that was canceled before it ran. */
let bulk: string;
beforeAll(async () => {
  bulk = (await tenant.post(BULKS, BULK)).json.bulkId;
  expect((await tenant.post(`${BULKS}/${bulk}/cancel`)).json.status).toBe("failed");
}, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  const target = path.replace("{bulk_id}", bulk);
  return path === BULKS ? { method, target, body: BULK } : { method, target };
}

everyEndpoint("bulks", { sample });

describe("bulks of pinned executions", () => {
  const submit = (wanted: ExpectedStatus, more: object = {}, options: Call = {}) =>
    post(wanted, BULKS, { ...BULK, ...more }, options);
  const run = async (bulkId: string) => {
    const clock = testClock();
    await pins.runBulk(systemCtx("test", clock.now), bulkId, inlineStep(clock));
  };
  const items = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `${n}`, input: "Hm?" }));

  test("submit returns 200 with the bulk and its items, in pages above a thousand", async () => {
    const { json } = await submit(200, { items: items(1_001) });
    expect(json).toMatchObject({ status: "accepted", nextAction: "poll", pollAfterSeconds: 4 });
    expect(json.items).toHaveLength(1_000);
    const { json: rest } = await get(200, `${BULKS}/${json.bulkId}?cursor=${json.nextCursor}`);
    expect(rest).toMatchObject({ items: [{ id: "1000", status: "queued" }], nextCursor: null });
    await post(200, `${BULKS}/${json.bulkId}/cancel`);
  });

  test("submit returns 422 for an invalid bulk, with the field", async () => {
    for (const [more, loc] of [
      [{ items: items(10_001) }, ["body", "items"]],
      [{ items: [] }, ["body", "items"]],
      [{ items: [...items(2), { id: "0", input: "again" }] }, ["body", "items", 2, "id"]],
      [{ concurrency: 65 }, ["body", "concurrency"]],
      [{ concurrency: 0 }, ["body", "concurrency"]],
      [{ pin: { ...PIN.pin, model: "nothing" } }, ["body", "pin", "model"]],
    ] as const) {
      const { json } = await submit([422, "list"], more);
      expect(json.detail[0].loc).toEqual(loc);
    }
    await submit([422, "UNKNOWN_EXECUTION_FIELD"], { itmes: [] });
    await submit([422, "UNKNOWN_EXECUTION_FIELD"], { execution: { quoteId: "q" } });
    await submit([422, "CONFLICTING_EXECUTION_CONSTRAINT"], {
      timeoutSeconds: 60,
      limits: { timeoutSeconds: 61 },
    });
    await submit([422, "PROJECT_REQUIRED"], {}, { key: tenant.unboundKey });
    const { json } = await submit([422, "PromptTooLong"], {
      items: [...items(1), { id: "long", input: "x".repeat(1_000_000) }],
    });
    expect(json.detail.field).toBe("items[1].input");
  });

  test("submit returns 501, 409, 402 and 400 as for a single pin", async () => {
    await submit([501, "MANAGED_PINNED_UNAVAILABLE"], { billingMode: "managed" });
    await submit([409, "CONNECTION_REQUIRED"], {
      pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" },
    });
    await submit([402, "BudgetExceeded"], { execution: { maxCostUsd: 0.000001 } });
    const strict = await makeTenant();
    await pool.query("UPDATE project SET approval_threshold_micros = 1 WHERE id = $1", [strict.projectId]);
    await submit([400, "PolicyRejected"], {}, { key: strict.key });
  });

  test("submit returns 400 for items that together may cost more than the threshold, and stores nothing", async () => {
    const strict = await makeTenant();
    const { key, projectId } = strict;
    const threshold = (micros: number) =>
      pool.query("UPDATE project SET approval_threshold_micros = $2 WHERE id = $1", [projectId, micros]);
    const accepted = { items: items(2), idempotencyKey: "accepted" };
    const { json: first } = await submit(200, accepted, { key });
    const { rows } = await pool.query<{ micros: number }>(
      "SELECT estimated_micros AS micros FROM pinned_execution WHERE bulk_id = $1",
      [first.bulkId],
    );
    const one = rows[0]!.micros;
    await threshold(3 * one - 1);
    const { json } = await submit([400, "PolicyRejected"], { items: items(3) }, { key });
    expect(json.detail.details).toEqual({
      field: "items",
      estimated: (3 * one) / 1e6,
      threshold: (3 * one - 1) / 1e6,
      items: 3,
    });
    const { rows: stored } = await pool.query("SELECT id FROM pinned_bulk WHERE project_id = $1", [
      projectId,
    ]);
    expect(stored).toEqual([{ id: first.bulkId }]);
    await threshold(3 * one);
    await submit(200, { items: items(3) }, { key });
    await threshold(one - 1);
    expect((await submit(200, accepted, { key })).json.bulkId).toBe(first.bulkId);
    const { json: single } = await submit([400, "PolicyRejected"], { items: items(1) }, { key });
    expect(single.detail.details).toMatchObject({ field: "items", items: 1 });
    const { json: pin } = await post([400, "PolicyRejected"], PINNED, PIN, { key });
    expect(pin.detail.details).toMatchObject({
      field: "sampling.maxOutputTokens",
      threshold: (one - 1) / 1e6,
    });
  });

  test("submit returns 409 for another bulk under the same key, and 200 for the same", async () => {
    const { json: first } = await submit(200, { idempotencyKey: "bulk-1" });
    const { json } = await submit([409, "IdempotencyConflict"], { idempotencyKey: "bulk-1", concurrency: 9 });
    expect(json.detail.details).toEqual({ jobId: first.bulkId });
    const again = await submit(200, {}, { headers: { "idempotency-key": "bulk-1" } });
    expect(again.json).toEqual(first);
    await submit([422, "list"], { idempotencyKey: "bulk-1" }, { headers: { "idempotency-key": "bulk-2" } });
  });

  test("reads filter by status; an invalid page is 422, an unknown bulk 404", async () => {
    const { json } = await get(200, `${BULKS}/${bulk}?status=canceled&limit=1`);
    expect(json).toMatchObject({ counts: { canceled: 2 }, items: [{ id: "one" }], nextCursor: "1" });
    for (const query of ["limit=0", "limit=1001", "cursor=x", "status=done"])
      await get([422, "list"], `${BULKS}/${bulk}?${query}`);
    await get([404, "NotFound"], `${BULKS}/${newId("bulk")}`);
  });

  test("cancel returns 200, and 200 again; 409 after another end; 404 for an unknown bulk", async () => {
    const { json } = await submit(200);
    const first = await post(200, `${BULKS}/${json.bulkId}/cancel`);
    expect(first.json).toMatchObject({ status: "failed", nextAction: "stop", counts: { canceled: 2 } });
    expect((await post(200, `${BULKS}/${json.bulkId}/cancel`)).json).toEqual(first.json);
    const { json: other } = await submit(200);
    await run(other.bulkId);
    const refused = await post([409, "JobNotCancelable"], `${BULKS}/${other.bulkId}/cancel`);
    expect(refused.json.detail.details).toEqual({ status: "succeeded" });
    await post([404, "NotFound"], `${BULKS}/${newId("bulk")}/cancel`);
  });

  test("cancel returns 403 if the plan lacks the feature to cancel", async () => {
    const { json: running } = await submit(200);
    const features = (settings: object) =>
      pool.query("UPDATE organization SET settings = $2 WHERE id = $1", [tenant.organizationId, settings]);
    await features({ features: { cancel: false } });
    const { json } = await post([403, "CapabilityNotAllowed"], `${BULKS}/${running.bulkId}/cancel`);
    expect(json.detail.details).toEqual({ feature: "cancel", plan: "self-hosted" });
    await features({});
    await post(200, `${BULKS}/${running.bulkId}/cancel`);
  });

  test("retry returns 200 with a new bulk, and 409 if nothing can be retried or while the bulk runs", async () => {
    const { json } = await submit(200, { pin: { ...PIN.pin, model: "sandbox-refuse" } });
    const again = `${BULKS}/${json.bulkId}/retry`;
    await post([409, "RetryNotSafe"], again);
    await run(json.bulkId);
    const { json: retry } = await post(200, again);
    expect(retry).toMatchObject({ retryOf: json.bulkId, itemCount: 2, status: "accepted" });
    expect((await post(200, again)).json).toEqual(retry);
    const key = { headers: { "idempotency-key": "bulk-again" } };
    expect((await post(200, again, undefined, key)).json.bulkId).not.toBe(retry.bulkId);
    await post([409, "IdempotencyConflict"], `${BULKS}/${bulk}/retry`, undefined, key);
    await post([422, "list"], again, undefined, { headers: { "idempotency-key": "k".repeat(256) } });
    await post([404, "NotFound"], `${BULKS}/${newId("bulk")}/retry`);
  });

  test("retry is refused by a threshold or limit that was set since, and once the content is removed", async () => {
    const one = await makeTenant();
    const { json } = await submit(200, {}, { key: one.key });
    await post(200, `${BULKS}/${json.bulkId}/cancel`, undefined, { key: one.key });
    const refused = (wanted: ExpectedStatus) =>
      post(wanted, `${BULKS}/${json.bulkId}/retry`, undefined, { key: one.key });
    const change = async (table: "project" | "organization", set: string) => {
      const id = table === "project" ? one.projectId : one.organizationId;
      await pool.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id]);
    };
    await change("project", "approval_threshold_micros = 1");
    await refused([400, "PolicyRejected"]);
    await change("project", "approval_threshold_micros = NULL");
    await change("organization", `settings = '{"guardrails": {"perExecutionMicros": 1}}'`);
    await refused([402, "BudgetExceeded"]);
    await change("organization", "settings = '{}'");
    await pool.query("UPDATE payload SET content = NULL WHERE bulk_id = $1", [json.bulkId]);
    await refused([410, "PayloadUnavailable"]);
  });
});

everyStatusHasACase("bulks");
