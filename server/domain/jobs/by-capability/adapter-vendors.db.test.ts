import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { ModelAdapterCreate } from "@/server/contract/adapters";
import * as adapters from "@/server/domain/adapters";
import { putAdapter } from "@/server/domain/adapters/adapters.fixture";
import { artifactStore } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { commitOf, startHub, weights } from "@/server/model-sources/hub.fixture";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { type Sandbox, startSandbox } from "@/server/sandbox/server";
import { startServer } from "@/server/web/server";
import { listen } from "@/testing/listener";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";

/* Vendors that speak their own protocol on this machine, and fetch weights as they do; a hub, a sandbox and our own server. */

const IMAGE = "image.generate.v1";
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const before = { ...env };
let hub: Awaited<ReturnType<typeof startHub>>;
let web: Awaited<ReturnType<typeof startServer>>;
let sandbox: Sandbox;
let vendor: Awaited<ReturnType<typeof listen>>;
let folder: string;
/** What the vendors were asked for, and what they got from the addresses in it. */
let asked: { path: string; body: Record<string, unknown>; fetched: string[] }[] = [];
/** What a vendor says in place of drawing. */
let refuseWith: ((addresses: string[]) => string) | null = null;

const addressesIn = (body: Record<string, unknown>): string[] => {
  const of = (body.input as Record<string, unknown> | undefined) ?? body; // of Replicate and of fal
  const loras = (of.loras as { path: string }[] | undefined) ?? [];
  return [...loras.map(({ path }) => path), of.lora_weights, of.extra_lora].flatMap((each) =>
    typeof each === "string" ? [each] : [],
  );
};

async function fetchAll(addresses: string[]): Promise<string[]> {
  const fetched = addresses.filter((address) => /^http/.test(address));
  return Promise.all(
    fetched.map(async (address) => {
      const reply = await fetch(address);
      return reply.ok ? sha256(new Uint8Array(await reply.arrayBuffer())) : String(reply.status);
    }),
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vendors-"));
  const picture = await sharp({ create: { width: 1024, height: 1024, channels: 3, background: "#345" } })
    .png()
    .toBuffer();
  vendor = await listen(async (request, text, response) => {
    const path = request.url ?? "";
    const origin = `http://127.0.0.1:${vendor.port}`;
    const say = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.method === "POST") {
      const body = JSON.parse(text) as Record<string, unknown>;
      const addresses = addressesIn(body);
      asked.push({ path, body, fetched: await fetchAll(addresses) });
      if (refuseWith) return say(422, { detail: refuseWith(addresses) });
      return say(200, { request_id: "one", id: "one", status: "starting" });
    }
    if (path === "/made.png") {
      response.writeHead(200, { "content-type": "image/png", "content-length": picture.length });
      return void response.end(picture);
    }
    if (path.includes("/status")) return say(200, { status: "COMPLETED" });
    if (path.startsWith("/predictions/"))
      return say(200, { id: "one", status: "succeeded", error: null, output: [`${origin}/made.png`] });
    return say(200, { images: [{ url: `${origin}/made.png`, content_type: "image/png" }] });
  });
  hub = await startHub("hf_of_these_vendors");
  web = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  sandbox = await startSandbox({ port: 0, dataDir: folder });
}, 60_000);

beforeEach(() => {
  asked = [];
  refuseWith = null;
  hub.reset();
  const at = `http://127.0.0.1:${vendor.port}`;
  setSettings({
    ALLOW_PRIVATE_ADDRESSES: true,
    PUBLIC_URL: web.url,
    SANDBOX_URL: sandbox.url,
    HF_BASE_URL: hub.url,
    ADAPTER_SOURCE_HOSTS: ["127.0.0.1"],
    FAL_API_KEY: "fal-key",
    FAL_BASE_URL: at,
    REPLICATE_API_TOKEN: "replicate-token",
    REPLICATE_BASE_URL: at,
  });
});
afterEach(() => {
  for (const name of Object.keys(env)) if (!(name in before)) delete (env as Record<string, unknown>)[name];
  setSettings(before);
});
afterAll(async () => {
  await Promise.all([hub.stop(), vendor.stop(), sandbox.stop(), web.stop(1_000)]);
  await rm(folder, { recursive: true, force: true });
});

const FILE = weights({ metadata: { "modelspec.title": "Moss" } });

async function* once(bytes: Uint8Array) {
  yield bytes;
}

/** An adapter of weights in our own store. */
async function uploaded(ctx: Ctx, displayName: string, bytes: Buffer = FILE) {
  const upload = {
    contentType: "application/octet-stream",
    contentDisposition: undefined,
    contentLength: String(bytes.length),
    bytes: once(bytes),
  };
  const { artifactId } = await inputs.storeArtifact(ctx, upload, {});
  const source = { kind: "service_artifact", ref: artifactId };
  return adapters.register(
    ctx,
    {},
    ModelAdapterCreate.parse({ displayName, source, baseModelFamily: "flux" }),
  );
}

/** One of a file on the hub, at its commit. */
async function published(ctx: Ctx, displayName = "Moss") {
  const commit = commitOf("moss");
  hub.repos["maker/moss"] = { refs: { main: commit }, commits: { [commit]: { "a b.safetensors": FILE } } };
  const source = { kind: "huggingface", ref: "maker/moss", revision: "main", filePath: "a b.safetensors" };
  const made = await adapters.register(
    ctx,
    {},
    ModelAdapterCreate.parse({ displayName, source, baseModelFamily: "flux" }),
  );
  return { ...made, address: `${hub.url}/maker/moss/resolve/${commit}/a%20b.safetensors` };
}

type Named = { adapterId: string; weight?: number }[];
const submit = (ctx: Ctx, named: Named, providerPin: string, more: object = {}) =>
  jobs.submit(ctx, IMAGE, { input: { prompt: "A stone", adapters: named, ...more }, providerPin });

async function draw(project: TestProject, named: Named, providerPin: string) {
  const { jobId } = await submit(project.ctx, named, providerPin);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  return jobs.get(project.ctx, jobId);
}

const refused = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (cause: { message: string }) => ({ ...cause, message: cause.message }),
  );

/** Every table in which a text occurs. */
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

/** Everything the log says from now on, until the test ends. */
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

const pick = ({ adapterId }: { adapterId: string }) => ({ adapterId });

test("weights of our own are fetched at an address that is nowhere else, and that ends", {
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
  expect(await tablesWith(made.source.ref)).toContain("public.model_adapter"); // the search finds what is there
  expect(await tablesWith(mac)).toEqual([]);
  const shown = JSON.stringify([done, await jobs.receipt(project.ctx, done.jobId)]);
  expect(shown).toContain(made.source.sha256);
  expect(shown).not.toContain("adapter-weights");
  // A vendor that quotes the address in its refusal gives nothing away either.
  refuseWith = (addresses) => `cannot load ${addresses.join()}`;
  const failed = await draw(project, [pick(made)], "fal");
  expect(failed).toMatchObject({ status: "failed" });
  const quotedBy = addressesIn(asked[1]?.body ?? {})[0] ?? "";
  expect(await tablesWith(/\.([\w-]{43})\.safetensors$/.exec(quotedBy)?.[1] ?? "")).toEqual([]);
  expect(JSON.stringify([failed, await jobs.receipt(project.ctx, failed.jobId)])).not.toContain(
    "adapter-weights",
  );
  // Nor does one that cannot be reached at all.
  setSettings({ FAL_BASE_URL: "http://127.0.0.1:9" });
  expect(await draw(project, [pick(made)], "fal")).toMatchObject({ status: "failed" });
  log.error("the log is listened to");
  expect(lines.join("")).toContain("the log is listened to");
  expect(lines.join("")).not.toContain("adapter-weights");
  // It outlives the execution's own limit by a minute.
  const until = Number.parseInt(address.split(".").at(-3) ?? "", 36) * 1000;
  const limit = Date.parse(done.createdAt) + 300_000;
  expect(until).toBeGreaterThan(limit);
  expect(until).toBeLessThan(limit + 120_000);
});

test("a vendor's own reference is written its way", async () => {
  const project = await makeProject();
  const of = (provider: string, ref: string) =>
    putAdapter(project.ctx, ref, { kind: "provider_ref", provider, ref, revision: "v7", filePath: null });
  await draw(project, [pick(await of("replicate", "maker/moss"))], "replicate");
  await draw(project, [pick(await of("fal", "their-file-of-moss"))], "fal");
  expect(asked.map(({ body }) => addressesIn(body))).toEqual([["maker/moss/v7"], ["their-file-of-moss"]]);
});

test("a model gets no more adapters than it takes", async () => {
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

test("adapters cost what the model that takes them costs, in the hold and in the charge", async () => {
  const project = await makeProject();
  const done = await draw(project, [pick(await published(project.ctx))], "fal");
  const { hold } = await rowsOf(done.jobId);
  // 35,000 micros for a megapixel, and the fee of 6 % on the operator's account.
  expect(hold).toMatchObject({ amount_micros: 37_100, settled_micros: 37_100 });
});

test("a vendor outside is no route to weights at a private address, and the refusal says so", async () => {
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

test("without an account of a vendor that takes them, the form of one is named", async () => {
  const { ctx } = await makeProject();
  const made = pick(await putAdapter(ctx, "Moss"));
  setSettings({ FAL_API_KEY: undefined });
  expect(await refused(submit(ctx, [made], "fal"))).toMatchObject({
    code: "CONNECTION_REQUIRED",
    details: { connectUrl: expect.stringContaining("provider=fal"), provider: "fal" },
    message: expect.stringContaining('the adapter "Moss"'),
  });
});

test("the sandbox reads the beginning of weights, draws otherwise for others, and refuses what is not there", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const [own, same, other] = [
    await uploaded(project.ctx, "Own"),
    await uploaded(project.ctx, "Same"),
    await uploaded(project.ctx, "Other", weights({ metadata: { "modelspec.title": "Fern" } })),
  ];
  const hubs = await published(project.ctx);
  const pictures = [];
  for (const made of [own, same, other, hubs]) {
    const done = await draw(project, [pick(made)], "sandbox");
    expect(done.status).toBe("succeeded");
    pictures.push(done.artifacts[0]?.sha256);
  }
  // The same bytes draw the same, wherever they lie.
  expect(new Set(pictures).size).toBe(2);
  expect([pictures[1], pictures[3]]).toEqual([pictures[0], pictures[0]]);
  const fetched = hub.asked.filter(({ path, range }) => range === "bytes=0-65535" && path.includes("moss"));
  expect(fetched.length).toBeGreaterThan(0);
  delete hub.repos["maker/moss"];
  const failed = await draw(project, [pick(hubs)], "sandbox");
  expect(failed).toMatchObject({ status: "failed", error: { code: "ProviderRejected" } });
  expect((await rowsOf(failed.jobId)).hold).toMatchObject({ state: "released" });
});

test("the sandbox fetches from nowhere but listed hosts and our own server", async () => {
  const project = await makeProject();
  setSettings({
    ALLOW_PRIVATE_ADDRESSES: false,
    ADAPTER_SOURCE_HOSTS: [],
    HF_BASE_URL: "https://huggingface.co",
  });
  const inside = await listen((_request, _body, response) => void response.end("secret"));
  const refs = [
    `http://127.0.0.1:${inside.port}/a.safetensors`,
    `${web.url}/v1/adapter-weights/../../healthz`,
    `${web.url}@127.0.0.1:${inside.port}/v1/adapter-weights/x`,
  ];
  for (const [place, ref] of refs.entries()) {
    const made = await putAdapter(project.ctx, `Ref ${place}`, {
      kind: "provider_ref",
      provider: "sandbox",
      ref,
      revision: "1",
      filePath: null,
    });
    expect(await draw(project, [pick(made)], "sandbox")).toMatchObject({
      error: { code: "ProviderRejected" },
    });
  }
  expect(inside.connections()).toBe(0);
  await inside.stop();
});

test("content that a waiting job needs is not pruned, also when its adapter was deleted; afterwards it is", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { ctx, clock } = project;
  const made = await uploaded(ctx, "Own", weights({ metadata: { "modelspec.title": "Short-lived" } }));
  await pool.query("UPDATE artifact SET expires_at = now() WHERE id = $1", [made.source.ref]);
  clock.advance(DAY_MS); // young content stays whatever its row says
  const { jobId } = await submit(ctx, [pick(made)], "sandbox");
  await adapters.remove(ctx, made.adapterId);
  const isThere = async () => {
    const found = await pool.query("SELECT FROM artifact WHERE id = $1 AND pruned_at IS NULL", [
      made.source.ref,
    ]);
    return found.rowCount === 1;
  };
  await jobs.prune(ctx, { projectId: project.projectId });
  expect(await isThere()).toBe(true);
  await jobs.run(ctx, jobId, inlineStep(clock));
  expect(await jobs.get(ctx, jobId)).toMatchObject({ status: "succeeded" });
  await jobs.prune(ctx, { projectId: project.projectId });
  expect(await isThere()).toBe(false);
});

test("weights that are gone all the same end the job before anything is sent, and cost nothing", async () => {
  const project = await makeProject();
  const made = await uploaded(project.ctx, "Own", weights({ metadata: { "modelspec.title": "Lost" } }));
  const { jobId } = await submit(project.ctx, [pick(made)], "fal");
  await artifactStore().remove(made.source.sha256 ?? "");
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "PayloadUnavailable" },
  });
  expect(asked).toEqual([]);
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
});
