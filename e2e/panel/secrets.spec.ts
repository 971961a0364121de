import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type APIRequestContext, expect, test } from "@playwright/test";
import { keyPrefix } from "@/server/domain/access/key-text";
import { needlesOf, type Secret, sweep, type Text } from "@/testing/canary/sweep";
import { admin, call, makePerson, unique, world } from "../world";
import { enter, isFull, open } from "./panel";

/*
 * No page contains a secret. The test searches for the installation's own secrets, secrets that people entered and secrets
 * shown once in each page that an owner and operator receives, including its script data, and in each script that the pages
 * name.
 */

/** Every page of the app, by its path; the values of its parameters are below. */
const PAGES = readdirSync("app", { recursive: true, encoding: "utf8" })
  .filter((file) => /(^|\/)page\.tsx$/.test(file))
  .map((file) => `/${file.replace(/\/?page\.tsx$/, "")}`.replaceAll(/\/\([^)]*\)/g, "") || "/");

/** The pages to search: all of them in a full run, otherwise every fourth and those about secrets. */
const swept = () =>
  PAGES.filter(
    (page, place) => isFull() || place % 4 === 0 || /(connections|keys|webhooks|panels|account)$/.test(page),
  );

/** A provider that accepts any key. */
async function startVendor() {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data: [] }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise((closed) => server.close(closed)) };
}

/** The installation's own secrets, by name. */
function installed(): Secret[] {
  const dataDir = process.env.CAPSTAN_E2E_DATA_DIR ?? process.env.CAPSTAN_DATA_DIR ?? "";
  const kept: Record<string, unknown> = JSON.parse(readFileSync(join(dataDir, "secrets.json"), "utf8"));
  return Object.entries(kept).map(([name, value]) => ({ name, value: String(value) }));
}

async function posted(request: APIRequestContext, path: string, data: object) {
  const answer = await request.post(path, { data, headers: { origin: world.baseUrl } });
  if (!answer.ok()) throw new Error(`${path} answered ${answer.status()}: ${await answer.text()}`);
  return answer.json();
}

/** The path parameters of the pages of a project: a job and its receipt are made, and other objects have invented ids. */
async function parameters(projectId: string, key: string): Promise<Record<string, string>> {
  const ask = async (path: string, body?: object) => {
    const answer = await call(path, body ? { key, body } : { key });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const context = { projectId };
  const told = await ask("/v1/capabilities/compute.evaluate.v1/invoke", {
    context,
    input: { expression: "1 + 1" },
  });
  const none = {
    adapterId: "adp",
    bulkId: "blk",
    comparisonId: "cmp",
    manifestId: "man",
    paymentId: "pay",
    quoteId: "cq",
    requestId: "cr",
  };
  return {
    projectId,
    jobId: told.executionId,
    receiptId: told.receiptId,
    capabilityKey: "image.generate.v1",
    alias: "nobody",
    ...Object.fromEntries(
      Object.entries(none).map(([name, prefix]) => [name, `${prefix}_${"0".repeat(26)}`]),
    ),
  };
}

const addressOf = (page: string, values: Record<string, string>) =>
  page.replaceAll(/\[(\w+)\]/g, (_, name: string) => {
    const value = values[name];
    if (!value) throw new Error(`${page}: add a value for ${name} to this test`);
    return value;
  });

test("no page and no script contains a secret", { tag: "@long" }, async ({ page }) => {
  test.setTimeout(300_000);
  const vendor = await startVendor();
  try {
    // An organization of its own, so that its connections do not affect other tests.
    const { organizationId } = admin("organization", "create", "--name", unique("Swept"));
    const { projectId } = admin("project", "create", "--name", "Swept", "--organization", organizationId);
    const { apiKey: key } = admin("key", "create", "--project", projectId, "--name", "Swept");
    const person = makePerson("owner", { isOperator: true, organizationId });
    await enter(page.context(), person);
    await open(page, "/");
    const { request } = page;

    const own: Record<string, string> = {
      "an account's key": `sk-${unique("a")}${crypto.randomUUID()}`,
      "a webhook's secret": `whsec_${Buffer.from(crypto.randomUUID()).toString("base64")}`,
    };
    const label = unique("Swept");
    await posted(request, "/v1/connections", {
      provider: "openai-compatible",
      label,
      projectId,
      environment: "production",
      secret: own["an account's key"],
      endpointUrl: `${vendor.url}/v1`,
      models: "llama-3:0.20:0.60",
    });
    const hook = await call("/v1/delivery-endpoints", {
      key,
      body: {
        url: `${vendor.url}/hook`,
        secret: own["a webhook's secret"],
      },
    });
    expect(hook.ok).toBe(true);
    const session = await (
      await call("/v1/panel-sessions", {
        key,
        body: {
          projectId,
          allowedOrigins: ["https://host.example"],
          maxSpendMicros: 1_000_000,
        },
      })
    ).json();
    const code = await (
      await call(`/v1/panel-sessions/${session.sessionId}/launch-codes`, { key, body: {} })
    ).json();
    const cookies = await page.context().cookies();
    const secrets: Secret[] = [
      ...installed(),
      ...Object.entries(own).map(([name, value]) => ({ name, value })),
      { name: "a session of an embed", value: session.accessToken },
      { name: "a launch code", value: code.code },
      { name: "the key of a project", value: key },
      { name: "a key of the organization", value: world.unboundApiKey },
      { name: "a password", value: person.password },
      ...cookies.filter(({ httpOnly }) => httpOnly).map(({ name, value }) => ({ name, value })),
    ].filter(({ value }) => value.length >= 12);
    expect(secrets.length).toBeGreaterThan(8);
    // The keys page distinguishes keys by their prefix.
    const shown = `${keyPrefix(key)} ${keyPrefix(world.unboundApiKey)}`;
    const needles = needlesOf(secrets, shown);

    const values = await parameters(projectId, key);
    const texts: Text[] = [];
    const scripts = new Set<string>();
    expect(PAGES.length).toBeGreaterThan(40);
    for (const each of swept()) {
      const address = addressOf(each, values);
      const html = await request.get(address);
      expect([address, html.status() < 500]).toEqual([address, true]);
      const text = await html.text();
      texts.push({ where: each, text });
      for (const [, script = ""] of text.matchAll(/src="(\/_next\/static\/[^"]+\.js)/g)) scripts.add(script);
    }
    expect(scripts.size).toBeGreaterThan(10);
    for (const script of scripts)
      texts.push({ where: script, text: await (await request.get(script)).text() });
    expect(texts.some(({ where, text }) => where.includes("/connections") && text.includes(label))).toBe(
      true,
    );
    expect(sweep(texts, needles)).toEqual([]);
    // Check that the search finds a present secret.
    const planted = { where: "planted", text: `…${key.slice(-20)}…` };
    expect(sweep([planted], needles)).toHaveLength(1);
  } finally {
    await vendor.stop();
  }
});
