import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId, ulid } from "@/server/platform/ids";
import { type Adapters, newAdapter, openAdapters } from "@/testing/adapters";
import { uploadOf } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { get, IMAGE, openTenant, post, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** LoRA weights of the tenant. */
let lora: Adapters;
beforeAll(async () => {
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true }); // the hub runs on this machine
  lora = await openAdapters(tenant);
}, 60_000);
afterAll(() => lora.close());

everyEndpoint("adapters", { sample: ({ method, path }) => lora.sample(method, path) });

describe("adapters", () => {
  const ADAPTERS = "/v1/adapters";
  const ALIASES = "/v1/adapter-aliases";
  const DEFAULT = `/v1/adapter-defaults/${IMAGE}`;
  const unbound = () => ({ key: tenant.unboundKey });

  test("an adapter is registered with all its fields, and is frozen only with a revision of its source", async () => {
    const said = {
      ...newAdapter(),
      compatibleModels: ["sandbox-image"],
      triggerWords: ["brass rider"],
      recommendedWeight: 0.75,
      licenseName: "Apache-2.0",
      licenseUrl: "https://example.com/license",
      licenseStatus: "declared",
      provenance: { trainedBy: ["us"] },
    };
    const { json } = await post(200, ADAPTERS, { ...said, type: "lora", environment: "development" });
    expect(json).toMatchObject({
      ...said,
      source: { ...said.source, filePath: null, sha256: null, byteLength: null },
      frozen: true,
      sourceHealth: { status: "unknown", checkedAt: null, detail: null },
      environment: "development",
      projectId: tenant.projectId,
      aliases: [],
    });
    expect((await get(200, `${ADAPTERS}/${json.adapterId}`)).json).toEqual(json);
    expect((await get(200, `${ADAPTERS}?limit=1`)).json.items).toEqual([json]);
    const { source } = newAdapter();
    const { json: loose } = await post(200, ADAPTERS, {
      ...newAdapter(),
      source: { ...source, revision: null },
    });
    expect(loose).toMatchObject({ frozen: false });
  });

  test("an adapter's description can change and its source cannot, and weights of an unknown family become runnable", async () => {
    const { json: made } = await post(200, ADAPTERS, {
      ...newAdapter(),
      baseModelFamily: null,
      licenseName: "MIT",
      triggerWords: ["brass"],
    });
    expect([made.runnable, made.notRunnable[0].nextStep]).toEqual([false, expect.stringContaining("PATCH")]);
    const target = `${ADAPTERS}/${made.adapterId}`;
    const change = (wanted: ExpectedStatus, body: object) =>
      ask(wanted, "PATCH", target, { key: tenant.key, body });
    const { items } = (await get(200, `${ADAPTERS}/families`)).json;
    const [taken] = items.filter(({ models }: { models: string[] }) => models.length > 0);
    expect(taken).toMatchObject({ name: "flux", title: "FLUX.1" });
    const displayName = `Renamed ${ulid()}`;
    const said = { displayName, baseModelFamily: taken.name, licenseName: null, recommendedWeight: 0.5 };
    const { json } = await change(200, said);
    expect(json).toEqual({ ...made, ...said, runnable: true, notRunnable: [] });
    expect((await get(200, target)).json).toEqual(json);

    const other = newAdapter();
    await post(200, ADAPTERS, other);
    const refused = await change([422, "list"], { displayName: other.displayName.toUpperCase() });
    expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "displayName"], type: "name_taken" });
    for (const body of [{ source: made.source }, { environment: "production" }, { displayName: null }])
      await change([422, "list"], body);
    await ask([404, "NotFound"], "PATCH", `${ADAPTERS}/${newId("adapter")}`, { key: tenant.key, body: said });
  });

  test("the sandbox's reference in the catalog, the first tasks and each error makes the catalog's example run", async () => {
    const { features, examples } = (await get(200, `/v1/capabilities/${IMAGE}`)).json;
    const { body } = features.adapters.register;
    const page = readFileSync("docs/start/first-tasks.md", "utf8");
    expect(JSON.parse(/\/v1\/adapters -d '(.+)' \| /.exec(page)?.[1] ?? "")).toEqual(body);
    const [{ input }] = examples.filter((each: { input: object }) => "adapters" in each.input);
    const unknown = await post([422, "list"], `/v1/capabilities/${IMAGE}/jobs`, { input });
    const nowhere = await post([422, "list"], ADAPTERS, {
      ...body,
      source: { ...body.source, provider: "" },
    });
    const { revision: _, ...loose } = body.source;
    const { json: unfrozen } = await post(200, ADAPTERS, { ...newAdapter(), source: loose });
    expect(unfrozen).toMatchObject({ runnable: false, notRunnable: [{ code: "not_frozen" }] });
    const nextSteps = [
      unknown.json.detail[0].msg,
      nowhere.json.detail[0].msg,
      unfrozen.notRunnable[0].nextStep,
    ];
    for (const said of nextSteps) expect(said).toContain(JSON.stringify(body.source));
    const { json: made } = await post(200, ADAPTERS, body);
    expect(made).toMatchObject({ runnable: true, notRunnable: [] });
    const [{ alias }] = input.adapters;
    await post(200, ALIASES, { alias, target: { adapterId: made.adapterId } });
    await post(200, `/v1/capabilities/${IMAGE}/jobs`, { input });
  });

  test("a provider's reference without a revision is registered as not runnable, with the hint to add a revision", async () => {
    const source = { kind: "provider_ref", provider: "replicate", ref: "replicate:example/harbour" };
    const { json } = await post(200, ADAPTERS, { ...newAdapter(), source });
    expect(json.notRunnable).toEqual([
      {
        code: "not_frozen",
        message: expect.stringContaining("its source has no revision"),
        nextStep: expect.stringContaining("`revision`"),
      },
    ]);
    expect(json.notRunnable[0].nextStep).not.toMatch(/file|commit/);
  });

  test("an invalid adapter is 422 at its field", async () => {
    const { source, ...said } = newAdapter();
    for (const [more, loc] of [
      [{ displayName: " " }, ["displayName"]],
      [{ displayName: "x".repeat(256) }, ["displayName"]],
      [{ type: "checkpoint" }, ["type"]],
      [{ recommendedWeight: 2.1 }, ["recommendedWeight"]],
      [{ recommendedWeight: -0.1 }, ["recommendedWeight"]],
      [{ triggerWords: Array.from({ length: 65 }, (_, n) => `${n}`) }, ["triggerWords"]],
      [{ licenseUrl: "javascript:alert(1)" }, ["licenseUrl"]],
      [{ licenseStatus: "good" }, ["licenseStatus"]],
      [{ provenance: [] }, ["provenance"]],
      [{ environment: "No Slug" }, ["environment"]],
      [{ more: 1 }, ["more"]],
      [{ source: undefined }, ["source"]],
      [{ source: { ...source, kind: "torrent" } }, ["source", "kind"]],
      [{ source: { ...source, ref: "" } }, ["source", "ref"]],
      [{ source: { ...source, more: 1 } }, ["source", "more"]],
      [{ source: { ...source, provider: "unknown" } }, ["source", "provider"]],
      [{ source: { ...source, provider: "openai" } }, ["source", "provider"]],
      [{ source: { ...source, provider: null } }, ["source", "provider"]],
      [{ source: { ...source, filePath: "a.safetensors" } }, ["source", "filePath"]],
      [{ source: { kind: "huggingface", ref: "maker/none" } }, ["source", "ref"]],
      [{ source: { kind: "huggingface", ref: "no repository" } }, ["source", "ref"]],
      [{ source: { kind: "service_artifact", ref: newId("artifact") } }, ["source", "ref"]],
      [{ source: { kind: "service_artifact", ref: "art", revision: "1" } }, ["source", "revision"]],
    ] as const) {
      const { json } = await post([422, "list"], ADAPTERS, { source, ...said, ...more });
      expect(json.detail[0].loc, JSON.stringify(more)).toEqual(["body", ...loc]);
    }
    const taken = newAdapter();
    await post(200, ADAPTERS, taken);
    const { json } = await post([422, "list"], ADAPTERS, {
      ...taken,
      displayName: taken.displayName.toUpperCase(),
    });
    expect(json.detail[0]).toMatchObject({ loc: ["body", "displayName"], type: "name_taken" });
  });

  test("unknown adapters and aliases are 404, and an adapter in use is 409", async () => {
    const none = `${ADAPTERS}/${newId("adapter")}`;
    await get([404, "NotFound"], none);
    await ask([404, "NotFound"], "DELETE", none, { key: tenant.key });
    await post([404, "NotFound"], `${none}/revalidate`);
    const { json } = await ask([409, "AdapterInUse"], "DELETE", `${ADAPTERS}/${lora.adapterId}`, {
      key: tenant.key,
    });
    expect(json.detail.details.references).toContainEqual({ kind: "alias", name: "Hero" });
    const alias = `${ALIASES}/unknown`;
    await get([404, "NotFound"], alias);
    await get([404, "NotFound"], `${alias}/versions`);
    await post([404, "NotFound"], `${alias}/promotions`, { target: { adapterId: lora.adapterId } });
    await post([404, "NotFound"], `${alias}/recipe-binding`, {});
  });

  test("invalid or unknown targets, versions, cursors and weights are 422", async () => {
    const absent = { adapterId: newId("adapter") };
    for (const [target, body, loc] of [
      [ALIASES, { alias: "New", target: absent }, ["target", "adapterId"]],
      [ALIASES, { alias: "HERO", target: { adapterId: lora.adapterId } }, ["alias"]],
      [ALIASES, { alias: "a/b", target: { adapterId: lora.adapterId } }, ["alias"]],
      [ALIASES, { alias: "-", target: { adapterId: lora.adapterId } }, ["alias"]],
      [`${ALIASES}/hero/promotions`, { target: absent }, ["target", "adapterId"]],
      [`${ALIASES}/hero/promotions`, { target: { ...absent, weight: 3 } }, ["target", "weight"]],
      [`${ALIASES}/hero/recipe-binding`, { versionId: newId("aliasVersion") }, ["versionId"]],
    ] as const) {
      const { json } = await post([422, "list"], target, body);
      expect(json.detail[0].loc).toEqual(["body", ...loc]);
    }
    for (const target of [ADAPTERS, ALIASES, `${ALIASES}/hero/versions`])
      for (const query of ["cursor=x", "limit=0", "limit=201", "environment=No Slug"])
        await get([422, "list"], `${target}?${query}`);
  });

  test("a public file is suggested, accepted once, and used from then on", async () => {
    const { json: seen } = await post(200, `${ADAPTERS}/source-preview`, { query: "maker/moss" });
    expect(seen).toMatchObject({
      ref: "maker/moss",
      selectedFile: "moss.safetensors",
      baseModelFamily: "flux",
    });
    await post([422, "PROJECT_REQUIRED"], `${ADAPTERS}/source-preview`, { query: "maker/moss" }, unbound());
    const suggested = await post(200, `${ADAPTERS}/suggestions`, { query: "maker/moss" });
    expect(suggested.json).toMatchObject({ resolution: "suggestion", preview: seen });
    const accept = () => post(200, `${ADAPTERS}/suggestions/accept`, { query: "maker/moss" });
    const { json: made } = await accept();
    expect(made).toMatchObject({ resolution: "registered", adapter: { frozen: true } });
    expect((await accept()).json).toEqual({ ...made, resolution: "used" });
    const { json: looked } = await post(200, `${ADAPTERS}/${made.adapter.adapterId}/revalidate`);
    expect(looked).toMatchObject({ source: made.adapter.source, sourceHealth: { status: "healthy" } });
  });

  test("a source that cannot be reached is 503, and a query that names none is 422", async () => {
    const requests = [
      [ADAPTERS, { ...newAdapter(), source: { kind: "huggingface", ref: "maker/down" } }],
      [`${ADAPTERS}/source-preview`, { query: "maker/down" }],
      [`${ADAPTERS}/suggestions`, { query: "maker/down" }],
      [`${ADAPTERS}/suggestions/accept`, { query: "maker/down" }],
    ] as const;
    for (const [target, body] of requests) await post([422, "list"], target, body);
    lora.hub.answerOtherwise(() => ({ status: 500 }));
    for (const [target, body] of requests) await post([503, "ProviderUnavailable"], target, body);
    lora.hub.answerOtherwise(() => undefined);
    for (const [target] of requests.slice(1))
      for (const query of ["", "x".repeat(2_049), null]) await post([422, "list"], target, { query });
    await post([422, "list"], `${ADAPTERS}/source-preview`, { query: "no repository" });
  });

  test("an alias with spaces in its name is found by its path", async () => {
    const target = { adapterId: await lora.register() };
    const { json } = await post(200, ALIASES, { alias: "Brass Rider 2.0", target });
    expect((await get(200, `${ALIASES}/brass%20rider%202.0`)).json).toEqual(json);
  });

  test("a default is set, read and cleared; an unknown capability is 404, and one that takes no adapters 422", async () => {
    const change = (wanted: ExpectedStatus, method: string, target: string, body?: object) =>
      ask(wanted, method, target, { key: tenant.key, ...(body ? { body } : {}) });
    expect((await change(200, "PUT", DEFAULT, { alias: "HERO" })).json).toMatchObject({ alias: "Hero" });
    expect((await get(200, DEFAULT)).json).toMatchObject({ alias: "Hero", environment: "development" });
    await change([422, "list"], "PUT", DEFAULT, { alias: "unknown" });
    expect((await change(200, "DELETE", DEFAULT)).json).toMatchObject({ alias: null, setAt: null });
    for (const [key, wanted] of [
      ["image.draw.v1", [404, "UNKNOWN_CAPABILITY"]],
      [TEXT, [422, "list"]],
    ] as const) {
      const target = DEFAULT.replace(IMAGE, key);
      await get([...wanted], target);
      await change([...wanted], "PUT", target, { alias: "hero" });
      await change([...wanted], "DELETE", target);
    }
  });

  test("an unbound key that names no project is 422, and an environment that is not the key's 403", async () => {
    await post([422, "PROJECT_REQUIRED"], `${ADAPTERS}/upload`, uploadOf(), unbound());
    const staging = uploadOf(undefined, { environment: "staging" });
    await post([403, "AuthorizationFailed"], `${ADAPTERS}/upload`, staging);
    const target = { adapterId: lora.adapterId };
    for (const [method, path, body] of [
      ["POST", ADAPTERS, newAdapter()],
      ["GET", ADAPTERS, undefined],
      ["POST", `${ADAPTERS}/suggestions`, { query: "hero" }],
      ["POST", `${ADAPTERS}/suggestions/accept`, { query: "hero" }],
      ["POST", ALIASES, { alias: "x", target }],
      ["GET", ALIASES, undefined],
      ["GET", `${ALIASES}/hero`, undefined],
      ["GET", `${ALIASES}/hero/versions`, undefined],
      ["POST", `${ALIASES}/hero/promotions`, { target }],
      ["POST", `${ALIASES}/hero/recipe-binding`, {}],
      ["GET", DEFAULT, undefined],
      ["PUT", DEFAULT, { alias: "hero" }],
      ["DELETE", DEFAULT, undefined],
    ] as const) {
      await ask([422, "PROJECT_REQUIRED"], method, path, { ...unbound(), body });
      const isCreation = method === "POST" && (path === ADAPTERS || path === ALIASES);
      const elsewhere = isCreation
        ? { key: tenant.key, body: { ...body, environment: "production" } }
        : { key: tenant.key, body };
      const named = isCreation ? path : `${path}?environment=production`;
      await ask([403, "AuthorizationFailed"], method, named, elsewhere);
    }
  });
});

everyStatusHasACase("adapters");
