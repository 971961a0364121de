import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { newAdapter } from "@/testing/adapters";
import { type Answer, call, type Tenant } from "@/testing/api";
import { COMPARED, COMPARISONS, compared } from "@/testing/comparisons";
import { Form, someWeights, uploadOf, whiteSquare } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { endpoints } from "..";
import {
  BULK,
  closeEstates,
  comparable,
  type Estate,
  IMAGE,
  input,
  MATH,
  mine,
  openEstates,
  PIN,
  TEXT,
  theirs,
} from "./estate.fixture";

/* An object of another tenant is answered like a missing one if a body, a query or a header names it. */

beforeAll(openEstates, 180_000);
afterAll(closeEstates);

/** An estate whose ids do not exist. */
const missing = (): Estate => ({ ...mine, projectId: newId("project"), receiptId: newId("receipt") });

for (const what of ["quote", "estimate", "invoke", "jobs"]) {
  const key = what === "invoke" ? MATH : TEXT;
  const body = what === "invoke" ? { expression: "2 + 2" } : input;
  const target = `/v1/capabilities/${key}/${what}`;

  test(`${what}: context.projectId of another tenant is answered like one that does not exist`, async () => {
    const ask = (projectId: string, apiKey: string) =>
      call("POST", target, { key: apiKey, body: { input: body, context: { projectId } } });
    for (const apiKey of [mine.tenant.key, mine.tenant.unboundKey]) {
      const refused = await ask(theirs.projectId, apiKey);
      expect(refused.status).toBe(403);
      expect(comparable(refused)).toEqual(comparable(await ask(newId("project"), apiKey)));
    }
    const { tenant } = theirs;
    expect((await ask(tenant.projectId, tenant.key)).status).toBe(200);
    expect((await ask(tenant.projectId, tenant.unboundKey)).status).toBe(200);
    expect((await ask(tenant.otherProjectId, tenant.unboundKey)).status).toBe(200);
    expect((await ask(tenant.otherProjectId, tenant.key)).status).toBe(403);
  });
}

test("a pin's context.projectId and ?projectId= of another tenant are answered like missing ones", async () => {
  const run = (projectId: string, key: string) =>
    call("POST", "/v1/inference/pinned", { key, body: { ...PIN, context: { projectId } } });
  const list = (projectId: string, key: string) =>
    call("GET", `/v1/inference/pinned?projectId=${projectId}`, { key });
  const bulk = (projectId: string, key: string) =>
    call("POST", "/v1/inference/pinned/bulk", { key, body: { ...BULK, context: { projectId } } });
  for (const ask of [run, bulk, list]) {
    for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
      const refused = await ask(theirs.projectId, key);
      expect(refused.status).toBe(403);
      expect(comparable(refused)).toEqual(comparable(await ask(newId("project"), key)));
    }
    expect((await ask(mine.otherProjectId, mine.tenant.unboundKey)).status).toBe(200);
    expect((await ask(mine.otherProjectId, mine.tenant.key)).status).toBe(403);
  }
});

test("a comparison's project of another tenant is answered like a missing one, in bodies and queries, and keys are separate", async () => {
  const { competitors, input } = COMPARED;
  const asks: ((projectId: string, key: string) => Promise<Answer>)[] = [
    (projectId, key) => call("POST", COMPARISONS, { key, body: { ...COMPARED, context: { projectId } } }),
    (projectId, key) =>
      call("POST", `${COMPARISONS}/estimate?projectId=${projectId}`, { key, body: { competitors, input } }),
    (projectId, key) => call("GET", `${COMPARISONS}/competitor-options?projectId=${projectId}`, { key }),
  ];
  for (const ask of asks) {
    for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
      const refused = await ask(theirs.projectId, key);
      expect(refused.status).toBe(403);
      expect(comparable(refused)).toEqual(comparable(await ask(newId("project"), key)));
    }
    expect((await ask(mine.otherProjectId, mine.tenant.unboundKey)).status).toBe(200);
    expect((await ask(mine.otherProjectId, mine.tenant.key)).status).toBe(403);
  }
  const named = { ...COMPARED, idempotencyKey: "shared" };
  const [one, other] = [
    await mine.tenant.post(COMPARISONS, named),
    await theirs.tenant.post(COMPARISONS, named),
  ];
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(one.json.comparisonId).not.toBe(other.json.comparisonId);
});

test("an entry of another tenant's comparison cannot win ours", async () => {
  const { comparisonId } = await compared(mine.tenant, false);
  const judge = (overallWinnerEntryId: string | undefined) =>
    mine.tenant.post(`/v1/comparisons/${comparisonId}/judgements`, {
      decision: "winner",
      overallWinnerEntryId,
    });
  const refused = await judge(theirs.comparison.entryIds[0]);
  expect(refused.status).toBe(422);
  expect(comparable(refused)).toEqual(comparable(await judge(newId("comparisonEntry"))));
});

test("another tenant's receipts and projects are answered like missing ones by provenance, in bodies and queries", async () => {
  const manifest = (of: Estate) => ({ label: "x", receiptIds: [of.receiptId] });
  const lockfileOf = (id: string, key: string) =>
    call("GET", `/v1/provenance/lockfile?receipt_id=${id}`, { key });
  const { json: lockfile } = await lockfileOf(theirs.receiptId, theirs.tenant.key);
  for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
    const { projectId } = mine;
    const asks: [number, (of: Estate) => Promise<Answer>][] = [
      [422, (of) => call("POST", "/v1/provenance/manifests", { key, body: { ...manifest(of), projectId } })],
      [
        403,
        ({ projectId }) =>
          call("POST", "/v1/provenance/manifests", { key, body: { ...manifest(mine), projectId } }),
      ],
      [404, ({ receiptId }) => lockfileOf(receiptId, key)],
      [
        422,
        ({ receiptId }) =>
          call("POST", "/v1/provenance/lockfile/verify", { key, body: { ...lockfile, receiptId } }),
      ],
    ];
    for (const [status, ask] of asks) {
      const refused = await ask(theirs);
      expect(refused.status).toBe(status);
      expect(comparable(refused)).toEqual(comparable(await ask(missing())));
    }
  }
  const { tenant, receiptId } = theirs;
  expect((await lockfileOf(receiptId, tenant.unboundKey)).status).toBe(200);
  const verified = await tenant.post("/v1/provenance/lockfile/verify", lockfile);
  expect(verified.json).toMatchObject({ verified: true });
});

test("a plan's context.projectId of another tenant is answered like a missing one", async () => {
  const ask = (projectId: string) =>
    call("POST", `/v1/capabilities/${IMAGE}/plan`, {
      key: mine.tenant.unboundKey,
      body: { input: { prompt: "A kite" }, context: { projectId } },
    });
  const refused = await ask(theirs.projectId);
  expect(refused.status).toBe(403);
  expect(comparable(refused)).toEqual(comparable(await ask(newId("project"))));
  expect((await ask(mine.otherProjectId)).status).toBe(200);
});

for (const what of ["quote", "estimate"]) {
  test(`${what}: ?projectId= of another tenant is answered like one that does not exist`, async () => {
    const ask = (projectId: string) =>
      call("POST", `/v1/capabilities/${TEXT}/${what}?projectId=${projectId}`, {
        key: mine.tenant.unboundKey,
        body: { input },
      });
    const refused = await ask(theirs.projectId);
    expect(refused.status).toBe(403);
    expect(comparable(refused)).toEqual(comparable(await ask(newId("project"))));
    expect((await ask(mine.otherProjectId)).status).toBe(200);
  });
}

for (const what of ["invoke", "jobs"]) {
  test(`${what}: another tenant's quote is answered like one that does not exist`, async () => {
    const ask = (tenant: Tenant, quoteId: string) =>
      tenant.post(`/v1/capabilities/${TEXT}/${what}`, { input, execution: { quoteId } });
    const refused = await ask(mine.tenant, theirs.quoteId);
    expect(refused.status).toBe(409);
    expect(comparable(refused)).toEqual(comparable(await ask(mine.tenant, newId("quote"))));
    expect((await ask(theirs.tenant, theirs.quoteId)).status).toBe(200);
  });
}

test("a commission quote, ours or another tenant's, is not accepted as a quote of an execution", async () => {
  const [own, foreign] = [await quoteIdOf(mine), await quoteIdOf(theirs)];
  const ask = (quoteId: string) =>
    mine.tenant.post(`/v1/capabilities/${TEXT}/jobs`, { input, execution: { quoteId } });
  const nothing = comparable(await ask(newId("commissionQuote")));
  for (const quoteId of [own, foreign]) expect(comparable(await ask(quoteId))).toEqual(nothing);
});

const quoteIdOf = async ({ tenant, pricedId }: Estate) =>
  (await tenant.get(`/v1/capability-requests/${pricedId}/quote`)).json.quoteId;

for (const target of [
  "/v1/capability-requests",
  "/v1/delivery-endpoints",
  "/v1/deliveries",
  "/v1/billing/summary",
  "/v1/billing/usage-export?from=2026-01-01&to=2026-01-02",
  "/v1/diagnostics/providers",
  "/v1/diagnostics/readiness",
]) {
  test(`${target}: ?projectId= of another tenant is answered like one that does not exist`, async () => {
    for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
      const more = target.includes("?") ? "&" : "?";
      const ask = (projectId: string) => call("GET", `${target}${more}projectId=${projectId}`, { key });
      const refused = await ask(theirs.projectId);
      expect(refused.status).toBe(403);
      expect(comparable(refused)).toEqual(comparable(await ask(newId("project"))));
      expect((await ask(mine.projectId)).status).toBe(200);
    }
  });
}

test("another organization's credential is not found under ours, by its id, its binding or its project", async () => {
  const [own, foreign] = [mine.vault, theirs.vault];
  const [connected, other] = [await own.connect(), await foreign.connect()];
  const absent = { credentialId: newId("credential"), bindingId: newId("binding") };
  const body = { provider: "openai", secret: "sk-of-this-test-alone" };
  for (const caller of [own.owner, { key: own.tenant.key }, { key: own.tenant.unboundKey }]) {
    const ask = async (of: typeof other, binding = of.bindingId) => [
      await call("POST", `${own.path}/${of.credentialId}/rotate`, { ...caller, body }),
      await call("DELETE", `${own.path}/${of.credentialId}/bindings/${binding}`, caller),
      await call("DELETE", `${own.path}/${of.credentialId}`, caller),
    ];
    const refused = await ask(other);
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(refused.map(comparable)).toEqual((await ask(absent)).map(comparable));
    const target = `${own.path}/${connected.credentialId}/bindings/${other.bindingId}`;
    expect((await call("DELETE", target, caller)).status).toBe(404);
  }
  const bind = (projectId: string) =>
    call("POST", `${own.path}/${connected.credentialId}/bindings`, {
      ...own.owner,
      body: { projectId, environment: "development", provider: "openai" },
    });
  const refused = await bind(foreign.tenant.projectId);
  expect(refused.status).toBe(422);
  expect(comparable(refused)).toEqual(comparable(await bind(newId("project"))));
});

test("another tenant's alias is not found, and their project is answered like a missing one", async () => {
  const { tenant, lora } = mine;
  await theirs.tenant.post("/v1/adapter-aliases", {
    alias: "Theirs",
    target: { adapterId: theirs.lora.adapterId },
  });
  const paths = endpoints.filter(({ path }) => path.includes("{alias_name}"));
  expect(paths.length).toBe(4);
  for (const { method, path } of paths) {
    const ask = (alias: string, projectId: string, key: string) => {
      const { body } = lora.sample(method, path);
      const target = `${path.replace("{alias_name}", alias)}?projectId=${projectId}`;
      return call(method, target, { key, body });
    };
    for (const key of [tenant.key, tenant.unboundKey]) {
      const refused = await ask("theirs", mine.projectId, key);
      expect(refused.status).toBe(404);
      expect(comparable(refused)).toEqual(comparable(await ask("unknown", mine.projectId, key)));
      const foreign = await ask("theirs", theirs.projectId, key);
      expect(foreign.status).toBe(403);
      expect(comparable(foreign)).toEqual(comparable(await ask("theirs", newId("project"), key)));
      expect((await ask("hero", mine.projectId, key)).status).toBe(200);
    }
  }
});

test("an upload to another tenant's project is answered like one to a missing project, whatever its bytes", async () => {
  const upload = (projectId: string, key: string) =>
    call("POST", `/v1/adapters/upload?projectId=${projectId}`, { key, body: uploadOf() });
  for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
    const refused = await upload(theirs.projectId, key);
    expect(refused.status).toBe(403);
    expect(comparable(refused)).toEqual(comparable(await upload(newId("project"), key)));
  }
  expect((await upload(mine.otherProjectId, mine.tenant.unboundKey)).status).toBe(200);
  const bytes = someWeights();
  const send = (tenant: Tenant) => tenant.post("/v1/adapters/upload", uploadOf(bytes));
  const { json } = await send(theirs.tenant);
  expect((await send(mine.tenant)).json.source.sha256).toBe(json.source.sha256);
  expect((await mine.tenant.get(`/v1/artifacts/${json.source.ref}`)).status).toBe(404);
  expect((await mine.tenant.get(`/v1/adapters/${json.adapterId}`)).status).toBe(404);
});

test("adapters, artifacts, versions and aliases of another tenant in a body are answered like missing ones", async () => {
  const { tenant } = mine;
  type Named = { adapterId: string; versionId: string; artifactId: string };
  const absent: Named = {
    adapterId: newId("adapter"),
    versionId: newId("aliasVersion"),
    artifactId: newId("artifact"),
  };
  const { adapterId, versionId } = theirs.lora;
  const foreign = { adapterId, versionId, artifactId: theirs.artifactId };
  const asks: ((of: Named) => Promise<Answer>)[] = [
    (of) => tenant.post("/v1/adapter-aliases", { alias: "New", target: { adapterId: of.adapterId } }),
    (of) => tenant.post("/v1/adapter-aliases/hero/promotions", { target: { adapterId: of.adapterId } }),
    (of) => tenant.post("/v1/adapter-aliases/hero/recipe-binding", { versionId: of.versionId }),
    (of) =>
      tenant.post("/v1/adapters", {
        ...newAdapter("One"),
        source: { kind: "service_artifact", ref: of.artifactId },
      }),
  ];
  for (const ask of asks) {
    const refused = await ask(foreign);
    expect(refused.status).toBe(422);
    expect(comparable(refused)).toEqual(comparable(await ask(absent)));
  }
  for (const path of ["/v1/adapters/suggestions", "/v1/adapters/suggestions/accept"]) {
    const nothing = await tenant.post(path, { query: "unknown" });
    expect(nothing.json.resolution).toBe("not_found");
    for (const query of ["theirs", adapterId])
      expect(comparable(await tenant.post(path, { query }))).toEqual(comparable(nothing));
  }
  const put = (alias: string) =>
    call("PUT", "/v1/adapter-defaults/image.generate.v1", { key: tenant.key, body: { alias } });
  expect(comparable(await put("theirs"))).toEqual(comparable(await put("unknown")));
});

test("OpenAI's project header of another tenant is answered like one that does not exist", {
  tags: "long",
}, async () => {
  const paths = endpoints.filter(({ refusals }) => refusals);
  expect(paths.length).toBe(8);
  setSettings({ JOB_WAIT_SECONDS: 1 }); // no worker runs jobs here
  const messages = [{ role: "user", content: "How deep is the sea?" }];
  const bodies: Record<string, object> = {
    "/v1/chat/completions": { model: TEXT, messages },
    "/v1/responses": { model: TEXT, input: messages },
    "/v1/embeddings": { model: "text.embed.v1", input: "How deep is the sea?" },
    "/v1/images/generations": { prompt: "A kite" },
    "/v1/images/edits": new Form([
      ["prompt", "A kite"],
      ["image", { filename: "a.png", bytes: whiteSquare() }],
    ]),
    "/v1/audio/speech": { model: "audio.voice.generate.v1", voice: "alloy", input: "Hello." },
  };
  for (const { method, path } of paths) {
    for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
      const ask = (projectId: string) =>
        call(method, path.replace("{model}", "sandbox%2Fsandbox-1"), {
          key,
          headers: { "openai-project": projectId },
          ...(bodies[path] ? { body: bodies[path] } : {}),
        });
      const refused = await ask(theirs.projectId);
      expect(refused.status).toBe(403);
      expect(comparable(refused)).toEqual(comparable(await ask(newId("project"))));
      expect((await ask(mine.projectId)).status).toBe(/images|audio/.test(path) ? 504 : 200);
    }
  }
});
