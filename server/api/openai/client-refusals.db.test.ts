import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { setLiveProcesses } from "@/server/api/rate-limit";
import { pool } from "@/server/platform/db";
import { makeKey, makeKeyWithId, makeTenant, revokeKey } from "@/testing/api";
import { refusal, serveOpenAI } from "./client.fixture";

/* Errors as OpenAI's own client reads them. */

const FAST = "text.general.fast.v1";
const question = [{ role: "user" as const, content: "How deep are the rivers?" }];

const world = serveOpenAI();

const executions = async () => {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*) AS count FROM job WHERE project_id = $1",
    [world.tenant.projectId],
  );
  return rows[0]?.count;
};

describe("errors", () => {
  const ask = (more: object, by = world.client) =>
    refusal(
      by.chat.completions.create({
        model: FAST,
        messages: question,
        ...more,
      } as OpenAI.ChatCompletionCreateParams),
    );

  test("a missing, wrong or revoked key is 401", async () => {
    expect(await ask({}, world.clientOf("cap_nothing"))).toBeInstanceOf(OpenAI.AuthenticationError);
    const { apiKey, keyId } = await makeKeyWithId({ projectId: world.tenant.projectId });
    const held = world.clientOf(apiKey);
    await held.chat.completions.create({ model: FAST, messages: question });
    await revokeKey(keyId);
    expect(await ask({}, held)).toMatchObject({ status: 401, type: "authentication_error" });
  });

  test("a project without funds is 402, and a key without the right is 403", async () => {
    const poor = await makeTenant({ walletMicros: 0 });
    expect(await ask({}, world.clientOf(poor.key))).toMatchObject({
      status: 402,
      code: "funding_required",
      type: "insufficient_quota",
    });
    const reader = await makeKey({ projectId: world.tenant.projectId, scopes: ["jobs:read"] });
    expect(await ask({}, world.clientOf(reader))).toMatchObject({ status: 403, code: "AuthorizationFailed" });
  });

  test("an unknown model is 404 with the available ones", async () => {
    const error = await ask({ model: "gpt-4o" });
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: "UNKNOWN_CAPABILITY", param: "model" });
    expect(JSON.stringify(error.error)).toContain(FAST);
  });

  test.each([
    [{ stop: [""] }, "stop[0]"],
    [{ seed: 0.5 }, "seed"],
    [{ n: 129 }, "n"],
    [{ top_p: 2 }, "top_p"],
    [{ logprobs: true }, "logprobs"],
    [{ frequency_penalty: 3 }, "frequency_penalty"],
    [{ logit_bias: { 1: 1 } }, "logit_bias"],
    [{ tool_choice: "any" }, "tool_choice"],
    [{ temperature: 3 }, "temperature"],
    [{ max_tokens: 1, max_completion_tokens: 2 }, "max_tokens"],
    [{ messages: [] }, "messages"],
    [{ messages: [...question, { role: "function", name: "x", content: "9" }] }, "messages[1].role"],
    [{ stream_options: { include_usage: true } }, "stream_options"],
    [{ model: "text.structured.generation.v1", stream: true }, "stream"],
    [
      {
        response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "nothing" } } },
      },
      "response_format.json_schema.schema.type",
    ],
  ])("a validation error names its field: %j", async (more, param) => {
    const before = await executions();
    const error = await ask(more);
    expect(error).toMatchObject({ status: 422, type: "invalid_request_error", code: "InvalidInput" });
    expect(error.param).toBe(param);
    expect(await executions()).toBe(before);
  });

  test("the client does not retry what may have run, and retries what did not run", async () => {
    const before = Number(await executions());
    const lost = await ask({ model: `${FAST}@sandbox/sandbox-lost` });
    expect(lost).toMatchObject({ status: 502, code: "TRANSPORT_AMBIGUOUS" });
    expect(lost.headers?.get("x-should-retry")).toBe("false");
    expect(Number(await executions())).toBe(before + 1);
    expect(JSON.stringify(lost.error)).toContain("executionId");
    expect(JSON.stringify(lost.error)).not.toContain("at ");
  });

  test("a stream that fails before its text has the status of the same request without one", async () => {
    const asked = { model: `${FAST}@sandbox/sandbox-fail`, messages: question };
    const whole = await refusal(world.client.chat.completions.create(asked));
    const streamed = await refusal(world.client.chat.completions.create({ ...asked, stream: true }));
    expect(streamed.status).toBe(502);
    for (const error of [whole, streamed]) {
      expect(error).toMatchObject({ status: whole.status, code: whole.code, type: "server_error" });
      expect(error.headers?.get("x-should-retry")).toBe("false");
    }
  });

  test("a key over its rate limit gets 429 with the time to retry", async () => {
    const hurried = world.clientOf(await makeKey({ projectId: world.tenant.projectId }), { maxRetries: 0 });
    setLiveProcesses(1_000_000); // each process grants its part of the limit, here a single request
    await hurried.models.retrieve(FAST);
    const error = await ask({}, hurried).finally(() => setLiveProcesses(1));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ code: "RateLimited", type: "rate_limit_error" });
    expect(error.headers?.get("retry-after")).toMatch(/^\d+$/);
  });
});
