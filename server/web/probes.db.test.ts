import { afterEach, expect, test } from "vitest";
import { setSettings } from "@/testing/settings";
import { type Probes, startProbes } from "./probes";

let probes: Probes;
afterEach(() => {
  setSettings({ METRICS_TOKEN: undefined });
  return probes.stop();
});

const ask = async (path: string, init?: RequestInit) => {
  const answer = await fetch(probes.url + path, init);
  return { status: answer.status, body: await answer.text() };
};

test("a process without an API reports that it lives, that it can work and what it counts, and nothing else", async () => {
  probes = await startProbes({ host: "127.0.0.1", port: 0 });
  expect(await ask("/healthz")).toEqual({ status: 200, body: '{"status":"ok"}' });
  expect(await ask("/readyz")).toEqual({ status: 200, body: '{"status":"ready"}' });
  expect(await ask("/readyz", { method: "HEAD" })).toEqual({ status: 200, body: "" });
  const { status, body } = await ask("/metrics");
  expect(status).toBe(200);
  expect(body).toMatch(/^capstan_database_up 1$/m);
  expect(body).toMatch(/^process_cpu_seconds_total /m);
  for (const path of ["/", "/v1/capabilities", "/toString", "/openapi.json"])
    expect((await ask(path)).status).toBe(404);
  expect((await ask("/healthz", { method: "POST", body: "{}" })).status).toBe(404);
});

test("the metrics of such a process require METRICS_TOKEN, as those of a web process do", async () => {
  setSettings({ METRICS_TOKEN: "a token of Prometheus" });
  probes = await startProbes({ host: "127.0.0.1", port: 0 });
  expect((await ask("/metrics")).status).toBe(401);
  const headers = { authorization: "Bearer a token of Prometheus" };
  expect((await ask("/metrics", { headers })).status).toBe(200);
});

test("a stopping process is not ready any more, and still lives", async () => {
  probes = await startProbes({ host: "127.0.0.1", port: 0 });
  probes.drain();
  expect(await ask("/readyz")).toEqual({ status: 503, body: '{"status":"draining"}' });
  expect((await ask("/healthz")).status).toBe(200);
});
