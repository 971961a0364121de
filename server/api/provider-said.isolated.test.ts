import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { setSettings } from "@/testing/settings";

// The provider reads this when it loads.
vi.hoisted(() => {
  process.env.OPENAI_COMPATIBLE_MODELS = "managed:1000:2000";
});

import * as budgets from "@/server/domain/budgets";
import * as credentials from "@/server/domain/connections";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { appRouter } from "@/server/trpc";
import { startServer } from "@/server/web/server";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { makePerson } from "@/testing/tenants";

/* A provider's response to a failed request is shown by every endpoint, and only to callers who may see it. */

const TEXT = "text.general.fast.v1";
const KEY = "acme-9f8e7d6c5b4a3f2e1d0c";
const messages = [{ role: "user", content: "How deep is the sea?" }];
const invokePath = `/v1/capabilities/${TEXT}/invoke`;
const envelope = (model = "own", more: object = {}, constraints: object = {}) => ({
  input: { messages },
  execution: {
    executionConstraints: { providerPin: "openai-compatible", preferredModel: model, ...constraints },
  },
  ...more,
});
const system = systemCtx("test");
const before = { ...env };

let vendor: Vendor;
/** Tenants with and without a connection of their own. */
let tenant: Tenant;
let managed: Tenant;

beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ OPENAI_COMPATIBLE_BASE_URL: vendor.url, ALLOW_PRIVATE_ADDRESSES: true });
  [tenant, managed] = [await makeTenant(), await makeTenant()];
  vendor.answer({ json: { object: "list", data: [] } });
  await credentials.createCredential(
    system,
    tenant.organizationId,
    {
      provider: "openai-compatible",
      secret: KEY,
      label: "own",
      endpointUrl: vendor.url,
      models: "own:1000:2000",
    },
    {
      places: [{ projectId: tenant.projectId, environment: "development" }],
      alongside: (client, credential) =>
        budgets.writeConnectionGuardrails(system, client, credential, { dailyMicros: 1_000_000_000 }),
    },
  );
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

const BOOM = { status: 500, text: "boom" };
const SAID = { code: null, message: "boom", status: 500 };
beforeEach(() => vendor.answer(BOOM));

/** A job that has failed at the vendor. */
async function failedJob(more: object = {}): Promise<string> {
  const { json } = await tenant.post(`/v1/capabilities/${TEXT}/jobs`, envelope("own", more));
  await finish(json.jobId);
  return json.jobId;
}

describe("an error of the caller's own connection has the provider's status, code and message", () => {
  test("an invoke returns the provider's error", async () => {
    const { status, json } = await tenant.post(invokePath, envelope());
    expect(status).toBe(502);
    expect(json).toMatchObject({ code: "PROVIDER_ERROR", details: { provider: SAID } });
    expect(json.detail.details.provider).toEqual(SAID);
  });

  test("a replay of the same key returns the provider's error", async () => {
    const sent = envelope("own", { idempotencyKey: "again" });
    const answers = [await tenant.post(invokePath, sent), await tenant.post(invokePath, sent)];
    expect(answers.map(({ json }) => json.details.provider)).toEqual([SAID, SAID]);
    expect(vendor.arrived).toHaveLength(1);
  });

  test.each(["chat/completions", "responses"])("OpenAI's %s returns the provider's error", async (path) => {
    const { json } = await tenant.post(`/v1/${path}`, {
      model: "openai-compatible/own",
      ...(path === "responses" ? { input: "How deep?" } : { messages }),
    });
    expect(json.error).toMatchObject({ code: "PROVIDER_ERROR", details: { provider: SAID } });
  });

  test("our stream and OpenAI's stream have the provider's error", async () => {
    const { json } = await tenant.post(invokePath, envelope("own", { executionMode: "Stream" }));
    const frames = await tenant.get(`/v1/executions/${json.executionId}/events`);
    expect(frames.text).toContain(JSON.stringify({ provider: SAID }));
    const body = { model: "openai-compatible/own", messages, stream: true };
    expect((await tenant.post("/v1/chat/completions", body)).text).toContain(JSON.stringify(SAID));
  });

  test("an MCP tool returns the provider's error", async () => {
    const server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${tenant.key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", server.url), { requestInit }));
    const args = { capability_key: TEXT, request: envelope() };
    const { content } = await client.callTool({ name: "invoke", arguments: args });
    const [{ text }] = content as [{ text: string }];
    expect(JSON.parse(text)).toMatchObject({ code: "PROVIDER_ERROR", details: { provider: SAID } });
    await client.close();
    await server.stop(500);
  });

  test("a failed job has the provider's message, over HTTP and in the panel", async () => {
    const jobId = await failedJob();
    for (const path of [`/v1/jobs/${jobId}`, `/v1/jobs/${jobId}/result`])
      expect((await tenant.get(path)).json.error).toMatchObject({ details: { provider: SAID } });
    const { ctx } = await makePerson(tenant.organizationId, "member");
    const job = await appRouter.createCaller(ctx).jobs.get({ job_id: jobId });
    expect(job.error).toMatchObject({ details: { provider: SAID } });
  });

  test("an error in JSON is returned without the account's key", async () => {
    const error = { message: `Key ${KEY} is over its quota.`, code: "insufficient_quota" };
    vendor.answer({ status: 402, json: { error } });
    const { json } = await tenant.post(invokePath, envelope());
    expect(json.details.provider).toEqual({
      status: 402,
      code: "insufficient_quota",
      message: "Key [redacted] is over its quota.",
    });
  });
});

test("a failure of an operator's account has only status and code", async () => {
  vendor.answer({ status: 500, json: { error: { message: "boom", code: "server_boom" } } });
  const { status, json, text } = await managed.post(invokePath, envelope("managed"));
  expect(status, text).toBe(502);
  expect(json.details.provider).toEqual({ status: 500, code: "server_boom" });
  const { rows } = await pool.query("SELECT content FROM payload WHERE kind = 'native' AND job_id = $1", [
    json.executionId,
  ]);
  expect(rows).toEqual([{ content: '{"code":"server_boom","status":500}' }]);
});

test("the message is in no receipt, list, event, log or row but the content's, and is removed with the content", async () => {
  vendor.answer({ status: 500, json: { error: { message: "vermilion kerfuffle", code: "vermilion_code" } } });
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  const level = log.level;
  log.level = "debug";
  const jobId = await failedJob();
  log.level = level;
  write.mockRestore();
  expect(written.join("")).not.toContain("vermilion");
  for (const path of [
    `/v1/jobs/${jobId}/receipt`,
    `/v1/jobs/${jobId}/events`,
    `/v1/projects/${tenant.projectId}/jobs`,
  ]) {
    const { status, text } = await tenant.get(path);
    expect(status, path).toBe(200);
    expect(text, path).not.toContain("vermilion");
  }
  for (const table of ["job", "attempt", "job_event", "receipt", "delivery"]) {
    const { rows } = await pool.query(`SELECT row_to_json(each)::text AS row FROM ${table} each`);
    expect(JSON.stringify(rows), table).not.toContain("vermilion");
  }
  expect((await tenant.get(`/v1/jobs/${jobId}`)).text).toContain("vermilion kerfuffle");
  await pool.query("UPDATE payload SET expires_at = now() WHERE job_id = $1", [jobId]);
  await jobs.prune({ ...system, now: () => new Date(Date.now() + 1_000) }, { projectId: tenant.projectId });
  const { json } = await tenant.get(`/v1/jobs/${jobId}`);
  expect(json.error).toMatchObject({ code: "PROVIDER_ERROR" });
  expect(json.error).not.toHaveProperty("details");
});

describe("a private job returns the message on request, and stores it sealed", () => {
  const more = { context: { dataClassification: "Manuscript" } };

  test("an invoke's error leaves the message out, and the job's error has it", async () => {
    const { json } = await tenant.post(invokePath, envelope("own", more));
    expect(json.details.provider).toEqual({ status: 500, code: null });
    const job = await tenant.get(`/v1/jobs/${json.executionId}`);
    expect(job.json.error.details.provider).toEqual(SAID);
    const { rows } = await pool.query(
      "SELECT content, is_sealed FROM payload WHERE kind = 'native' AND job_id = $1",
      [json.executionId],
    );
    expect(rows).toMatchObject([{ is_sealed: true }]);
    expect(rows[0].content).not.toContain("boom");
  });

  test("the panel shows the message only with the job's content", async () => {
    const jobId = await failedJob(more);
    const { ctx } = await makePerson(tenant.organizationId, "member");
    const { jobs: asked } = appRouter.createCaller(ctx);
    const [shown, whole] = [await asked.get({ job_id: jobId }), await asked.content({ job_id: jobId })];
    expect(shown.error?.details).toEqual({ provider: { status: 500, code: null } });
    expect(whole.error?.details).toEqual({ provider: SAID });
  });
});

describe("a provider without capacity", () => {
  const FULL = { status: 429, json: { error: { message: "Slow down.", code: "rate_limited" } } };

  test("a provider is awaited for as long as the request allows, and the response has Retry-After", async () => {
    vendor.answer(FULL);
    const { status, headers, json } = await tenant.post(
      invokePath,
      envelope("own", {}, { queueDeadlineSeconds: 1 }),
    );
    expect(status).toBe(503);
    expect(headers["retry-after"]).toMatch(/^[12]$/); // the next wait is random
    expect([2, 3]).toContain(vendor.arrived.length);
    expect(json).toMatchObject({
      code: "ProviderUnavailable",
      retryable: true,
      retryAfterSeconds: Number(headers["retry-after"]),
      details: { provider: { status: 429, code: "rate_limited", message: "Slow down." } },
    });
  });

  test("a provider that asks for more than ten seconds is not awaited", async () => {
    vendor.answer({ ...FULL, headers: { "retry-after": "11" } });
    const { status, headers } = await tenant.post(invokePath, envelope());
    expect([status, headers["retry-after"]]).toEqual([503, "11"]);
    expect(vendor.arrived).toHaveLength(1);
  });

  test("a header of OpenAI's endpoints sets the wait, and the client may retry", async () => {
    vendor.answer(FULL);
    const body = { model: "openai-compatible/own", messages };
    const ask = (seconds: string) =>
      tenant.post("/v1/chat/completions", body, { headers: { "x-capstan-queue-deadline-seconds": seconds } });
    const { status, headers } = await ask("1");
    expect([status, headers["x-should-retry"]]).toEqual([503, "true"]);
    expect(headers["retry-after"]).toMatch(/^[12]$/);
    expect([2, 3]).toContain(vendor.arrived.length);
    const wrong = await ask("soon");
    expect([wrong.status, wrong.json.error.param]).toEqual([422, "x-capstan-queue-deadline-seconds"]);
  });
});
