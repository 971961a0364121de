import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Runnable } from "@/server/contract/adapters";
import { AcceptRequest, ModelAdapterCreate } from "@/server/contract/adapters";
import { artifactStore } from "@/server/domain/artifacts";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as inputs from "@/server/domain/inputs";
import { prune } from "@/server/domain/jobs";
import { commitOf, startHub, weights } from "@/server/model-sources/hub.fixture";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { setSettings } from "@/testing/settings";
import { makeProject } from "@/testing/world";
import * as adapters from "..";
import { putAdapter, refusal } from "../adapters.fixture";

const before = { ...env };
let hub: Awaited<ReturnType<typeof startHub>>;
beforeAll(async () => {
  hub = await startHub("hf_of_this_test");
});
beforeEach(() => {
  hub.reset();
  setSettings({
    HF_BASE_URL: hub.url,
    HF_TOKEN: undefined,
    ADAPTER_SOURCE_HOSTS: ["127.0.0.1"],
    ALLOW_PRIVATE_ADDRESSES: true,
  });
});
afterEach(() => {
  setSettings(before);
});
afterAll(() => hub.stop());

const [OLD, NEW] = [commitOf("old"), commitOf("new")];
const CARD = Buffer.from(
  "---\nlicense: apache-2.0\nbase_model: black-forest-labs/FLUX.1-dev\ninstance_prompt: mossy stone\n---\n",
);
const FILE = weights({ metadata: { "modelspec.title": "Moss" } });
const here = {};

/** Publishes a repository whose branch is at this commit; the files are the same at both. */
function publish(files: Record<string, Buffer> = { "README.md": CARD, "moss.safetensors": FILE }, at = OLD) {
  hub.repos["maker/moss"] = { refs: { main: at }, commits: { [OLD]: files, [NEW]: files } };
}
const register = (ctx: Ctx, source: object, more: object = {}) =>
  adapters.register(ctx, here, ModelAdapterCreate.parse({ displayName: "Moss", source, ...more }));
const accept = (ctx: Ctx, query: string, more: object = {}) =>
  adapters.accept(ctx, here, AcceptRequest.parse({ query, ...more }));
const count = async (ctx: Ctx) => (await adapters.list(ctx, { limit: 200 })).items.length;

test("a file of a branch is registered at the branch's current commit", async () => {
  publish();
  const { ctx } = await makeProject();
  const source = { kind: "huggingface", ref: "maker/moss", revision: "main", filePath: "moss.safetensors" };
  const made = await register(ctx, source);
  expect(made).toMatchObject({
    source: {
      ...source,
      revision: OLD,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      byteLength: FILE.length,
    },
    frozen: true,
    sourceHealth: { status: "healthy", checkedAt: expect.any(String) },
  });
  publish(undefined, NEW);
  expect(await adapters.revalidate(ctx, made.adapterId)).toMatchObject({ source: { revision: OLD } });
});

test("a registration that names only a repository stays catalog-only, even after a health check", async () => {
  publish();
  const { ctx } = await makeProject();
  const made = await register(ctx, { kind: "huggingface", ref: "maker/moss" });
  expect(made).toMatchObject({ frozen: false, source: { revision: null, filePath: null, sha256: null } });
  const looked = await adapters.revalidate(ctx, made.adapterId);
  expect(looked).toMatchObject({ frozen: false, source: made.source, sourceHealth: { status: "healthy" } });
  expect(await adapters.suggest(ctx, here, { query: "moss" })).toMatchObject({
    resolution: "suggestion",
    patch: null,
    adapter: { adapterId: made.adapterId },
  });
});

test("missing sources, disallowed ones and files that are not weights are refused at the field", async () => {
  publish({ "README.md": CARD, "broken.safetensors": Buffer.from("no weights at all") });
  const { ctx } = await makeProject();
  for (const [source, wanted] of [
    [{ ref: "maker/other" }, "body.source.ref source_not_found"],
    [{ ref: "maker/moss", filePath: "none.safetensors" }, "body.source.ref source_not_found"],
    [{ ref: "maker/moss", filePath: "broken.safetensors" }, "body.source.ref source_unusable"],
    [{ ref: "no repository" }, "body.source.ref value_error"],
    [{ ref: "https://elsewhere.example/a.safetensors" }, "body.source.ref value_error"],
    [{ ref: "replicate:owner/name" }, "body.source.ref value_error"],
    [{ ref: "maker/moss", provider: "fal" }, "body.source.provider value_error"],
  ] as const)
    expect(await refusal(register(ctx, { kind: "huggingface", ...source }))).toBe(wanted);
  hub.answerOtherwise(() => ({ status: 500 }));
  expect(await refusal(register(ctx, { kind: "huggingface", ref: "maker/moss" }))).toBe(
    "ProviderUnavailable",
  );
  expect(await count(ctx)).toBe(0);
});

test("an uploaded artifact is checked from end to end, and its metadata describes the adapter", async () => {
  const { ctx } = await makeProject();
  const upload = (bytes: Uint8Array) =>
    inputs.storeArtifact(
      ctx,
      {
        contentType: "application/octet-stream",
        contentDisposition: undefined,
        contentLength: String(bytes.byteLength),
        bytes: (async function* () {
          yield bytes;
        })(),
      },
      {},
    );
  const good = await upload(weights({ metadata: { "modelspec.trigger_phrase": "mossy stone" } }));
  const made = await register(ctx, { kind: "service_artifact", ref: good.artifactId });
  expect(made).toMatchObject({
    source: {
      kind: "service_artifact",
      ref: good.artifactId,
      sha256: good.sha256,
      byteLength: good.byteLength,
    },
    frozen: true,
    sourceHealth: { status: "healthy" },
    baseModelFamily: "flux",
    triggerWords: ["mossy stone"],
  });
  const bad = await upload(FILE.subarray(0, FILE.length - 1));
  expect(await refusal(register(ctx, { kind: "service_artifact", ref: bad.artifactId }))).toBe(
    "body.source.ref data_truncated",
  );
  const foreign = await makeProject();
  expect(await refusal(register(foreign.ctx, { kind: "service_artifact", ref: good.artifactId }))).toBe(
    "body.source.ref not_found",
  );
  await artifactStore().remove(good.sha256);
  expect((await adapters.revalidate(ctx, made.adapterId)).sourceHealth.status).toBe("missing");
});

test("an expired artifact is kept as long as an adapter from it exists", async () => {
  const { ctx, projectId } = await makeProject();
  const artifactId = newId("artifact");
  const bytes = weights({ metadata: { of: artifactId } });
  const { sha256 } = await artifactStore().put(bytes);
  await pool.query(
    `INSERT INTO artifact (id, project_id, media_type, sha256, byte_length, created_at, expires_at, uploaded_by)
     VALUES ($1, $2, 'application/octet-stream', $3, $4, now(), now(), 'key_x')`,
    [artifactId, projectId, sha256, bytes.length],
  );
  const { adapterId } = await register(ctx, { kind: "service_artifact", ref: artifactId });
  const later = systemCtx("test", () => new Date(Date.now() + DAY_MS));
  expect((await prune(later, { projectId })).artifacts).toBe(0);
  await adapters.remove(ctx, adapterId);
  expect((await prune(later, { projectId })).artifacts).toBe(1);
});

/** The fields that the state of the source does not affect. */
const lasting = <T extends object>({ runnable: _runs, notRunnable: _why, ...rest }: T & Runnable) => rest;

test("revalidation reports healthy, degraded, missing or unknown, and changes only whether the adapter can run", {
  tags: "long",
}, async () => {
  publish();
  const { ctx } = await makeProject();
  const source = { kind: "huggingface", ref: "maker/moss", filePath: "moss.safetensors" };
  const made = await register(ctx, source);
  await adapters.createAlias(ctx, here, { alias: "Hero", target: { adapterId: made.adapterId } });
  const alias = await adapters.getAlias(ctx, "hero", here);
  const statusNow = async () => {
    const {
      sourceHealth,
      aliases: _names,
      ...rest
    } = lasting(await adapters.revalidate(ctx, made.adapterId));
    const { sourceHealth: _then, aliases: _none, ...was } = lasting(made);
    expect(rest).toEqual(was);
    expect(lasting(await adapters.getAlias(ctx, "hero", here))).toEqual(lasting(alias));
    return sourceHealth.status;
  };
  expect(await statusNow()).toBe("healthy");
  publish({ "README.md": CARD, "moss.safetensors": weights({ rank: 8 }) });
  expect(await statusNow()).toBe("degraded");
  publish({ "README.md": CARD });
  expect(await statusNow()).toBe("missing");
  hub.answerOtherwise(() => ({ status: 500 }));
  expect(await statusNow()).toBe("unknown");
  hub.answerOtherwise(() => undefined);
  publish(undefined, NEW);
  expect(await statusNow()).toBe("healthy");
});

test("a preview proposes what to register, reads no tensor and registers nothing", async () => {
  publish();
  const { ctx } = await makeProject();
  expect(await adapters.previewSource(ctx, here, { query: "maker/moss" })).toEqual({
    query: "maker/moss",
    kind: "huggingface",
    ref: "maker/moss",
    revision: OLD,
    files: [{ path: "moss.safetensors", byteLength: FILE.length }],
    selectedFile: "moss.safetensors",
    baseModelFamily: "flux",
    displayName: "Moss",
    recommendedWeight: null,
    triggerWords: ["mossy stone"],
    licenseName: "apache-2.0",
    warnings: [],
  });
  expect(await count(ctx)).toBe(0);
  expect(hub.asked.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(10_000);
  expect(await refusal(adapters.previewSource(ctx, here, { query: "https://127.0.0.2/x" }))).toBe(
    "body.query value_error",
  );
  expect(await refusal(adapters.previewSource(ctx, here, { query: "maker/none" }))).toBe(
    "body.query source_not_found",
  );
});

test("an alias, an id or a name becomes a patch, several names a choice, a link a suggestion, other text nothing", async () => {
  publish();
  const { ctx } = await makeProject();
  const knight = await putAdapter(ctx, "Brass Knight");
  const day = await putAdapter(ctx, "Knight by day");
  await adapters.createAlias(ctx, here, { alias: "Hero", target: { adapterId: knight.adapterId } });
  const ask = (query: string) => adapters.suggest(ctx, here, { query });
  expect(await ask("HERO")).toMatchObject({ resolution: "patch", patch: { adapters: [{ alias: "Hero" }] } });
  for (const query of [knight.adapterId, "brass knight", "BRASS"])
    expect(await ask(query)).toMatchObject({
      resolution: "patch",
      patch: { adapters: [{ adapterId: knight.adapterId }] },
      adapter: { displayName: "Brass Knight", aliases: ["Hero"] },
    });
  expect(await ask("knight")).toMatchObject({
    resolution: "choice",
    patch: null,
    choices: [
      { adapterId: knight.adapterId, displayName: "Brass Knight" },
      { adapterId: day.adapterId, displayName: "Knight by day" },
    ],
  });
  expect(await ask("maker/moss")).toMatchObject({
    resolution: "suggestion",
    patch: null,
    preview: { selectedFile: "moss.safetensors" },
  });
  for (const query of ["missing", "100%", newId("adapter"), "_"])
    expect((await ask(query)).resolution).toBe("not_found");
  expect((await adapters.suggest((await makeProject()).ctx, here, { query: "hero" })).resolution).toBe(
    "not_found",
  );
  expect(await count(ctx)).toBe(2);
});

test("accept uses what the project has, and registers an unambiguous public file", async () => {
  publish();
  const { ctx, projectId } = await makeProject();
  const own = await putAdapter(ctx, "Moss");
  expect(await accept(ctx, "MOSS")).toMatchObject({
    resolution: "used",
    patch: { adapters: [{ adapterId: own.adapterId }] },
  });
  const made = await accept(ctx, "maker/moss");
  expect(made).toMatchObject({
    resolution: "registered",
    preview: null,
    adapter: {
      displayName: "Moss (2)",
      frozen: true,
      source: { ref: "maker/moss", revision: OLD, filePath: "moss.safetensors" },
      baseModelFamily: "flux",
      licenseName: "apache-2.0",
      licenseStatus: "declared",
      triggerWords: ["mossy stone"],
    },
  });
  expect(made.patch).toEqual({ adapters: [{ adapterId: made.adapter?.adapterId }] });
  const { rows } = await pool.query(
    "SELECT subject FROM audit_entry WHERE project_id = $1 AND action = 'adapter.registered' ORDER BY id",
    [projectId],
  );
  expect(rows.map(({ subject }) => subject)).toEqual([own.adapterId, made.adapter?.adapterId]);
  expect((await accept(ctx, "missing")).resolution).toBe("not_found");
});

test("the same link gives the same adapter; only refresh looks for a newer commit", async () => {
  publish();
  const { ctx } = await makeProject();
  const { adapter: first } = await accept(ctx, "maker/moss");
  publish(undefined, NEW);
  expect(await accept(ctx, "hf:maker/moss")).toMatchObject({ resolution: "used", adapter: first });
  const { adapter: second, resolution } = await accept(ctx, "maker/moss", { refresh: true });
  expect({ resolution, revision: second?.source.revision }).toEqual({
    resolution: "registered",
    revision: NEW,
  });
  expect(await accept(ctx, "maker/moss", { refresh: true })).toMatchObject({
    resolution: "used",
    adapter: { adapterId: second?.adapterId },
  });
  expect(await count(ctx)).toBe(2);
});

test("the commit that was looked at is registered, even if its branch has moved", async () => {
  const path = "100% moss/é#1.safetensors";
  publish({ [path]: FILE });
  const { ctx } = await makeProject();
  const { adapter: first } = await accept(ctx, "maker/moss");
  publish({ [path]: FILE }, NEW);
  const seen = (commit: string) =>
    `hf:maker/moss@${commit}/${path.split("/").map(encodeURIComponent).join("/")}`;
  expect(await accept(ctx, seen(OLD))).toMatchObject({ resolution: "used", adapter: first });
  expect(await accept(ctx, seen(NEW))).toMatchObject({
    resolution: "registered",
    adapter: { source: { revision: NEW, filePath: path } },
  });
});

test("20 concurrent accepts of one link register one adapter", { tags: "long" }, async () => {
  publish();
  const { ctx } = await makeProject();
  const all = await Promise.all(
    Array.from({ length: 20 }, () => accept(ctx, "maker/moss", { refresh: true })),
  );
  expect(all.filter(({ resolution }) => resolution === "registered")).toHaveLength(1);
  expect(new Set(all.map(({ adapter }) => adapter?.adapterId)).size).toBe(1);
  expect(await count(ctx)).toBe(1);
});

test("several files or no family get the answer of suggest, until the caller chooses", async () => {
  publish({ "a.safetensors": FILE, "b.safetensors": weights({ rank: 8 }) });
  const { ctx } = await makeProject();
  const open = await accept(ctx, "maker/moss");
  expect(open).toEqual(await adapters.suggest(ctx, here, { query: "maker/moss" }));
  expect(open).toMatchObject({ resolution: "suggestion", preview: { selectedFile: null } });
  expect(await refusal(accept(ctx, "maker/moss", { filePath: "c.safetensors" }))).toMatch(/not_found$/);
  expect(await accept(ctx, "maker/moss", { filePath: "b.safetensors" })).toMatchObject({
    resolution: "registered",
    adapter: { source: { filePath: "b.safetensors" } },
  });
  const mute = weights({ metadata: { ss_base_model_version: "unheard-of" }, module: "some_block" });
  publish({ "mute.safetensors": mute });
  const unsaid = await accept(ctx, "maker/moss", { refresh: true });
  expect(unsaid).toMatchObject({
    resolution: "suggestion",
    preview: { selectedFile: "mute.safetensors", baseModelFamily: null },
  });
  const said = { refresh: true, baseModelFamily: "flux" };
  expect((await accept(ctx, "maker/moss", said)).resolution).toBe("registered");
  expect(await count(ctx)).toBe(2);
});
