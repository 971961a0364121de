import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { startVendor } from "@/server/providers/testing/vendor";
import { finish, makeTenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { MODELS } from "@/testing/vault";
import {
  ANSWER,
  at,
  closeVendor,
  connect,
  input,
  openVendor,
  quoted,
  receiptOf,
  sent,
  vendor,
} from "./connections.fixture";

const CHAT = {
  json: {
    id: "chat-1",
    model: "llama",
    choices: [{ finish_reason: "stop", message: { content: "Deep." } }],
    usage: { prompt_tokens: 1_000_000, completion_tokens: 2 },
  },
};

beforeAll(openVendor);
afterAll(() => closeVendor());
afterEach(() => {
  setSettings({ OPENAI_API_KEY: undefined });
  vi.restoreAllMocks();
});

test("the models of a customer's own server are targets of its project alone, at their listed prices and with its own key", async () => {
  const [tenant, stranger] = [await makeTenant(), await makeTenant()];
  const server = await startVendor();
  try {
    server.answer(MODELS);
    const models = "llama:0.25:0.5,llama:big:1:2";
    const own = { provider: "openai-compatible", endpointUrl: `${server.url}/v1/`, models };
    const { secret } = await connect(tenant, own);
    await connect(stranger);
    const named = { executionConstraints: { preferredModel: "llama:big" } };
    expect((await quoted(tenant, named)).resolved).toMatchObject({
      provider: "openai-compatible",
      model: "llama:big",
      billingMode: "byok",
    });
    expect((await quoted(stranger, named)).detail.code).toBe("ROUTE_UNAVAILABLE");
    const wanted = { input, execution: { executionConstraints: { preferredModel: "llama" } } };
    const { jobId } = (await tenant.post(at("jobs"), wanted)).json;
    server.answer(CHAT);
    vendor.answer(ANSWER);
    expect((await finish(jobId)).status).toBe("succeeded");
    expect(server.arrived.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1/chat/completions", `Bearer ${secret}`],
    ]);
    expect(sent()).toEqual([]);
    // The cost follows the prices that the owner listed, for a million tokens and two.
    expect((await receiptOf(tenant, jobId)).pricing.providerCost.amount.amountMicros).toBe(250_001);
  } finally {
    await server.stop();
  }
});

test("of several servers in one environment, the first has the provider's name and further ones add their label", async () => {
  const tenant = await makeTenant();
  const servers = await Promise.all([startVendor(), startVendor(), startVendor()]);
  onTestFinished(async () => void (await Promise.all(servers.map((each) => each.stop()))));
  for (const each of servers) each.answer(MODELS);
  const own = (place: number, label?: string) => ({
    provider: "openai-compatible",
    endpointUrl: servers[place]!.url,
    models: "llama:1:1",
    ...(label ? { label } : {}),
  });
  const first = await connect(tenant, own(0, "Old rack"));
  const second = await connect(tenant, own(1, "GPU Lab"));
  const preferring = (providerPin: string) => ({
    executionConstraints: { providerPin, preferredModel: "llama" },
  });
  expect((await quoted(tenant, preferring("openai-compatible"))).resolved.provider).toBe("openai-compatible");
  const named = "openai-compatible:gpu-lab";
  expect((await quoted(tenant, preferring(named))).resolved).toMatchObject({
    provider: named,
    model: "llama",
  });

  const { jobId } = (await tenant.post(at("jobs"), { input, execution: preferring(named) })).json;
  servers[1]!.answer(CHAT);
  expect((await finish(jobId)).status).toBe("succeeded");
  expect(
    servers.map(({ arrived }) =>
      arrived.flatMap(({ method, headers }) => (method === "POST" ? [headers.authorization] : [])),
    ),
  ).toEqual([[], [`Bearer ${second.secret}`], []]);
  expect(first.secret).not.toBe(second.secret);
  expect((await receiptOf(tenant, jobId)).route).toMatchObject({ provider: named, model: "llama" });
  expect((await quoted(tenant, { executionConstraints: { providerPin: `${named}-2` } })).detail.code).toBe(
    "ROUTE_UNAVAILABLE",
  );
});

test("a lockfile made while an environment had one server verifies after another one got a name", async () => {
  const tenant = await makeTenant();
  const servers = await Promise.all([startVendor(), startVendor()]);
  onTestFinished(async () => void (await Promise.all(servers.map((each) => each.stop()))));
  for (const each of servers) each.answer(MODELS);
  const own = (place: number, label: string) => ({
    provider: "openai-compatible",
    endpointUrl: servers[place]!.url,
    models: "llama:1:1",
    label,
  });
  await connect(tenant, own(0, "Old rack"));
  servers[0]!.answer(CHAT);
  const pin = { provider: "openai-compatible", model: "llama", api: "chat-completions" };
  const { json, text } = await tenant.post("/v1/inference/pinned", {
    pin,
    input: "How deep is the sea?",
    sampling: { maxOutputTokens: 100 },
  });
  expect(json.receipt, text).toBeDefined();
  const lockfile = await tenant.get(`/v1/provenance/lockfile?receipt_id=${json.receipt.receipt_id}`);
  expect(lockfile.json.pin).toEqual(pin);

  await connect(tenant, own(1, "GPU Lab"));
  const verified = await tenant.post("/v1/provenance/lockfile/verify", lockfile.json);
  expect(verified.json).toMatchObject({ verified: true });
});
