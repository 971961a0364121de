import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { type Call, call, makeTenant, sessionHeaders } from "@/testing/api";
import { COMPARED, COMPARISONS } from "@/testing/comparisons";
import { setSettings } from "@/testing/settings";
import { copyJob } from "@/testing/world";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { refusesWhatCannotBePlanned } from "./refusals.fixture";
import {
  at,
  CHAT,
  get,
  IMAGE,
  input,
  JSON_TEXT,
  MATH,
  openTenant,
  post,
  RESPONSES,
  say,
  settings,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

const CONVERSATIONS: Record<string, object> = {
  [CHAT]: { model: TEXT, ...input },
  [RESPONSES]: { model: TEXT, input: input.messages },
};

/** For every endpoint a request that succeeds. */
function sample({ method, path }: Endpoint): Request {
  const isInvoke = path.endsWith("/invoke");
  const target = path.replace("{capability_key}", isInvoke ? MATH : TEXT).replace("{model}", TEXT);
  if (method === "GET") return { method, target };
  const run = isInvoke ? { input: { expression: "1 + 1" } } : { input };
  return { method, target, body: CONVERSATIONS[path] ?? run };
}

everyEndpoint("executions", { sample });

for (const what of ["invoke", "jobs"] as const) refusesWhatCannotBePlanned(what);

describe("submit", () => {
  test("a job is admitted with everything the caller gave echoed, and how to follow it", async () => {
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
    const { idempotency: _, ...job } = json; // of this request, not of the job
    expect((await get(200, `/v1/jobs/${json.jobId}`)).json).toEqual(job);
  });

  test("the same key and request answer with the first job; another request is 409 and names it twice", async () => {
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

  test("200 submits at once with one key make one job", async () => {
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

  test("a field that is null is the same request as one that is not there", async () => {
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

  test("400: a capability that only runs at once says where", async () => {
    const refused = await post([400, "USE_INVOKE"], at(MATH, "jobs"), { expression: "1" });
    expect(refused.json.details).toEqual({ invoke: `/v1/capabilities/${MATH}/invoke` });
  });

  test("a call may warn instead of refusing; the job says so", async () => {
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

  test("422: what is not there or not served, by its name", async () => {
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

  test("422: a file of a list that is not there, by its place in the list", async () => {
    const { json } = await post([422, "list"], at("model.generate.3d.v1", "jobs"), {
      input: { inputArtifactIds: [newId("artifact")] },
    });
    expect(json.detail[0]).toMatchObject({
      loc: ["body", "input", "inputArtifactIds", 0],
      type: "not_found",
    });
  });

  test("429: a project with ten thousand unfinished jobs takes none, except those it took before", async () => {
    const full = await makeTenant();
    const body = { ...say("First."), idempotencyKey: "first" };
    // Submitted a while ago: the count is remembered for a second.
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

describe("invoke", () => {
  test("the answer of text: output, usage, cost and the ids of its record", async () => {
    const { json, headers } = await post(200, at(TEXT, "invoke"), { input, tags: ["t"], externalRef: "r" });
    expect(headers["x-execution-id"]).toBe(json.executionId);
    expect(json).toMatchObject({
      status: "succeeded",
      resolvedProvider: "sandbox",
      resolvedModel: "sandbox-1",
      externalRef: "r",
      tags: ["t"],
      typedOutput: { role: "assistant", content: expect.any(String) },
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), currency: "USD" },
      receiptId: json.executionId.replace("wfr_", "rcpt_"),
      errorCode: null,
      terminationReason: "stop",
      warnings: [],
    });
    expect(json.actualCost).toBeGreaterThan(0);
    const job = await get(200, `/v1/jobs/${json.executionId}`);
    expect(job.json).toMatchObject({
      status: "succeeded",
      typedOutput: json.typedOutput,
      receiptId: json.receiptId,
    });
    const receipt = await get(200, `/v1/jobs/${json.executionId}/receipt`);
    expect(receipt.json).toMatchObject({ receiptId: json.receiptId, executionMode: "invoke_sync" });
    const { json: page } = await get(200, `/v1/jobs/${json.executionId}/events`);
    expect(page.events.map((event: { type: string }) => event.type)).toEqual([
      "job.started",
      "job.provider_submitted",
      "job.succeeded",
      "job.receipt_sealed",
    ]);
    const result = await get(200, `/v1/jobs/${json.executionId}/result`);
    expect(result.json).toMatchObject({
      typedOutput: json.typedOutput,
      outputPayloadRef: json.outputPayloadRef,
    });
  });

  test("a replay is the first answer and says that it is one, and 409 keeps the key for its request", async () => {
    const body = { ...say("Once more."), idempotencyKey: "again", metadata: { a: 1 } };
    const first = await post(200, at(TEXT, "invoke"), body);
    const repeated = { ...first.json, idempotency: { source: "client", replayed: true } };
    expect((await post(200, at(TEXT, "invoke"), body)).json).toEqual(repeated);
    const refused = await post([409, "IdempotencyConflict"], at(TEXT, "invoke"), { ...body, metadata: {} });
    const jobId = first.json.executionId;
    expect(refused.json).toMatchObject({ code: "IdempotencyConflict", jobId, details: { jobId } });
  });

  test("400: what does not run at once says where it runs", async () => {
    const submit = `/v1/capabilities/${TEXT}/jobs`;
    const image = await post([400, "USE_JOBS"], at(IMAGE, "invoke"), { prompt: "x" });
    expect(image.json.details).toEqual({ submit: `/v1/capabilities/${IMAGE}/jobs` });
    const durable = await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input, executionMode: "DurableJob" });
    expect(durable.json.details).toEqual({ submit });
    const long = await post([400, "USE_JOBS"], at(TEXT, "invoke"), {
      input: { ...input, maxOutputTokens: 2049 },
    });
    expect(long.json.details).toEqual({ submit });
    const slow = await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input, maxDurationSeconds: 61 });
    expect(slow.json.details).toEqual({ submit });
    await post(200, at(TEXT, "invoke"), { input, maxDurationSeconds: 60 });
    const local = await post([422, "list"], at(MATH, "invoke"), {
      input: { expression: "1" },
      maxDurationSeconds: 61,
    });
    expect(local.json.detail[0]).toMatchObject({
      loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
      type: "less_than_equal",
      ctx: { maximum: 60 },
    });
    await post(200, at(TEXT, "invoke"), { input: { ...input, maxOutputTokens: 2048 } });
    await post([422, "list"], at(TEXT, "invoke"), { input, executionMode: "ProductionWorkflow" });
    for (const executionMode of ["RequestResponse", "Stream"]) {
      const early = { input, executionMode, readerDelivery: {} };
      const refused = await post([422, "list"], at(TEXT, "invoke"), early);
      expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "readerDelivery"] });
    }
  });

  const FAILURES: [ErrorCode, string, Record<string, unknown>][] = [
    ["ProviderRejected", TEXT, { input, preferredModel: "sandbox-refuse" }],
    ["PROVIDER_EMPTY_OUTPUT", TEXT, { input, preferredModel: "sandbox-empty" }],
    ["UnsupportedTld", "domain.search.v1", { input: { domain: "name.nowhere" } }],
    ["PROVIDER_ERROR", TEXT, { input, preferredModel: "sandbox-fail" }],
    ["TRANSPORT_AMBIGUOUS", TEXT, { input, preferredModel: "sandbox-lost" }],
    ["ExecutionTimeout", TEXT, { input, preferredModel: "sandbox-slow", timeoutSeconds: 5 }],
    ["OutputLimitReached", TEXT, { input: { ...input, maxOutputTokens: 1 } }],
    ["StructuredOutputInvalid", JSON_TEXT, { input, preferredModel: "sandbox-careless" }],
    ["StructuredOutputRepairFailed", JSON_TEXT, { input, preferredModel: "sandbox-stubborn" }],
    ["ReasoningBudgetExhausted", JSON_TEXT, { input, preferredModel: "sandbox-thinker" }],
    [
      "EmptyStructuredOutput",
      "text.translate.v1",
      {
        input: { targetLocale: "de", items: [{ id: "a", text: "Hello" }] },
        preferredModel: "sandbox-hollow",
      },
    ],
    ...(
      [
        ["invalid_expression", "1 +"],
        ["unknown_variable", "x"],
        ["unsupported_function", "sin(1)"],
        ["division_by_zero", "1 / 0"],
        ["numeric_overflow", "1e9000 * 1e9000"],
        ["precision_limit_exceeded", "1 + 1e40 % 3"],
        ["complexity_limit_exceeded", "2 ^ 10001"],
        ["domain_error", "sqrt(-1)"],
        ["invalid_parameter", "round(1, 0.5)"],
      ] as const
    ).map(([code, expression]): [ErrorCode, string, Record<string, unknown>] => [code, MATH, { expression }]),
    ["invalid_variable", MATH, { expression: "x", variables: { x: "one" } }],
  ];

  const PLACED = new Set<ErrorCode>(
    FAILURES.filter(([code, capability]) => capability === MATH && code !== "invalid_variable").map(
      ([code]) => code,
    ),
  );

  /** What the sandbox answered, which is no one's own account. */
  const PROVIDER: Partial<Record<ErrorCode, object>> = {
    ProviderRejected: { status: 400, code: "refused" },
    PROVIDER_ERROR: { status: 500, code: "failed" },
  };

  for (const [code, capability, body] of FAILURES) {
    test(`${ERRORS[code].status}: ${code} names its record, which can be read`, async () => {
      const refused = await post([ERRORS[code].status, code], at(capability, "invoke"), {
        ...body,
        idempotencyKey: `fails with ${code}`,
      });
      const { executionId, receiptId, ...more } = refused.json.detail.details;
      expect(refused.json).toMatchObject({ executionId, receiptId, detail: { executionId, receiptId } });
      expect(refused.headers["x-execution-id"]).toBe(executionId);
      expect(refused.json.details).toEqual({ executionId, receiptId, ...more });
      // An expression's error says its position in the text, a provider's what was answered; nothing else has more to say.
      const provider = PROVIDER[code];
      if (PLACED.has(code)) expect(more).toEqual({ position: expect.any(Number) });
      else expect(more).toEqual(provider ? { provider } : {});
      const { json: job } = await get(200, `/v1/jobs/${executionId}`);
      expect(job).toMatchObject({
        status: "failed",
        receiptId,
        error: {
          code,
          ...(PLACED.has(code) || provider ? { details: more } : {}),
        },
      });
      expect(refused.json.message).toBe(`${job.error.message} ${job.error.resolution}`);
      const { json: receipt } = await get(200, `/v1/jobs/${executionId}/receipt`);
      expect(receipt).toMatchObject({ receiptId, status: "failed", error: { code } });
      const again = await post([ERRORS[code].status, code], at(capability, "invoke"), {
        ...body,
        idempotencyKey: `fails with ${code}`,
      });
      expect(again.json.detail).toEqual(refused.json.detail);
    });
  }

  test("a run that is canceled while it waits for its provider answers 409", async () => {
    const { key } = await makeTenant();
    const running = post(
      [409, "Cancelled"],
      at(TEXT, "invoke"),
      { input, preferredModel: "sandbox-slow", tags: ["stopped"] },
      { key },
    );
    const executionId = await vi.waitFor(
      async () => {
        const { json } = await call("GET", "/v1/jobs", { key });
        expect(json.items[0]?.status).toBe("running");
        return json.items[0].jobId as string;
      },
      { timeout: 10_000, interval: 20 },
    );
    await post(200, `/v1/jobs/${executionId}/cancel`, undefined, { key });
    const refused = await running;
    expect(refused.json.detail).toMatchObject({ executionId });
  });

  test("a busy provider is asked again inside the limit", async () => {
    const { json } = await post(200, at(TEXT, "invoke"), { input, preferredModel: "sandbox-busy" });
    expect(json.status).toBe("succeeded");
  });

  const { SANDBOX_URL } = env;
  afterEach(() => {
    setSettings({ SANDBOX_URL });
  });

  test("503: a provider that cannot be reached was sent nothing, and a new key is safe", async () => {
    setSettings({ SANDBOX_URL: "http://127.0.0.1:1" });
    const refused = await post([503, "ProviderUnavailable"], at(TEXT, "invoke"), { input });
    const { json: job } = await get(200, `/v1/jobs/${refused.json.details.executionId}`);
    expect(job).toMatchObject({ status: "failed", actualCost: 0, retry: { newKeySafe: true } });
    expect(job.diagnostics.backendState).toBe("not_attempted");
  });
});

for (const target of [CHAT, RESPONSES]) {
  describe(`POST ${target} refuses`, () => {
    const words = [{ role: "user", content: "How deep is the sea?" }];
    const ask = (code: ErrorCode, more: object = {}, options: Call = {}) => {
      const conversation = target === CHAT ? { messages: words } : { input: words };
      return post([ERRORS[code].status, code], target, { model: TEXT, ...conversation, ...more }, options);
    };
    const limit = target === CHAT ? "max_completion_tokens" : "max_output_tokens";
    const named = (model: string) => ({ model: `${TEXT}@sandbox/${model}` });
    const structured = (model: string) => ({ model: `${JSON_TEXT}@sandbox/${model}` });
    const { SANDBOX_URL } = env;
    afterEach(() => {
      setSettings({ SANDBOX_URL });
    });

    test("what cannot be planned", async () => {
      const { json } = await ask("UNKNOWN_CAPABILITY", { model: "gpt-4o" });
      expect(json.error.details.nearestMatches).toContain(TEXT);
      const long = [...words, { role: "user", content: "x".repeat(1_000_000) }];
      const tooLong = await ask("PromptTooLong", target === CHAT ? { messages: long } : { input: long });
      expect(tooLong.json.error.param).toBe(`${target === CHAT ? "messages" : "input"}[1].content`);
      const gone = await ask("ROUTE_UNAVAILABLE", {
        model: "text.reasoning.maximum.v1@sandbox/sandbox-1",
      });
      expect(gone.json.error.param).toBe("model");
      const unconnected = await ask("CONNECTION_REQUIRED", { model: "openai/gpt-4.1-mini" });
      expect(unconnected.json.error.details.connectUrl).toContain("/connections");
      await ask("USE_JOBS", { [limit]: 2049 });
      await ask("PROJECT_REQUIRED", {}, { key: tenant.unboundKey });
    });

    test("what may not be paid, or not be asked for", async () => {
      const poor = await makeTenant({ walletMicros: 0 });
      const { json } = await ask("funding_required", {}, { key: poor.key });
      expect(json.error.type).toBe("insufficient_quota");
      const held = await makeTenant();
      const set = await call("PUT", `/v1/projects/${held.projectId}/budget-policy`, {
        headers: await sessionHeaders(held.organizationId, "owner"),
        body: { budgets: [{ period: "total", ceilingUsd: 0, enforcement: "prevent" }] },
      });
      expect(set.status).toBe(200);
      await ask("BudgetExceeded", {}, { key: held.key });
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const { maturity } = sandbox;
      sandbox.maturity = "PG";
      await settings(tenant.projectId, { maturityRating: "R" });
      try {
        await ask("PolicyRejected");
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test("one key for two requests", async () => {
      const headers = { "idempotency-key": `of ${target}` };
      await post(200, target, CONVERSATIONS[target], { headers });
      await ask("IdempotencyConflict", { metadata: { a: "b" } }, { headers });
    });

    test("what it can no longer answer: a replay, streamed or not, once the content was removed", async () => {
      const { key, projectId } = await makeTenant();
      for (const stream of [false, true]) {
        const asked = { ...CONVERSATIONS[target], stream };
        const options = { key, headers: { "idempotency-key": `kept, ${stream}` } };
        const first = await call("POST", target, { ...options, body: asked });
        expect(first.status).toBe(200);
        const later = systemCtx("test", () => new Date(Date.now() + 31 * DAY_MS));
        await jobs.prune(later, { projectId });
        const { json, headers } = await ask("PayloadUnavailable", { ...asked }, options);
        expect(headers["x-execution-id"]).toBe(first.headers["x-execution-id"]);
        expect(json.error.details).toEqual({
          executionId: first.headers["x-execution-id"],
          receiptId: first.headers["x-capstan-receipt-id"],
        });
      }
    });

    test.each([
      ["ProviderRejected", named("sandbox-refuse")],
      ["PROVIDER_EMPTY_OUTPUT", named("sandbox-empty")],
      ["PROVIDER_ERROR", named("sandbox-fail")],
      ["TRANSPORT_AMBIGUOUS", named("sandbox-lost")],
      ["StructuredOutputInvalid", structured("sandbox-careless")],
      ["StructuredOutputRepairFailed", structured("sandbox-stubborn")],
    ] as const)("%s names its record, which can be read", async (code, more) => {
      const { json, headers } = await ask(code, more);
      const { executionId, receiptId } = json.error.details;
      expect(headers["x-execution-id"]).toBe(executionId);
      expect((await get(200, `/v1/jobs/${executionId}/receipt`)).json).toMatchObject({ receiptId });
    });

    test("what was canceled while it ran", async () => {
      const { key } = await makeTenant();
      const running = ask("Cancelled", named("sandbox-slow"), { key });
      const executionId = await vi.waitFor(
        async () => {
          const { json } = await call("GET", "/v1/jobs", { key });
          expect(json.items[0]?.status).toBe("running");
          return json.items[0].jobId as string;
        },
        { timeout: 10_000, interval: 20 },
      );
      await post(200, `/v1/jobs/${executionId}/cancel`, undefined, { key });
      expect((await running).json.error.details).toMatchObject({ executionId });
    });

    test("what cannot be reached", async () => {
      setSettings({ SANDBOX_URL: "http://127.0.0.1:1" });
      const { headers } = await ask("ProviderUnavailable");
      expect(headers["x-should-retry"]).toBe("true"); // nothing was sent
    });
  });
}

test("404 for a model that is none", async () => {
  for (const model of ["gpt-4o", "text.translate.v1", "openai%2Fgpt-4.1-mini", `${TEXT}@sandbox%2Fnone`])
    await get([404, "UNKNOWN_CAPABILITY"], `/v1/models/${model}`);
});

everyStatusHasACase("executions");
