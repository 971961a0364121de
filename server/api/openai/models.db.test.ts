import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as credentials from "@/server/domain/connections";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { startServer, type WebServer } from "@/server/web/server";
import { makeKey, makeTenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { refusal } from "./client.fixture";

/* The values of `model` and the list of models, with OpenAI's own unmodified client. */

const FAST = "text.general.fast.v1";
const messages = [{ role: "user" as const, content: "How deep are the rivers?" }];
const COMPLETION = {
  id: "chatcmpl-1",
  model: "served",
  choices: [{ message: { content: "Nine metres." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
};

let vendor: Vendor;
let server: WebServer;
const before = { ...env };
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true, OPENAI_BASE_URL: vendor.url });
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
});
afterAll(async () => {
  setSettings(before);
  await server.stop(1_000);
  await vendor.stop();
});

const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${server.url}/v1` });

/** A tenant whose development environment has these accounts, and OpenAI's client with its key. */
async function makeConnected(...accounts: { provider: string; models?: string }[]) {
  const tenant = await makeTenant();
  vendor.answer({ json: { object: "list", data: [] } });
  for (const { provider, models } of accounts)
    await credentials.createCredential(
      system,
      tenant.organizationId,
      {
        provider,
        secret: "sk-1",
        label: provider,
        ...(models ? { endpointUrl: vendor.url, models } : {}),
      },
      { places: [{ projectId: tenant.projectId, environment: "development" }] },
    );
  vendor.answer({ json: COMPLETION });
  return { tenant, client: clientOf(tenant.key) };
}

const ownServer = (models: string) => ({ provider: "openai-compatible", models });

// biome-ignore lint/suspicious/noExplicitAny: OpenAI's type of a model has no metadata
const metadataOf = (model: unknown) => (model as any).metadata;

async function list(client: OpenAI) {
  const found = new Map<string, OpenAI.Model>();
  for await (const model of client.models.list()) found.set(model.id, model);
  return found;
}

describe("a vendor's own model name", () => {
  test("a model runs if exactly one connected account has it", { tags: "long" }, async () => {
    const { client, tenant } = await makeConnected(ownServer("acme-small:1:2,org/acme@large:1:2"));
    for (const model of ["acme-small", `${FAST}@acme-small`, "org/acme@large"]) {
      const completion = await client.chat.completions.create({ model, messages });
      const { json: job } = await tenant.get(`/v1/jobs/${completion.id}`);
      expect(job).toMatchObject({ capabilityKey: FAST, status: "succeeded" });
      expect(completion.model).toBe(`openai-compatible/${model.replace(`${FAST}@`, "")}`);
    }
    const response = await client.responses.create({ model: "acme-small", input: "How deep?" });
    expect(response.output_text).toBe("Nine metres.");
    expect((await client.models.retrieve("acme-small")).id).toBe("acme-small");
  });

  test("a model of the sandbox runs, because no other account has it", async () => {
    const { client } = await makeConnected();
    const { model } = await client.chat.completions.create({ model: "sandbox-2", messages });
    expect(model).toBe("sandbox/sandbox-2");
  });

  test("a model that several accounts have is refused, naming them", async () => {
    const { client } = await makeConnected(ownServer("gpt-4.1-mini:1:2"), { provider: "openai" });
    const error = await refusal(client.chat.completions.create({ model: "gpt-4.1-mini", messages }));
    expect(error).toMatchObject({ status: 422, code: "InvalidInput", param: "model" });
    expect(error.message).toContain("openai/gpt-4.1-mini");
    expect(error.message).toContain("openai-compatible/gpt-4.1-mini");
    expect(vendor.arrived).toEqual([]);
  });

  test("a model of a provider that is not connected is refused with where to connect it", async () => {
    const { client, tenant } = await makeConnected();
    const error = await refusal(client.chat.completions.create({ model: "gpt-4.1-mini", messages }));
    expect(error).toMatchObject({ status: 409, code: "CONNECTION_REQUIRED" });
    expect(JSON.stringify(error.error)).toContain(`/projects/${tenant.projectId}/connections`);
    expect(JSON.stringify(error.error)).toContain("provider=openai");
  });
});

describe("an unknown name", () => {
  test("an unknown name gets the nearest of the caller's models and capabilities, and where to connect", async () => {
    const { client, tenant } = await makeConnected(ownServer("acme-small:1:2"));
    const error = await refusal(client.chat.completions.create({ model: "gpt-4o", messages }));
    expect(error).toMatchObject({ status: 404, code: "UNKNOWN_CAPABILITY", param: "model" });
    const { details } = error.error as { details: { nearestMatches: string[]; connectUrl: string } };
    expect(details.nearestMatches).toContain("openai-compatible/acme-small");
    expect(details.nearestMatches).toContain(FAST);
    expect(details.connectUrl).toContain(`/projects/${tenant.projectId}/connections`);
    expect(error.message).toContain("gpt-4o");
    expect(error.message).toContain("openai-compatible/acme-small");
    expect(error.message).toContain(details.connectUrl);
    expect((await refusal(client.models.retrieve("gpt-4o"))).status).toBe(404);
  });

  test.each(["acme-smal", "openai/gpt-9", "unknown/model", `${FAST}@nothing`, "text.general.fast.v2"])(
    "%s is 404 with the nearest matches",
    async (model) => {
      const { client } = await makeConnected(ownServer("acme-small:1:2"));
      const error = await refusal(client.chat.completions.create({ model, messages }));
      expect(error).toMatchObject({ status: 404, code: "UNKNOWN_CAPABILITY", param: "model" });
      const { nearestMatches } = (error.error as { details: { nearestMatches: string[] } }).details;
      if (model === "acme-smal") expect(nearestMatches[0]).toBe("openai-compatible/acme-small");
      if (model.endsWith(".v2")) expect(nearestMatches[0]).toBe(FAST);
    },
  );

  test("a capability of another kind is refused with its own endpoints", async () => {
    const { client } = await makeConnected();
    const error = await refusal(client.chat.completions.create({ model: "text.translate.v1", messages }));
    expect(error.message).toContain("/v1/capabilities/text.translate.v1");
  });
});

describe("the list of models", () => {
  test("each model has its limits, price and features", async () => {
    const { client } = await makeConnected(ownServer("acme-small:1.5:2"), { provider: "openai" });
    const models = await list(client);
    expect(metadataOf(models.get("openai/gpt-4.1-mini"))).toMatchObject({
      endpoints: ["/v1/chat/completions", "/v1/responses"],
      contextWindow: 128_000,
      prices: [{ per: "million_tokens", currency: "USD", input: 0.4, cachedInput: 0.1, output: 1.6 }],
      features: { tools: true, vision: true, temperature: true },
    });
    const own = models.get("openai-compatible/acme-small");
    expect(own?.owned_by).toBe("openai-compatible");
    expect(metadataOf(own)).toMatchObject({ contextWindow: 128_000, prices: [{ input: 1.5, output: 2 }] });
    expect(models.has("deepseek/deepseek-chat")).toBe(false);
  });

  test("a model's output limit is the one of a request without a limit", async () => {
    const { client } = await makeConnected(ownServer("acme-small:1.5:2"));
    const { defaultMaxOutputTokens } = metadataOf(await client.models.retrieve("acme-small"));
    await client.chat.completions.create({ model: "acme-small", messages });
    expect(JSON.parse(vendor.arrived.at(-1)?.body ?? "").max_tokens).toBe(defaultMaxOutputTokens);
    expect(defaultMaxOutputTokens).toBeGreaterThan(0);
  });

  test("a capability names the model that it would use now", async () => {
    const { client } = await makeConnected({ provider: "openai" });
    const model = metadataOf((await list(client)).get(FAST));
    expect(model).toMatchObject({ route: expect.stringMatching(/^openai\//), prices: [{ input: 1 }] });
  });

  test("each id is listed once", async () => {
    const { client } = await makeConnected();
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("models that the organization has switched off are not listed, and listing needs the right to run", async () => {
    const { tenant } = await makeConnected({ provider: "openai" });
    await pool.query(
      "UPDATE organization SET settings = settings || '{\"externalActions\": false}' WHERE id = $1",
      [tenant.organizationId],
    );
    const ids = [...(await list(clientOf(tenant.key))).keys()];
    expect(ids.some((id) => id.startsWith("openai/"))).toBe(false);
    const reader = await makeKey({ projectId: tenant.projectId, scopes: ["jobs:read"] });
    expect((await refusal(clientOf(reader).models.list())).status).toBe(403);
  });
});
