import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { call, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { listen } from "@/testing/listener";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { createCredential, learnedOf, rotateCredential } from "./index";

/* Tests that the first refusal shows which members a server takes, and that the connection stores this. */

type Body = Record<string, unknown>;
let server: Awaited<ReturnType<typeof listen>>;
let received: Body[] = [];
const url = () => `http://127.0.0.1:${server.port}`;

/**
 * The server takes only `max_completion_tokens` for models whose name begins with `new`, and never
 * `stream_options`.
 */
beforeAll(async () => {
  server = await listen((request, text, response) => {
    const answer = (status: number, body: object, type = "application/json") => {
      response.writeHead(status, { "content-type": type });
      response.end(
        type === "application/json"
          ? JSON.stringify(body)
          : `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`,
      );
    };
    if (request.method === "GET") return answer(200, { data: [] });
    const body: Body = JSON.parse(text);
    received.push(body);
    const refused = String(body.model).startsWith("new") ? "max_tokens" : "max_completion_tokens";
    const unknown = [refused, "stream_options"].find((member) => member in body);
    if (unknown) return answer(400, { error: { message: `Unsupported parameter: '${unknown}'` } });
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const content = { content: "Hello" };
    if (body.stream)
      return answer(200, { choices: [{ delta: content, finish_reason: "stop" }] }, "text/event-stream");
    return answer(200, { choices: [{ message: content, finish_reason: "stop" }], usage });
  });
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
});
afterAll(() => server.stop());
beforeEach(() => {
  received = [];
});

const MODELS = "new-1:1:2,new-2:1:2,old-1:1:2";
const connection = { provider: "openai-compatible", secret: "sk-own-123456", models: MODELS };

async function connected(): Promise<Tenant & { credentialId: string }> {
  const tenant = await makeTenant();
  const { credentialId } = await createCredential(
    system,
    tenant.organizationId,
    { ...connection, label: "own", endpointUrl: url() },
    { places: [{ projectId: tenant.projectId, environment: "development" }] },
  );
  return { ...tenant, credentialId };
}

let asked = 0;
/** Sends a request that repeats no other. */
const ask = async (tenant: Tenant, model: string, more: object = {}) => {
  const { status, text, json } = await tenant.post("/v1/chat/completions", {
    model: `openai-compatible/${model}`,
    messages: [{ role: "user", content: `Hello ${++asked}` }],
    ...more,
  });
  expect(status, text).toBe(200);
  return json;
};
const limits = () =>
  received.map((body) => ["max_tokens", "max_completion_tokens"].find((member) => member in body));
const rulesOf = async ({
  credentialId,
  organizationId,
}: {
  credentialId: string;
  organizationId: string;
}) => {
  const headers = await sessionHeaders(organizationId, "owner");
  const one = await call("GET", `/v1/connections/${credentialId}`, { headers });
  const list = await call("GET", "/v1/connections", { headers });
  expect(list.json.items.find(({ id }: { id: string }) => id === credentialId).requestRules).toEqual(
    one.json.requestRules,
  );
  return one.json.requestRules;
};

test("the first refusal is learned: later calls send what the server takes, for each model separately", async () => {
  const tenant = await connected();
  expect(await rulesOf(tenant)).toEqual([]);
  const first = await ask(tenant, "new-1");
  expect(limits()).toEqual(["max_tokens", "max_completion_tokens"]);
  await ask(tenant, "new-1");
  await ask(tenant, "old-1");
  expect(limits().slice(2)).toEqual(["max_completion_tokens", "max_tokens"]);
  expect(await rulesOf(tenant)).toEqual([
    { model: "new-1", outputLimit: "max_completion_tokens", streamOptions: true },
  ]);
  // The refusal cost nothing, and its execution has one attempt.
  const { rows } = await pool.query(
    "SELECT j.actual_micros AS cost, (SELECT count(*) FROM attempt a WHERE a.job_id = j.id) AS attempts FROM job j WHERE j.id = $1",
    [first.id],
  );
  expect(rows).toEqual([{ cost: 20, attempts: 1 }]);
});

test("concurrent calls that learn different rules keep both", async () => {
  const tenant = await connected();
  await Promise.all([
    ...Array.from({ length: 4 }, () => ask(tenant, "new-1")),
    ask(tenant, "old-1", { stream: true }),
    ask(tenant, "new-2", { stream: true }),
    ask(tenant, "new-2"),
  ]);
  const learned = [
    { model: "new-1", outputLimit: "max_completion_tokens", streamOptions: true },
    { model: "new-2", outputLimit: "max_completion_tokens", streamOptions: false },
    { model: "old-1", outputLimit: "max_tokens", streamOptions: false },
  ];
  expect(await rulesOf(tenant)).toEqual(learned);
  received = [];
  await ask(tenant, "new-2", { stream: true });
  expect(received).toHaveLength(1);
});

test("a rule learned later is added to the known ones, for its own model only", async () => {
  const tenant = await connected();
  const account = { credentialId: tenant.credentialId };
  const of = (model: string) => learnedOf({ account, baseUrl: url(), requestRules: {} }, model);
  await of("new-1").learn?.({ streamOptions: false });
  await of("new-2").learn?.({ streamOptions: false });
  await of("new-1").learn?.({ outputLimit: "max_completion_tokens" });
  await of("new-1").learn?.({ streamOptions: false });
  expect(await rulesOf(tenant)).toEqual([
    { model: "new-1", outputLimit: "max_completion_tokens", streamOptions: false },
    { model: "new-2", outputLimit: "max_tokens", streamOptions: false },
  ]);
});

test("a rotation discards the learned rules", async () => {
  const tenant = await connected();
  await ask(tenant, "new-1");
  await rotateCredential(system, tenant.organizationId, tenant.credentialId, {
    input: { ...connection, secret: "sk-new-123456" },
  });
  expect(await rulesOf(tenant)).toEqual([]);
});

test("a rule that a call learned from another address than the connection's is not stored", async () => {
  const tenant = await connected();
  const account = { credentialId: tenant.credentialId };
  const { learn } = learnedOf({ account, baseUrl: `${url()}/before`, requestRules: {} }, "new-1");
  await learn?.({ streamOptions: false });
  expect(await rulesOf(tenant)).toEqual([]);
});

test("the rules of an operator's account are remembered by address and model", async () => {
  const of = (baseUrl: string, model: string) =>
    learnedOf({ account: "operator", baseUrl, requestRules: undefined }, model);
  expect(of(url(), "acme").rules).toBeUndefined();
  await of(url(), "acme").learn?.({ outputLimit: "max_completion_tokens" });
  await of(url(), "acme").learn?.({ streamOptions: false });
  expect(of(url(), "acme").rules).toEqual({ outputLimit: "max_completion_tokens", streamOptions: false });
  expect(of(url(), "other").rules).toBeUndefined();
  expect(of(`${url()}/v2`, "acme").rules).toBeUndefined();
});

test("a rule that cannot be stored does not fail the call", async () => {
  const { learn } = learnedOf(
    { account: { credentialId: "cred_gone" }, baseUrl: url(), requestRules: {} },
    "\u0000",
  );
  await expect(learn?.({ streamOptions: false })).resolves.toBeUndefined();
});
