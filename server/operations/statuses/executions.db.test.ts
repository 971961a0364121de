import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { call, makeTenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { refusesWhatCannotBePlanned } from "./refusals.fixture";
import { at, get, IMAGE, input, JSON_TEXT, MATH, openTenant, post, say, TEXT } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

everyEndpoint("executions", {
  sample: ({ method, path }) => ({
    method,
    target: path.replace("{capability_key}", MATH),
    body: { input: { expression: "1 + 1" } },
  }),
});

refusesWhatCannotBePlanned("invoke");

describe("invoke", () => {
  test("a text answer has output, usage, cost and the ids of its record", async () => {
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

  test("a replay is the first answer and is marked as a replay, and another request under the key is 409", async () => {
    const body = { ...say("Once more."), idempotencyKey: "again", metadata: { a: 1 } };
    const first = await post(200, at(TEXT, "invoke"), body);
    const repeated = { ...first.json, idempotency: { source: "client", replayed: true } };
    expect((await post(200, at(TEXT, "invoke"), body)).json).toEqual(repeated);
    const refused = await post([409, "IdempotencyConflict"], at(TEXT, "invoke"), { ...body, metadata: {} });
    const jobId = first.json.executionId;
    expect(refused.json).toMatchObject({ code: "IdempotencyConflict", jobId, details: { jobId } });
  });

  test("a request that cannot run synchronously is refused with 400 and the path that submits it as a job", async () => {
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

  /** The sandbox's responses, shown because the sandbox belongs to no one's account. */
  const PROVIDER: Partial<Record<ErrorCode, object>> = {
    ProviderRejected: { status: 400, code: "refused" },
    PROVIDER_ERROR: { status: 500, code: "failed" },
  };

  for (const [code, capability, body] of FAILURES) {
    test(`${ERRORS[code].status} ${code} names its record, which is readable`, async () => {
      const refused = await post([ERRORS[code].status, code], at(capability, "invoke"), {
        ...body,
        idempotencyKey: `fails with ${code}`,
      });
      const { executionId, receiptId, ...more } = refused.json.detail.details;
      expect(refused.json).toMatchObject({ executionId, receiptId, detail: { executionId, receiptId } });
      expect(refused.headers["x-execution-id"]).toBe(executionId);
      expect(refused.json.details).toEqual({ executionId, receiptId, ...more });
      // Details of an expression error have its position, those of a provider error its response; other errors have no more.
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

  test("a run that is canceled while it waits for its provider is 409", async () => {
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

  test("a busy provider is retried within the time limit", async () => {
    const { json } = await post(200, at(TEXT, "invoke"), { input, preferredModel: "sandbox-busy" });
    expect(json.status).toBe("succeeded");
  });

  const { SANDBOX_URL } = env;
  afterEach(() => {
    setSettings({ SANDBOX_URL });
  });

  test("a provider that cannot be reached is 503: nothing was sent, and a new key is safe", async () => {
    setSettings({ SANDBOX_URL: "http://127.0.0.1:1" });
    const refused = await post([503, "ProviderUnavailable"], at(TEXT, "invoke"), { input });
    const { json: job } = await get(200, `/v1/jobs/${refused.json.details.executionId}`);
    expect(job).toMatchObject({ status: "failed", actualCost: 0, retry: { newKeySafe: true } });
    expect(job.diagnostics.backendState).toBe("not_attempted");
  });
});

everyStatusHasACase("executions");
