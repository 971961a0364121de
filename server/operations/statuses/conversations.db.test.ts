import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { type Call, call, makeTenant, sessionHeaders } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import {
  CHAT,
  get,
  input,
  JSON_TEXT,
  openTenant,
  post,
  RESPONSES,
  settings,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

const CONVERSATIONS: Record<string, object> = {
  [CHAT]: { model: TEXT, ...input },
  [RESPONSES]: { model: TEXT, input: input.messages },
};

/** A request that succeeds, for each endpoint. */
const sample = ({ method, path }: Endpoint): Request =>
  method === "GET"
    ? { method, target: path.replace("{model}", TEXT) }
    : { method, target: path, body: CONVERSATIONS[path] };

everyEndpoint("conversations", { sample });

for (const target of [CHAT, RESPONSES]) {
  describe(`errors of POST ${target}`, () => {
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

    test("a request that cannot be planned is refused", async () => {
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

    test("a request without funds, over a budget or above the allowed maturity is refused", async () => {
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

    test("two different requests under one key are a conflict", async () => {
      const headers = { "idempotency-key": `of ${target}` };
      await post(200, target, CONVERSATIONS[target], { headers });
      await ask("IdempotencyConflict", { metadata: { a: "b" } }, { headers });
    });

    test("a replay, streamed or not, is refused once its content was removed", async () => {
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
    ] as const)("an error %s names its execution, whose receipt is readable", async (code, more) => {
      const { json, headers } = await ask(code, more);
      const { executionId, receiptId } = json.error.details;
      expect(headers["x-execution-id"]).toBe(executionId);
      expect((await get(200, `/v1/jobs/${executionId}/receipt`)).json).toMatchObject({ receiptId });
    });

    test("a call that is canceled while it runs is 409", async () => {
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

    test("a provider that cannot be reached is 503", async () => {
      setSettings({ SANDBOX_URL: "http://127.0.0.1:1" });
      const { headers } = await ask("ProviderUnavailable");
      expect(headers["x-should-retry"]).toBe("true"); // nothing was sent
    });
  });
}

test("an unknown model is 404", async () => {
  for (const model of ["gpt-4o", "text.translate.v1", "openai%2Fgpt-4.1-mini", `${TEXT}@sandbox%2Fnone`])
    await get([404, "UNKNOWN_CAPABILITY"], `/v1/models/${model}`);
});

everyStatusHasACase("conversations");
