import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { putAdapter } from "@/server/domain/adapters/adapters.fixture";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { setSettings } from "@/testing/settings";
import { makeProject, rowsOf } from "@/testing/world";
import {
  addressesIn,
  asked,
  closeVendors,
  draw,
  FILE,
  IMAGE,
  openVendors,
  pick,
  published,
  resetVendors,
  restoreSettings,
  setRefusal,
  sha256,
  submit,
  uploaded,
} from "./adapter-vendors.fixture";

beforeAll(openVendors, 60_000);
beforeEach(resetVendors);
afterEach(restoreSettings);
afterAll(closeVendors);

const refused = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (cause: { message: string }) => ({ ...cause, message: cause.message }),
  );

/** Finds every table in which a text occurs. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(
      `SELECT FROM ${name} AS one WHERE one::text LIKE '%' || $1 || '%' LIMIT 1`,
      [text],
    );
    if (rowCount) found.push(name);
  }
  return found;
}

/** Collects everything that the log writes until the test ends. */
function logged(): string[] {
  const lines: string[] = [];
  const { level } = log;
  const was = Reflect.get(log, pino.symbols.streamSym);
  Reflect.set(log, pino.symbols.streamSym, { write: (line: string) => lines.push(line) });
  log.level = "trace";
  onTestFinished(() => {
    log.level = level;
    Reflect.set(log, pino.symbols.streamSym, was);
  });
  return lines;
}

test("fal and Replicate fetch files of the hub at the frozen commit", async () => {
  const project = await makeProject();
  const made = await published(project.ctx);
  expect(await draw(project, [{ ...pick(made), weight: 0.8 }], "fal")).toMatchObject({ status: "succeeded" });
  expect(await draw(project, [pick(made)], "replicate")).toMatchObject({ status: "succeeded", error: null });
  expect(asked).toMatchObject([
    {
      path: "/fal-ai/flux-lora",
      body: { loras: [{ path: made.address, scale: 0.8 }] },
      fetched: [sha256(FILE)],
    },
    {
      path: "/models/black-forest-labs/flux-dev-lora/predictions",
      body: { input: { lora_weights: made.address, lora_scale: 1 } },
      fetched: [sha256(FILE)],
    },
  ]);
});

test("a vendor fetches our own weights at an address that is recorded nowhere and expires", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const made = await uploaded(project.ctx, "Own");
  const lines = logged();
  const done = await draw(project, [pick(made)], "fal");
  expect(done).toMatchObject({ status: "succeeded" });
  expect(asked[0]?.fetched).toEqual([sha256(FILE)]);
  const [address = ""] = addressesIn(asked[0]?.body ?? {});
  const [, mac = ""] = /\.([\w-]{43})\.safetensors$/.exec(address) ?? [];
  expect(mac).toHaveLength(43);
  expect(await tablesWith(made.source.ref)).toContain("public.model_adapter"); // proves that the search works
  expect(await tablesWith(mac)).toEqual([]);
  const shown = JSON.stringify([done, await jobs.receipt(project.ctx, done.jobId)]);
  expect(shown).toContain(made.source.sha256);
  expect(shown).not.toContain("adapter-weights");
  // The address stays hidden even if the vendor quotes it in its refusal.
  setRefusal((addresses) => `cannot load ${addresses.join()}`);
  const failed = await draw(project, [pick(made)], "fal");
  expect(failed).toMatchObject({ status: "failed" });
  const quotedBy = addressesIn(asked[1]?.body ?? {})[0] ?? "";
  expect(await tablesWith(/\.([\w-]{43})\.safetensors$/.exec(quotedBy)?.[1] ?? "")).toEqual([]);
  expect(JSON.stringify([failed, await jobs.receipt(project.ctx, failed.jobId)])).not.toContain(
    "adapter-weights",
  );
  // The address stays out of the log even if the vendor cannot be reached.
  setSettings({ FAL_BASE_URL: "http://127.0.0.1:9" });
  expect(await draw(project, [pick(made)], "fal")).toMatchObject({ status: "failed" });
  log.error("the log is listened to");
  expect(lines.join("")).toContain("the log is listened to");
  expect(lines.join("")).not.toContain("adapter-weights");
  // The address outlives the execution's own limit by a minute.
  const until = Number.parseInt(address.split(".").at(-3) ?? "", 36) * 1000;
  const limit = Date.parse(done.createdAt) + 300_000;
  expect(until).toBeGreaterThan(limit);
  expect(until).toBeLessThan(limit + 120_000);
});

test("a vendor's own reference is sent in that vendor's format", async () => {
  const project = await makeProject();
  const of = (provider: string, ref: string) =>
    putAdapter(project.ctx, ref, { kind: "provider_ref", provider, ref, revision: "v7", filePath: null });
  await draw(project, [pick(await of("replicate", "maker/moss"))], "replicate");
  await draw(project, [pick(await of("fal", "their-file-of-moss"))], "fal");
  expect(asked.map(({ body }) => addressesIn(body))).toEqual([["maker/moss/v7"], ["their-file-of-moss"]]);
});

test("a model gets no more adapters than it supports", async () => {
  const { ctx } = await makeProject();
  const three = [];
  for (const name of ["One", "Two", "Three"]) three.push(pick(await putAdapter(ctx, name)));
  const { routingAlternatives = [], resolved } = await quotes.quote(ctx, IMAGE, {
    input: { prompt: "A stone", adapters: three },
  });
  const routes = [resolved, ...routingAlternatives].map((each) => each?.routeKey);
  expect(routes[0]).toBe("fal/fal-ai/flux-lora");
  expect(routes.filter((each) => each?.startsWith("replicate/"))).toEqual([]);
  const two = await quotes.quote(ctx, IMAGE, { input: { prompt: "A stone", adapters: three.slice(1) } });
  expect(two.routingAlternatives?.map(({ routeKey }) => routeKey)).toContain("sandbox/sandbox-1");
  await submit(ctx, three.slice(1), "replicate");
  expect(await refused(submit(ctx, three, "replicate"))).toMatchObject({ code: "ROUTE_UNAVAILABLE" });
});

test("a hold and a charge with adapters use the price of the model that supports them", async () => {
  const project = await makeProject();
  const done = await draw(project, [pick(await published(project.ctx))], "fal");
  const { hold } = await rowsOf(done.jobId);
  // 35,000 micros for a megapixel, and the fee of 6 % on the operator's account.
  expect(hold).toMatchObject({ amount_micros: 37_100, settled_micros: 37_100 });
});

test("an outside vendor is no route for weights at a private address, and the refusal says why", async () => {
  const { ctx } = await makeProject();
  const own = pick(await uploaded(ctx, "Own"));
  setSettings({ FAL_BASE_URL: "https://queue.fal.run", PUBLIC_URL: "http://localhost:3000" });
  expect(await refused(submit(ctx, [own], "fal"))).toMatchObject({
    code: "ROUTE_UNAVAILABLE",
    details: { alternates: expect.arrayContaining(["sandbox/sandbox-1"]) },
    message: expect.stringContaining("Providers cannot download weights from http://localhost:3000"),
  });
  setSettings({ PUBLIC_URL: "https://capstan.example.com" });
  await submit(ctx, [own], "fal");
  expect(asked).toEqual([]);
});

test("a request without an account of a supporting vendor is refused with a link to connect one", async () => {
  const { ctx } = await makeProject();
  const made = pick(await putAdapter(ctx, "Moss"));
  setSettings({ FAL_API_KEY: undefined });
  expect(await refused(submit(ctx, [made], "fal"))).toMatchObject({
    code: "CONNECTION_REQUIRED",
    details: { connectUrl: expect.stringContaining("provider=fal"), provider: "fal" },
    message: expect.stringContaining('the adapter "Moss"'),
  });
});
