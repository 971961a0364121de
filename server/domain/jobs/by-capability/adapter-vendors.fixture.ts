import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { ModelAdapterCreate } from "@/server/contract/adapters";
import * as adapters from "@/server/domain/adapters";
import type { Ctx } from "@/server/domain/ctx";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import { commitOf, startHub, weights } from "@/server/model-sources/hub.fixture";
import { env } from "@/server/platform/settings/env";
import { type Sandbox, startSandbox } from "@/server/sandbox/server";
import { startServer } from "@/server/web/server";
import { listen } from "@/testing/listener";
import { setSettings } from "@/testing/settings";
import { inlineStep, type TestProject } from "@/testing/world";

/*
 * Local vendors that speak their own protocol and fetch weights as the real ones do, with a hub, a sandbox
 * and our own server.
 */

export const IMAGE = "image.generate.v1";
export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const before = { ...env };
export let hub: Awaited<ReturnType<typeof startHub>>;
export let web: Awaited<ReturnType<typeof startServer>>;
let sandbox: Sandbox;
let vendor: Awaited<ReturnType<typeof listen>>;
let folder: string;
/**
 * The requests that the vendors got, with the hashes of the files that they fetched from the addresses in
 * them.
 */
export let asked: { path: string; body: Record<string, unknown>; fetched: string[] }[] = [];
let refuseWith: ((addresses: string[]) => string) | null = null;
/** Makes the vendors refuse with this text instead of drawing. */
export function setRefusal(say: (addresses: string[]) => string): void {
  refuseWith = say;
}

export const addressesIn = (body: Record<string, unknown>): string[] => {
  const of = (body.input as Record<string, unknown> | undefined) ?? body; // Replicate has `input`, fal has none
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

export async function openVendors(): Promise<void> {
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
}

export function resetVendors() {
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
}

export function restoreSettings() {
  for (const name of Object.keys(env)) if (!(name in before)) delete (env as Record<string, unknown>)[name];
  setSettings(before);
}

export async function closeVendors(): Promise<void> {
  await Promise.all([hub.stop(), vendor.stop(), sandbox.stop(), web.stop(1_000)]);
  await rm(folder, { recursive: true, force: true });
}

export const FILE = weights({ metadata: { "modelspec.title": "Moss" } });

async function* once(bytes: Uint8Array) {
  yield bytes;
}

/** Registers an adapter with weights in our own store. */
export async function uploaded(ctx: Ctx, displayName: string, bytes: Buffer = FILE) {
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

/** Registers an adapter for a file on the hub, at its commit. */
export async function published(ctx: Ctx, displayName = "Moss") {
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
export const submit = (ctx: Ctx, named: Named, providerPin: string, more: object = {}) =>
  jobs.submit(ctx, IMAGE, { input: { prompt: "A stone", adapters: named, ...more }, providerPin });

export async function draw(project: TestProject, named: Named, providerPin: string) {
  const { jobId } = await submit(project.ctx, named, providerPin);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  return jobs.get(project.ctx, jobId);
}

export const pick = ({ adapterId }: { adapterId: string }) => ({ adapterId });
