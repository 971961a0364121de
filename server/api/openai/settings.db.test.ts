import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as budgets from "@/server/domain/budgets";
import * as credentials from "@/server/domain/connections";
import { systemCtx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { startServer, type WebServer } from "@/server/web/server";
import { call, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { refusal } from "./client.fixture";

/* Settings that not every model supports, and unknown members: how each is forwarded or refused. */

const FAST = "text.general.fast.v1";
const messages = [{ role: "user" as const, content: "How deep are the rivers of Europe?" }];
const system = systemCtx("test");
const before = { ...env };

let server: WebServer;
let vendor: Vendor;
let tenant: Tenant;
let client: OpenAI;
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  tenant = await makeTenant();
  client = clientOf(tenant);
});
afterAll(async () => {
  setSettings(before);
  await server.stop(1_000);
  await vendor.stop();
});

const clientOf = ({ key }: Tenant) => new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 });
const ask = (more: object, by = client) =>
  by.chat.completions.create({
    model: FAST,
    messages,
    ...more,
  } as OpenAI.ChatCompletionCreateParamsNonStreaming);
const textOf = (answer: OpenAI.ChatCompletion) => answer.choices[0]?.message.content ?? "";
const maximumOf = async (id: string) => {
  const { rows } = await pool.query<{ most: number; actual: number }>(
    "SELECT maximum_micros AS most, actual_micros AS actual FROM job WHERE id = $1",
    [id],
  );
  return rows[0]!;
};

/** A tenant with its own server at the vendor's address. */
async function connected(passThrough: string[] | null = null): Promise<Tenant & { credentialId: string }> {
  const made = await makeTenant();
  vendor.answer({ json: { data: [] } });
  const { credentialId } = await credentials.createCredential(
    system,
    made.organizationId,
    {
      provider: "openai-compatible",
      secret: "sk-1",
      label: "own",
      endpointUrl: vendor.url,
      models: "acme-small:1:2",
      passThrough,
    },
    { places: [{ projectId: made.projectId, environment: "development" }] },
  );
  vendor.answer({
    json: {
      id: "chat-1",
      choices: [{ message: { content: "Four fathoms." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 4 },
    },
  });
  return { ...made, credentialId };
}
const sent = () => JSON.parse(vendor.arrived.at(-1)?.body ?? "null");

describe("settings", () => {
  test("stop sequences and a seed reach the model", async () => {
    const [whole, again, other] = await Promise.all([
      ask({ seed: 1 }),
      ask({ seed: 1 }),
      ask({ seed: 4, top_p: 0.5, frequency_penalty: 0.2, presence_penalty: -0.2 }),
    ]);
    expect(textOf(again!)).toBe(textOf(whole!));
    expect(textOf(other!)).not.toBe(textOf(whole!));
    expect(textOf(await ask({ seed: 1, stop: "Europe" }))).toBe(textOf(whole!).split("Europe")[0]);
    expect(textOf(await ask({ seed: 1, stop: ["Europe", "deep"] }))).not.toContain("deep");
  });

  test("a default value has no effect: the request is the same", async () => {
    const headers = { "Idempotency-Key": "usual" };
    const plain = await client.chat.completions.create({ model: FAST, messages }, { headers });
    const usual = { n: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0, stop: [], seed: null };
    const spelled = await client.chat.completions.create({ model: FAST, messages, ...usual }, { headers });
    expect(spelled.id).toBe(plain.id);
  });

  test("n answers are n choices, in a stream by their index, and bound and charge cover all of them", async () => {
    const one = await ask({ max_tokens: 100 });
    const three = await ask({ max_tokens: 100, n: 3 });
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(three.choices.map(({ message }) => message.content)).size).toBeGreaterThan(1);
    expect(three.usage!.completion_tokens).toBeGreaterThan(2 * one.usage!.completion_tokens);
    const [single, triple] = [await maximumOf(one.id), await maximumOf(three.id)];
    expect(triple.most).toBeGreaterThan(2 * single.most);
    expect(triple.actual).toBeGreaterThan(single.actual);
    const texts = ["", "", ""];
    const reasons: unknown[] = [];
    const stream = await client.chat.completions.create({
      model: FAST,
      messages,
      max_tokens: 100,
      n: 3,
      stream: true,
    });
    for await (const { choices } of stream)
      for (const { index, delta, finish_reason } of choices) {
        texts[index] += delta.content ?? "";
        if (finish_reason) reasons[index] = finish_reason;
      }
    expect(texts).toEqual(three.choices.map(({ message }) => message.content));
    expect(reasons).toEqual(["stop", "stop", "stop"]);
  });

  test("each of n answers may be an object, or call tools", async () => {
    const tool = { type: "function", function: { name: "depth_of", parameters: { type: "object" } } };
    const called = await ask({ n: 2, tools: [tool] });
    expect(called.choices.map(({ finish_reason }) => finish_reason)).toEqual(["tool_calls", "tool_calls"]);
    const objects = await ask({
      n: 2,
      model: "text.structured.generation.v1",
      response_format: { type: "json_object" },
    });
    for (const { message } of objects.choices)
      expect(typeof JSON.parse(message.content ?? "")).toBe("object");
  });

  test("user, store, metadata, cache keys and service tier are not sent to the model", async () => {
    const mine = await connected();
    await ask(
      {
        model: "openai-compatible/acme-small",
        user: "somebody",
        safety_identifier: "x",
        store: true,
        metadata: { ticket: "9" },
        prompt_cache_key: "y",
        service_tier: "auto",
      },
      clientOf(mine),
    );
    expect(Object.keys(sent()).sort()).toEqual(["max_tokens", "messages", "model", "stream"]);
  });

  test("a customer's own server gets each setting, under OpenAI's name", async () => {
    const mine = await connected();
    const settings = {
      stop: ["a", "b"],
      seed: 7,
      top_p: 0.5,
      n: 2,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      temperature: 0.3,
    };
    const answer = await ask({ model: "openai-compatible/acme-small", ...settings }, clientOf(mine));
    expect(sent()).toMatchObject(settings);
    expect(textOf(answer)).toBe("Four fathoms.");
  });

  test("a setting that the model lacks is refused by its name, with a route that has it", async () => {
    const error = await refusal(
      ask({ model: "text.general.fast.v1@sandbox/sandbox-1", logit_bias: { 1: 1 } }),
    );
    expect(error).toMatchObject({ status: 422, param: "logit_bias" });
    expect(error.message).toContain("passThrough");
    const mine = await connected();
    const named = await refusal(
      ask({ model: `${FAST}@sandbox/sandbox-1`, logit_bias: { 1: 1 } }, clientOf(mine)),
    );
    expect(named.message).toContain("Use openai-compatible/acme-small.");
  });
});

test("a forced tool is refused for a model that cannot be forced, with a route that can", async () => {
  const made = await makeTenant();
  setSettings({ ANTHROPIC_BASE_URL: vendor.url });
  vendor.answer({ json: { data: [] } });
  await credentials.createCredential(
    system,
    made.organizationId,
    { provider: "anthropic", secret: "sk-ant-1", label: "own" },
    { places: [{ projectId: made.projectId, environment: "development" }] },
  );
  const tools = [{ type: "function", function: { name: "depth_of", parameters: { type: "object" } } }];
  const model = "anthropic/claude-opus-5-5";
  const error = await refusal(ask({ model, tools, tool_choice: "required" }, clientOf(made)));
  expect(error).toMatchObject({ status: 422, param: "tool_choice" });
  expect(error.message).toContain("Use sandbox/sandbox-1.");
  setSettings({ ANTHROPIC_BASE_URL: before.ANTHROPIC_BASE_URL });
});

describe("unknown members", () => {
  test("members of the default list are forwarded to a connected server by both endpoints, and are part of the request", async () => {
    const mine = await connected();
    const own = clientOf(mine);
    const members = {
      top_k: 5,
      min_p: 0.1,
      repetition_penalty: 1.1,
      guided_choice: ["a", "b"],
      chat_template_kwargs: { enable_thinking: false },
      logit_bias: { "50256": -100 },
    };
    const headers = { "Idempotency-Key": "members" };
    const request = { model: FAST, messages, ...members };
    const first = await own.chat.completions.create(request, { headers });
    expect(sent()).toMatchObject(members);
    expect((await own.chat.completions.create(request, { headers })).id).toBe(first.id);
    const other = own.chat.completions.create({ ...request, top_k: 6 } as typeof request, { headers });
    expect(await refusal(other)).toMatchObject({ status: 409, code: "IdempotencyConflict" });
    await own.responses.create({
      model: FAST,
      input: "x",
      top_k: 5,
    } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
    expect(sent()).toMatchObject({ top_k: 5 });
  });

  test("an unknown member that is not listed is refused by name, and a connection's own list replaces the default list", async () => {
    const usual = await connected();
    expect(await refusal(ask({ mirostat: 2 }, clientOf(usual)))).toMatchObject({
      status: 422,
      param: "mirostat",
    });
    const own = await connected(["mirostat*"]);
    await ask({ mirostat: 2, mirostat_tau: 5 }, clientOf(own));
    expect(sent()).toMatchObject({ mirostat: 2, mirostat_tau: 5 });
    expect(await refusal(ask({ top_k: 1 }, clientOf(own)))).toMatchObject({ status: 422, param: "top_k" });
  });

  test("previous_response_id, which refers to stored state, is refused even if a connection allows every member with *", async () => {
    const mine = await connected(["*"]);
    const stored = { model: FAST, input: "x", previous_response_id: "resp_1" };
    expect(await refusal(clientOf(mine).responses.create(stored))).toMatchObject({
      status: 422,
      param: "previous_response_id",
    });
  });

  test("the list * forwards any member, and is refused while a budget prevents", async () => {
    const mine = await connected(["*", "top_k"]);
    const own = clientOf(mine);
    await ask({ speculative: true }, own);
    expect(sent()).toMatchObject({ speculative: true });
    const owner = { projectId: mine.projectId };
    const set = (enforcement: "prevent" | "warn") =>
      budgets.set(system, { owner, period: "day", ceilingMicros: 1_000_000_000, enforcement });
    await set("prevent");
    const arrived = vendor.arrived.length;
    const error = await refusal(ask({ speculative: true }, own));
    expect(error).toMatchObject({ status: 422, param: "speculative" });
    expect(error.message).toContain(`project:${mine.projectId}`);
    expect(vendor.arrived).toHaveLength(arrived);
    await ask({ top_k: 3 }, own); // the connection lists it by name
    await set("warn");
    await ask({ speculative: true }, own);
  });
});

describe("a connection's list of members", () => {
  test("the list is reported, kept by a rotation that does not name it, and changed by one that does", {
    tags: "long",
  }, async () => {
    const mine = await connected(["top_k"]);
    const headers = await sessionHeaders(mine.organizationId, "owner");
    const read = async () => (await call("GET", `/v1/connections/${mine.credentialId}`, { headers })).json;
    const passThrough = async () => (await read()).connection?.passThrough ?? (await read()).passThrough;
    expect(await passThrough()).toEqual(["top_k"]);
    vendor.answer({ json: { data: [] } });
    const rotate = (more: object) =>
      call("POST", `/v1/connections/${mine.credentialId}/rotate`, {
        headers,
        body: { provider: "openai-compatible", secret: "sk-2", ...more },
      });
    expect((await rotate({})).status).toBe(200);
    expect(await passThrough()).toEqual(["top_k"]);
    expect((await rotate({ passThrough: ["min_p", "guided_*"] })).status).toBe(200);
    expect(await passThrough()).toEqual(["min_p", "guided_*"]);
    const wrong = await rotate({ passThrough: ["a b"] });
    expect(wrong.status).toBe(422);
  });
});
