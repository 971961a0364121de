import { beforeAll, describe, expect, test } from "vitest";
import { GET } from "@/app/v1/models/[...model]/route";
import * as connections from "@/server/domain/connections";
import { call } from "@/testing/api";
import { whiteSquare } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { serveOwn } from "./own-server.fixture";

/*
 * Members of OpenAI's schema that few clients send: each is accepted wherever OpenAI accepts it, and reaches a server that
 * supports it.
 */

const own = serveOwn();
beforeAll(async () => {
  setSettings({ OPENAI_BASE_URL: own.vendor.url });
  await own.connect({ models: "org/small:1:2", label: "openai-compatible" });
  await connections.createCredential(
    system,
    own.tenant.organizationId,
    { provider: "openai", secret: "sk-own-123456", label: "openai" },
    { places: [{ projectId: own.tenant.projectId, environment: "development" }] },
  );
});

const chat = (more: object) =>
  own.tenant.post("/v1/chat/completions", {
    model: "openai-compatible/org/small",
    messages: [{ role: "user", content: "Hi" }],
    ...more,
  });
const sent = () => JSON.parse(own.vendor.arrived[0]?.body ?? "null");
const COMPLETION = {
  choices: [{ index: 0, message: { content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
};

describe("the author's name of a message", () => {
  const named = (name: unknown) => ({
    messages: [
      { role: "system", content: "Be short.", name },
      { role: "user", content: "Hi", name },
      { role: "user", content: [{ type: "text", text: "there" }], name: null },
    ],
  });

  test("a name reaches a server that speaks chat completions", async () => {
    own.vendor.answer({ json: COMPLETION });
    expect((await chat(named("ada"))).status).toBe(200);
    expect(sent().messages).toEqual([
      { role: "system", content: "Be short.", name: "ada" },
      { role: "user", content: "Hi", name: "ada" },
      { role: "user", content: "there" },
    ]);
  });

  test.each([["", 1, ["ada"], "x".repeat(257)]].flat())(
    "a name is refused at its place if it is %j",
    async (name) => {
      const { status, json } = await chat(named(name));
      expect([status, json.error.param]).toEqual([422, "messages[0].name"]);
    },
  );
});

describe("a reasoning effort", () => {
  test("an effort reaches a server whose connection lists the member, and is refused for a server whose connection does not", async () => {
    await own.connect({
      models: "thinks:1:2,vectors:1:embeddings",
      label: "thinker",
      passThrough: ["reasoning_effort"],
    });
    const think = (more: object) => chat({ model: "openai-compatible:thinker/thinks", ...more });
    for (const [effort, as] of [
      ["none", undefined],
      ["low", "low"],
      ["medium", "medium"],
      ["xhigh", "xhigh"],
    ]) {
      own.vendor.answer({ json: COMPLETION });
      const { status, text } = await think({ reasoning_effort: effort });
      expect(status, text).toBe(200);
      expect(sent().reasoning_effort).toBe(as);
    }
    for (const effort of ["", "most", 1, ["low"]])
      expect((await think({ reasoning_effort: effort })).json.error.param).toBe("reasoning_effort");
    const { status, json } = await chat({ reasoning_effort: "low" });
    expect([status, json.error.param]).toEqual([422, "reasoning_effort"]);
    expect(json.error.message).toContain("lists reasoning_effort in passThrough");
    expect(own.vendor.arrived).toHaveLength(1);
  });
});

test("top_logprobs of 0 has no effect, and any other value is refused", async () => {
  own.vendor.answer({ json: COMPLETION });
  expect((await chat({ top_logprobs: 0 })).status).toBe(200);
  expect(sent().top_logprobs).toBeUndefined();
  for (const top_logprobs of [1, "0", -1]) {
    const { status, json } = await chat({ top_logprobs });
    expect([status, json.error.param]).toEqual([422, "top_logprobs"]);
  }
});

describe("the detail of a picture", () => {
  const url = `data:image/png;base64,${whiteSquare().toString("base64")}`;
  const look = (detail: unknown) =>
    chat({
      model: "text.vision.structured.v1@openai/gpt-5.6-luna",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "JSON" },
            { type: "image_url", image_url: { url, detail } },
          ],
        },
      ],
    });

  test.each([
    ["low", "low"],
    ["high", "high"],
    ["auto", "high"],
    [null, "high"],
  ])("a detail of %j is sent as %s", async (detail, as) => {
    const content = [{ type: "output_text", text: "{}" }];
    own.vendor.answer({
      json: {
        id: "resp_1",
        status: "completed",
        output: [{ type: "message", content }],
        usage: { input_tokens: 7, output_tokens: 3 },
      },
    });
    const { status, text } = await look(detail);
    expect(status, text).toBe(200);
    expect(sent().input[0].content[1]).toMatchObject({ type: "input_image", detail: as });
  });

  test("a detail of another word or type is refused", async () => {
    for (const detail of ["", "original", 1, ["low"]]) expect((await look(detail)).status).toBe(422);
  });
});

test("a model whose id has slashes is found by its plain path, by our own server and as a route of Next", async () => {
  const path = "/v1/models/openai-compatible/org/small";
  const headers = { authorization: `Bearer ${own.tenant.key}` };
  for (const each of [path, path.replace("compatible/", "compatible%2F")]) {
    const { status, json } = await call("GET", each, { key: own.tenant.key });
    expect([status, json.id]).toEqual([200, "openai-compatible/org/small"]);
    const answer = await GET(new Request(`http://127.0.0.1${each}`, { headers }));
    expect((await answer.json()).id).toBe("openai-compatible/org/small");
  }
  const unknown = await call("GET", "/v1/models/openai-compatible/none/such", { key: own.tenant.key });
  expect([unknown.status, unknown.json.error.code]).toEqual([404, "UNKNOWN_CAPABILITY"]);
});
