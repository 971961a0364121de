import { beforeAll, describe, expect, test } from "vitest";
import { finish } from "@/testing/api";
import { serveOwn } from "./own-server.fixture";

/* A schema's name and strictness: they reach the server, and are part of the request's identity. */

const GENERATION = "text.structured.generation.v1";
const invokeAt = `/v1/capabilities/${GENERATION}/invoke`;
const ROUTE = {
  execution: { executionConstraints: { providerPin: "openai-compatible", preferredModel: "acme" } },
};
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const own = serveOwn();
beforeAll(async () => {
  await own.connect({ models: "acme:1:2" });
  own.vendor.answer({
    json: {
      choices: [{ message: { content: '{"city":"Rome"}' }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    },
  });
});

let asked = 0;
const messages = () => [{ role: "user", content: `Which city? ${++asked}` }];
const sent = () => JSON.parse(own.vendor.arrived.at(-1)?.body ?? "null").response_format;
const toFormat = (named: object) => ({ type: "json_schema", json_schema: { ...named, schema } });
/** Sends a schema to one of OpenAI's endpoints. */
const chat = (named: object, more: object = {}, headers: Record<string, string> = {}) =>
  own.tenant.post(
    "/v1/chat/completions",
    {
      model: `${GENERATION}@openai-compatible/acme`,
      messages: messages(),
      response_format: { type: "json_schema", json_schema: { schema, ...named } },
      ...more,
    },
    { headers },
  );
const respond = (named: object) =>
  own.tenant.post("/v1/responses", {
    model: `${GENERATION}@openai-compatible/acme`,
    input: messages(),
    text: { format: { type: "json_schema", schema, ...named } },
  });
const invoke = (more: object, input: object = {}) =>
  own.tenant.post(invokeAt, { input: { messages: messages(), ...input }, ...ROUTE, ...more });

describe("a name and strictness reach a server that speaks chat completions", () => {
  test.each([
    [
      { name: "thing", strict: true },
      { name: "thing", strict: true },
    ],
    [
      { name: "thing", strict: false },
      { name: "thing", strict: false },
    ],
    [{ name: "thing", strict: null }, { name: "thing" }],
    [{ name: "a thing/2" }, { name: "a_thing_2" }],
  ])("a name and strictness %j are sent by both endpoints", async (named, as) => {
    for (const door of [chat, respond]) {
      const { status, text } = await door(named);
      expect(status, text).toBe(200);
      expect(sent()).toEqual(toFormat(as));
    }
  });

  test("a name and strictness are sent from the native envelope, from either place of the schema, and from a job", async () => {
    const named = { responseSchemaName: "thing", responseSchemaStrict: false };
    const as = toFormat({ name: "thing", strict: false });
    expect((await invoke({ ...named, responseSchema: schema })).status).toBe(200);
    expect(sent()).toEqual(as);
    expect((await invoke(named, { responseSchema: schema })).status).toBe(200);
    expect(sent()).toEqual(as);
    expect((await invoke({ responseSchema: schema })).status).toBe(200);
    expect(sent()).toEqual(toFormat({ name: "answer" }));
    const { json } = await own.tenant.post(`/v1/capabilities/${GENERATION}/jobs`, {
      input: { messages: messages(), responseSchema: schema },
      ...ROUTE,
      ...named,
    });
    expect((await finish(json.jobId)).status).toBe("succeeded");
    expect(sent()).toEqual(as);
    expect((await own.tenant.get(`/v1/jobs/${json.jobId}/request`)).json.request).toMatchObject(named);
  });
});

describe("a name and strictness are part of the request", () => {
  test("the same key with another name or strictness is a conflict", async () => {
    const headers = { "idempotency-key": "named" };
    const same = { messages: messages() };
    const first = await chat({ name: "thing", strict: true }, same, headers);
    expect((await chat({ name: "thing", strict: true }, same, headers)).json.id).toBe(first.json.id);
    for (const other of [
      { name: "other", strict: true },
      { name: "thing" },
      { name: "thing", strict: false },
    ]) {
      const { status, json } = await chat(other, same, headers);
      expect([status, json.error.code]).toEqual([409, "IdempotencyConflict"]);
    }
  });

  test("a key that 0.2.0 stored, which read neither, is replayed only by the same endpoint", async () => {
    // 0.2.0 stored a request with a named schema as the same request without the name.
    const question = messages();
    const { execution } = ROUTE;
    const stored = await own.tenant.post(invokeAt, {
      input: { messages: question },
      responseSchema: schema,
      execution,
      idempotencyKey: "of 0.2.0",
    });
    expect(stored.status, stored.text).toBe(200);
    const count = own.vendor.arrived.length;
    const headers = { "idempotency-key": "of 0.2.0" };
    for (const named of [{ name: "thing", strict: true }, { name: "thing" }]) {
      const { status, json, text } = await chat(named, { messages: question }, headers);
      expect([status, json.id], text).toEqual([200, stored.json.executionId]);
    }
    expect(own.vendor.arrived).toHaveLength(count);
    // The product's own interface had no such field in 0.2.0.
    const native = await own.tenant.post(invokeAt, {
      input: { messages: question },
      responseSchema: schema,
      responseSchemaName: "thing",
      execution,
      idempotencyKey: "of 0.2.0",
    });
    expect([native.status, native.json.detail?.code ?? native.json.code]).toEqual([
      409,
      "IdempotencyConflict",
    ]);
    const other = await chat({ name: "thing" }, { messages: messages() }, headers);
    expect(other.status).toBe(409);
  });
});

describe("a wrong name or strictness", () => {
  test.each<[string, object, string]>([
    ["empty", { responseSchemaName: "" }, "responseSchemaName"],
    ["too long", { responseSchemaName: "x".repeat(65) }, "responseSchemaName"],
    ["of other characters", { responseSchemaName: "a thing" }, "responseSchemaName"],
    ["a number", { responseSchemaName: 7 }, "responseSchemaName"],
    ["a list", { responseSchemaName: ["a", "b"] }, "responseSchemaName"],
    ["a word", { responseSchemaStrict: "yes" }, "responseSchemaStrict"],
    ["a number, for strictness", { responseSchemaStrict: 1 }, "responseSchemaStrict"],
  ])("a wrong name or strictness is refused at its field: %s", async (_what, named, field) => {
    const count = own.vendor.arrived.length;
    const { status, json } = await invoke({ responseSchema: schema, ...named });
    expect([status, json.detail[0].loc]).toEqual([422, ["body", field]]);
    expect(own.vendor.arrived).toHaveLength(count);
  });

  test.each([{ responseSchemaName: "thing" }, { responseSchemaStrict: false }])(
    "a name or strictness without a schema is refused: %j",
    async (named) => {
      const { status, json } = await invoke(named);
      expect([status, json.detail[0].loc]).toEqual([422, ["body", Object.keys(named)[0]]]);
      expect(json.detail[0].msg).toContain("responseSchema");
    },
  );

  test.each([
    [{ name: "" }, "name"],
    [{ name: "x".repeat(65) }, "name"],
    [{ name: 7 }, "name"],
    [{}, "name"],
    [{ name: "thing", strict: "yes" }, "strict"],
  ])(
    "a wrong or missing name, or a wrong strictness, is refused by both OpenAI endpoints: %j",
    async (named, field) => {
      const chatted = await chat(named);
      expect([chatted.status, chatted.json.error.param]).toEqual([
        422,
        `response_format.json_schema.${field}`,
      ]);
      const responded = await respond(named);
      expect([responded.status, responded.json.error.param]).toEqual([422, `text.format.${field}`]);
    },
  );

  test("an unknown field is refused with the nearest known name", async () => {
    const { status, json } = await invoke({ responseSchema: schema, responseSchemaname: "thing" });
    expect([status, json.detail.didYouMean]).toEqual([422, "responseSchemaName"]);
  });
});
