import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { freePort } from "../../scripts/launch/system";
import { signedIn } from "../needs";
import { ended, makePerson, submit, world } from "../world";

/*
 * The web process answers /v1 itself without Next. Under plain `next start` the same endpoints answer through their route
 * files. Both must respond alike.
 */

const dataDir = process.env.CAPSTAN_E2E_DATA_DIR ?? process.env.CAPSTAN_DATA_DIR ?? ".data";
let plain: ChildProcess;
let plainUrl: string;

test.beforeAll(async () => {
  const runtime = JSON.parse(readFileSync(join(dataDir, "runtime.json"), "utf8"));
  const secrets = JSON.parse(readFileSync(join(dataDir, "secrets.json"), "utf8"));
  const port = await freePort();
  plainUrl = `http://127.0.0.1:${port}`;
  plain = spawn(
    process.execPath,
    ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", String(port)],
    {
      env: {
        ...process.env,
        NODE_ENV: "production",
        CAPSTAN_ENV: "development",
        CAPSTAN_DATA_DIR: dataDir,
        DATABASE_URL: runtime.databaseUrl,
        SANDBOX_URL: runtime.sandboxUrl ?? "",
        PUBLIC_URL: world.baseUrl,
        NEXTAUTH_URL: world.baseUrl,
        NEXTAUTH_SECRET: process.env.NEXTAUTH_SECRET ?? secrets.nextAuthSecret ?? "",
      },
      stdio: "ignore",
    },
  );
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(`${plainUrl}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error("next start did not become ready");
});

test.afterAll(() => {
  plain?.kill("SIGTERM");
});

// Content-length is left out, because Next may send the same bytes in chunks.
const HEADERS = [
  "content-type",
  "content-range",
  "content-disposition",
  "etag",
  "accept-ranges",
  "allow",
  "x-content-type-options",
  "content-security-policy",
];

type Ask = { method?: string; path: string; headers?: Record<string, string>; body?: unknown; raw?: string };

async function ask(base: string, { method, path, headers = {}, body, raw }: Ask) {
  const answer = await fetch(`${base}${path}`, {
    method: method ?? (body === undefined && raw === undefined ? "GET" : "POST"),
    headers: {
      ...(path.startsWith("/v1") ? { authorization: `Bearer ${world.apiKey}` } : {}),
      ...(body === undefined && raw === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: raw ?? (body === undefined ? null : JSON.stringify(body)),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return {
    status: answer.status,
    headers: Object.fromEntries(HEADERS.map((name) => [name, answer.headers.get(name)])),
    hasOwn: ["x-request-id", "x-capstan-version", "ratelimit-limit"].map((name) => answer.headers.has(name)),
    // A request's id, its replay flag, and a new quote's id and lifetime differ from call to call.
    body: bytes
      .toString("latin1")
      .replace(/req_[0-9a-z]{26}/g, "req_…")
      .replace(/"replayed":(true|false)/g, '"replayed":"…"')
      .replace(/quote_[0-9a-z]{26}/g, "quote_…")
      .replace(/"expiresAt":"[^"]+"/g, '"expiresAt":"…"'),
  };
}

test("the web process and plain next start give the same responses", async () => {
  test.setTimeout(120_000);
  const { jobId } = await submit({
    capability: "image.generate.v1",
    input: { prompt: "Two doors, one room", width: 816, height: 816 },
  });
  const job = await ended(jobId);
  const artifact = job.primaryArtifactId;
  const key = randomUUID();
  const question = { input: { messages: [{ role: "user", content: "Same?" }] }, idempotencyKey: key };
  const streamed = await ask(world.baseUrl, {
    path: "/v1/capabilities/text.general.fast.v1/invoke",
    body: { input: { messages: [{ role: "user", content: "Tell me of doors." }] }, executionMode: "Stream" },
  });
  const { executionId } = JSON.parse(streamed.body);
  const asStream = { accept: "text/event-stream" };
  const asks: Ask[] = [
    // The first reader gets it live, and the second from the stored rows.
    { path: `/v1/executions/${executionId}/events`, headers: asStream },
    { path: `/v1/executions/${executionId}/events`, headers: { ...asStream, "last-event-id": "2" } },
    { path: `/v1/jobs/${executionId}/events`, headers: asStream },
    { path: `/v1/jobs/${job.jobId}/events?type=job.succeeded`, headers: asStream },
    { path: `/v1/executions/wfr_00000000000000000000000000/events`, headers: asStream },
    { path: "/.well-known/jwks.json" },
    { path: `/v1/projects/${world.projectId}/references?limit=1` },
    { path: "/v1/jobs", body: {} },
    { path: "/v1/capabilities" },
    { path: "/v1/capabilities?view=summary&q=image" },
    { path: "/v1/capabilities", headers: { authorization: "" } },
    { path: "/v1/capabilities/image.generate.v1" },
    { path: "/v1/capabilities/image.generate.v1/execution-targets" },
    { path: "/v1/capabilities/no.such.v1" },
    { path: "/v1/capabilities/image.generate.v1", method: "DELETE" },
    { path: "/v1/capabilities", method: "HEAD" },
    { path: "/v1/nothing-here" },
    { path: "/v1/jobs", headers: { authorization: "Bearer cap_development_wrong" } },
    { path: "/v1/jobs", headers: { authorization: "" } },
    { path: "/v1/capabilities/text.general.fast.v1/quote", body: { input: question.input } },
    { path: "/v1/capabilities/text.general.fast.v1/estimate", body: { input: {} } },
    { path: "/v1/capabilities/text.general.fast.v1/invoke", body: question },
    {
      path: "/v1/capabilities/text.general.fast.v1/invoke",
      body: { ...question, input: { messages: [{ role: "user", content: "Other." }] } },
    },
    { path: "/v1/capabilities/compute.evaluate.v1/jobs", body: { expression: "1" } },
    { path: "/v1/capabilities/image.generate.v1/invoke", body: { prompt: "x" } },
    { path: "/v1/capabilities/text.general.fast.v1/jobs", body: { input: question.input, unknown: 1 } },
    { path: "/v1/capabilities/text.general.fast.v1/jobs", raw: '{"a":1,"a":2}' },
    { path: "/v1/capabilities/text.general.fast.v1/jobs", raw: "{" },
    {
      path: "/v1/capabilities/text.general.fast.v1/jobs",
      raw: "x",
      headers: { "content-type": "text/plain" },
    },
    { path: `/v1/jobs/${job.jobId}` },
    { path: `/v1/jobs/${job.jobId}/events?limit=2` },
    { path: `/v1/jobs/${job.jobId}/events?cursor=abc` },
    { path: `/v1/jobs/${job.jobId}/request` },
    { path: `/v1/jobs/${job.jobId}/result` },
    { path: `/v1/jobs/${job.jobId}/receipt` },
    { path: `/v1/jobs/${job.jobId}/cancel`, method: "POST" },
    { path: `/v1/jobs/${job.jobId}/artifacts/${artifact}` },
    { path: `/v1/jobs/${job.jobId}/artifacts/${artifact}`, headers: { range: "bytes=10-99" } },
    { path: `/v1/jobs/${job.jobId}/artifacts/${artifact}`, headers: { range: "bytes=99999999-" } },
    { path: `/v1/jobs/${job.jobId}/artifacts/${artifact}`, method: "HEAD" },
    { path: `/v1/jobs/${job.jobId}/artifacts/art_00000000000000000000000000` },
    { path: `/v1/projects/${world.projectId}/jobs?status=nonsense` },
    { path: "/openapi.json" },
    { path: "/healthz" },
  ];
  for (const one of asks) {
    const ours = await ask(world.baseUrl, one);
    const theirs = await ask(plainUrl, one);
    expect(
      theirs,
      `${one.method ?? "GET/POST"} ${one.path} ${JSON.stringify(one.body ?? one.raw ?? "")}`,
    ).toEqual(ours);
  }
});

test("the web process and plain next start keep the lines of a repeated header apart, and read them as UTF-8", async () => {
  const key = `clé-${randomUUID()}`;
  const sent = async (base: string, lines: string[]) => {
    const request = httpRequest(`${base}/v1/capabilities/compute.evaluate.v1/invoke`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.apiKey}`,
        "content-type": "application/json",
        "idempotency-key": lines.map((line) => Buffer.from(line).toString("latin1")),
      },
    });
    request.end(Buffer.from('{"input":{"expression":"6 * 7"}}')); // Node would send the head in the encoding of a text
    const [response]: [IncomingMessage] = await once(request, "response").then(([first]) => [first]);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const { executionId, code } = JSON.parse(Buffer.concat(chunks).toString());
    return executionId ?? code;
  };
  const first = await sent(world.baseUrl, [key]);
  expect(first).toMatch(/^wfr_/);
  for (const base of [world.baseUrl, plainUrl]) {
    expect(await sent(base, [key, `"${key}"`]), base).toBe(first);
    expect(await sent(base, [key, "other"]), base).toBe("InvalidInput");
  }
});

test("the web process and plain next start serve a signed-in browser's request without a body or content type", async ({
  browser,
}) => {
  const { context } = await signedIn(browser, makePerson("member"));
  const cookies = await context.cookies();
  const headers = {
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
    origin: world.baseUrl,
  };
  for (const base of [world.baseUrl, plainUrl]) {
    const answer = await fetch(`${base}/v1/auth/sessions/ses_00000000000000000000000000`, {
      method: "DELETE",
      headers,
    });
    expect(answer.status, base).toBe(404);
  }
  await context.close();
});
