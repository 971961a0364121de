import { afterEach, expect, test } from "vitest";
import { timeCall } from "@/server/platform/log/metrics";
import { call, makeTenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { metricsAnswer } from "./metrics";
import type { Incoming } from "./transport";

afterEach(() => {
  setSettings({ METRICS_TOKEN: undefined });
});

const ask = (authorization?: string) => {
  const incoming: Incoming = {
    method: "GET",
    path: "/metrics",
    query: new URLSearchParams(),
    header: (name) => (name === "authorization" ? authorization : undefined),
    lines: () => [],
    body: null,
    params: {},
    address: "127.0.0.1",
    signal: new AbortController().signal,
  };
  return metricsAnswer(incoming);
};

/** The lines of one metric, as numbers by their labels. */
async function read(name: string): Promise<Record<string, number>> {
  const { status, headers, body } = await ask();
  expect(status).toBe(200);
  expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = String(body)
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

test("requests are counted by endpoint and status, and no label has an id", async () => {
  const tenant = await makeTenant();
  const served = "capstan_http_request_duration_seconds_count";
  const labels = '{method="GET",path="/v1/jobs/{job_id}",status="404"}';
  const before = (await read(served))[labels] ?? 0;
  const missing = "wfr_00000000000000000000000000";
  for (let n = 0; n < 3; n++) expect((await tenant.get(`/v1/jobs/${missing}`)).status).toBe(404);
  const after = await read(served);
  expect(after[labels]).toBe(before + 3);
  expect(JSON.stringify(after)).not.toContain(missing);
});

test("the backlog shows waiting jobs and the age of the oldest", { tags: "long" }, async () => {
  const tenant = await makeTenant();
  const before = (await read("capstan_jobs_queued"))[""] ?? 0;
  const { status } = await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", {
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  });
  expect(status).toBe(200);
  expect((await read("capstan_jobs_queued"))[""]).toBeGreaterThan(before);
  expect((await read("capstan_jobs_queued_oldest_seconds"))[""]).toBeGreaterThanOrEqual(0);
  expect(await read("capstan_database_up")).toEqual({ "": 1 });
  expect(Object.keys(await read("process_cpu_seconds_total"))).toEqual([""]);
});

test("ended executions are counted by mode, status and code, and calls to providers by outcome", {
  tags: "long",
}, async () => {
  const tenant = await makeTenant();
  const invoke = (preferredModel: string) =>
    tenant.post("/v1/capabilities/text.general.fast.v1/invoke", {
      input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
      preferredModel,
    });
  const ended = () => read("capstan_executions_ended_total");
  const calls = () => read("capstan_provider_call_duration_seconds_count");
  const before = { ended: await ended(), calls: await calls() };
  expect((await invoke("sandbox-1")).status).toBe(200);
  expect((await invoke("sandbox-refuse")).status).toBeGreaterThan(200);
  const after = { ended: await ended(), calls: await calls() };
  const grown = (of: "ended" | "calls") =>
    Object.entries(after[of]).filter(([labels, count]) => count > (before[of][labels] ?? 0));
  expect(
    grown("ended")
      .map(([labels]) => labels)
      .sort(),
  ).toEqual([
    '{mode="invoke_sync",status="failed",code="ProviderRejected"}',
    '{mode="invoke_sync",status="succeeded",code=""}',
  ]);
  expect(
    grown("calls")
      .map(([labels]) => labels)
      .sort(),
  ).toEqual(['{provider="sandbox",outcome="answered"}', '{provider="sandbox",outcome="refused"}']);
});

test("calls to providers are counted by account, and a process names a bounded number of accounts", async () => {
  const made = "capstan_provider_account_calls_total";
  const tenant = await makeTenant();
  const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
  const sandbox = '{provider="sandbox",account="sandbox",outcome="answered"}';
  const before = (await read(made))[sandbox] ?? 0;
  expect((await tenant.post("/v1/capabilities/text.general.fast.v1/invoke", { input })).status).toBe(200);
  expect(await read(made)).toMatchObject({ [sandbox]: before + 1 });
  const ask = (account: string) =>
    timeCall({ provider: "openai-compatible", account }, async () => "an answer", String);
  for (let n = 0; n < 600; n++) await ask(`cred_${n}`);
  await ask("cred_0");
  const of = (account: string) => `{provider="openai-compatible",account="${account}",outcome="answered"}`;
  const after = await read(made);
  expect(after[of("cred_0")]).toBe(2);
  expect(after[of("cred_599")]).toBeUndefined();
  expect(after[of("others")]).toBeGreaterThanOrEqual(100);
});

test("metrics are refused without METRICS_TOKEN when it is set", async () => {
  setSettings({ METRICS_TOKEN: "a token of Prometheus" });
  for (const authorization of [undefined, "Bearer another", "a token of Prometheus", "Bearer "]) {
    const { status, body } = await ask(authorization);
    expect(status).toBe(401);
    expect(String(body)).not.toContain("capstan_");
  }
  expect((await ask("Bearer a token of Prometheus")).status).toBe(200);
  // A key of the product is not a metrics token.
  const { key } = await makeTenant();
  expect((await ask(`Bearer ${key}`)).status).toBe(401);
  expect((await call("GET", "/metrics")).status).toBe(404); // /metrics is not an endpoint of /v1
});
