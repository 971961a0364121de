import { afterAll, beforeAll, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { newId } from "@/server/ids";
import { type Adapters, newAdapter, openAdapters } from "@/testing/adapters";
import {
  type Answer,
  type Call,
  call,
  finish,
  keyCtx,
  makeKeyWithId,
  makeTenant,
  sessionHeaders,
  submitWaiting,
  type Tenant,
} from "@/testing/api";
import { COMPARED, COMPARISONS, compared } from "@/testing/comparisons";
import { someWeights, uploadOf } from "@/testing/forms";
import { NEED, needIn, quotedNeed } from "@/testing/needs";
import { isOfPanels, openPanels, type Panels } from "@/testing/panels";
import { isOfItself, isOfRooms, openRooms, type Rooms } from "@/testing/rooms";
import { otherSessionOf } from "@/testing/sessions";
import { isOfVault, openVault, type Vault } from "@/testing/vault";
import { endpoints } from ".";

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
const MATH = "compute.evaluate.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

/** Everything of one tenant that can be named in a request. */
type Estate = {
  tenant: Tenant;
  projectId: string;
  otherProjectId: string;
  jobId: string;
  artifactId: string;
  executionId: string;
  /** The record of a pinned execution, and a manifest of it. */
  receiptId: string;
  manifestId: string;
  /** A bulk of them, canceled before it ran. */
  bulkId: string;
  /** A judged one. */
  comparison: Awaited<ReturnType<typeof compared>>;
  queuedId: string;
  approvedId: string;
  rejectedId: string;
  canceledId: string;
  quoteId: string;
  endpointId: string;
  /** Another endpoint, which may be disabled. */
  spareEndpointId: string;
  deliveryId: string;
  lora: Adapters;
  /** Its organization, projects and keys. */
  rooms: Rooms;
  /** Its panels and their sessions. */
  panels: Panels;
  /** Of an execution whose charge nobody knows. */
  holdId: string;
  /** A session of its owner. */
  sessionId: string;
  /** A capability request, and one with a quote. */
  requestId: string;
  pricedId: string;
  /** A signed-in owner of the organization, for what is of people only. */
  owner: Call;
  /** What is connected, in an organization of its own, since work of its project would run on it. */
  vault: Vault;
};

const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};
const BULK = { pin: PIN.pin, items: [{ id: "one", input: PIN.input }] };
const HOOK = { url: "https://hooks.example/in", secret: "s3cret" };

async function makeEstate(): Promise<Estate> {
  const tenant = await makeTenant();
  const submit = async (key: string, body: unknown) =>
    (await tenant.post(`/v1/capabilities/${key}/jobs`, body)).json.jobId as string;
  const { endpointId } = (await tenant.post("/v1/delivery-endpoints", HOOK)).json;
  const spare = await tenant.post("/v1/delivery-endpoints", { ...HOOK, enabled: false });
  const jobId = await submit(IMAGE, { prompt: "A kite", variantCount: 2 });
  await jobs.announce(systemCtx("test"), tenant);
  const deliveryId = (await tenant.get("/v1/deliveries")).json.items[0].deliveryId;
  const { artifacts } = await finish(jobId);
  const decided = async (decision: string) => {
    const waiting = await submitWaiting(tenant, TEXT, { input });
    expect((await tenant.post(`/v1/jobs/${waiting.jobId}/${decision}`)).status).toBe(200);
    return waiting.jobId;
  };
  const lost = await tenant.post(`/v1/capabilities/${TEXT}/jobs`, {
    input,
    execution: { executionConstraints: { preferredModel: "sandbox-lost" } },
  });
  await finish(lost.json.jobId);
  const [hold] = (await tenant.get("/v1/billing/holds?state=ambiguous")).json.items;
  const { bulkId } = (await tenant.post("/v1/inference/pinned/bulk", BULK)).json;
  await tenant.post(`/v1/inference/pinned/bulk/${bulkId}/cancel`);
  const receiptId = (await tenant.post("/v1/inference/pinned", PIN)).json.receiptId;
  const owner = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  return {
    tenant,
    bulkId,
    comparison: await compared(tenant, true),
    manifestId: (await tenant.post("/v1/provenance/manifests", { label: "x", receiptIds: [receiptId] })).json
      .manifestId,
    holdId: hold.holdId,
    requestId: (await needIn(await keyCtx(tenant.key), "draft")).id,
    pricedId: (await quotedNeed(await keyCtx(tenant.key))).request.id,
    owner,
    sessionId: await otherSessionOf(owner.headers.cookie),
    projectId: tenant.projectId,
    otherProjectId: tenant.otherProjectId,
    jobId,
    artifactId: artifacts[0]?.artifactId ?? "",
    executionId: (await tenant.post(`/v1/capabilities/${MATH}/invoke`, { expression: "1 + 1" })).json
      .executionId,
    receiptId,
    queuedId: await submit(TEXT, { input, idempotencyKey: "shared" }),
    approvedId: await decided("approve"),
    rejectedId: await decided("reject"),
    canceledId: await decided("cancel"),
    quoteId: (await tenant.post(`/v1/capabilities/${TEXT}/quote`, { input })).json.quoteId,
    endpointId,
    spareEndpointId: spare.json.endpointId,
    deliveryId,
    lora: await openAdapters(tenant),
    rooms: await openRooms(tenant),
    panels: await openPanels(tenant),
    vault: await openVault(),
  };
}

let mine: Estate;
let theirs: Estate;
beforeAll(async () => {
  [mine, theirs] = [await makeEstate(), await makeEstate()];
}, 180_000);

afterAll(async () => {
  await theirs.lora.close();
  await mine.lora.close();
  await mine.vault.close();
  await theirs.vault.close();
});

/** An answer without what is never twice the same. */
function comparable({ status, headers, text }: Answer) {
  const { "x-request-id": _id, "ratelimit-remaining": _left, "ratelimit-reset": _reset, ...rest } = headers;
  return { status, text, headers: rest };
}

type Request = { method: string; target: string; body?: unknown };

const missing = (): Estate => ({
  ...mine,
  projectId: newId("project"),
  otherProjectId: newId("project"),
  jobId: newId("job"),
  artifactId: newId("artifact"),
  executionId: newId("job"),
  receiptId: newId("receipt"),
  manifestId: newId("manifest"),
  bulkId: newId("bulk"),
  comparison: { ...mine.comparison, comparisonId: newId("comparison") },
  queuedId: newId("job"),
  approvedId: newId("job"),
  rejectedId: newId("job"),
  canceledId: newId("job"),
  quoteId: newId("quote"),
  endpointId: newId("endpoint"),
  spareEndpointId: newId("endpoint"),
  deliveryId: newId("delivery"),
  holdId: newId("hold"),
  sessionId: newId("session"),
  requestId: newId("capabilityRequest"),
  pricedId: newId("capabilityRequest"),
  lora: {
    ...mine.lora,
    sample: (method, path) => {
      const { target, ...rest } = mine.lora.sample("GET", path);
      return { ...rest, method, target: target.replace(/adp_\w+/, newId("adapter")) };
    },
  },
  rooms: { ...mine.rooms, sample: mine.rooms.absent },
  panels: {
    ...mine.panels,
    sample: (method, path) => ({
      ...mine.panels.sample(method, path),
      target: path
        .replace("{definition_id}", newId("panelDefinition"))
        .replace("{session_id}", newId("panelSession")),
    }),
  },
  vault: {
    ...mine.vault,
    sample: (method, path) => {
      const { body } = mine.vault.sample(method, path);
      const ids = {
        organization: newId("organization"),
        credential: newId("credential"),
        connection: newId("credential"),
        session: newId("onboarding"),
        project: newId("project"),
        binding: newId("binding"),
      };
      const target = path.replace(
        /\{(organization|credential|connection|session|project|binding)_id\}/g,
        (_, kind: keyof typeof ids) => ids[kind],
      );
      return { method, target, ...(body ? { body } : {}) };
    },
  },
});

/** Requests that name things of an estate in the path, by endpoint; every endpoint with an id in its path has some. */
function inPath({ method, path }: Endpoint, of: Estate): Request[] {
  if (isOfVault({ path })) return [of.vault.sample(method, path)];
  if (isOfRooms(path)) return [of.rooms.sample(method, path)];
  if (isOfPanels(path)) return [of.panels.sample(method, path)];
  if (path.includes("{adapter_id}")) return [of.lora.sample(method, path)];
  if (path.includes("{project_id}")) {
    return [of.projectId, of.otherProjectId].map((id) => ({
      method,
      target: path.replace("{project_id}", id),
      ...(method === "PUT" ? { body: { enforcement: "off" } } : {}),
    }));
  }
  if (path.includes("{hold_id}")) {
    const body = { notCharged: true, note: "Looked." };
    return [{ method, target: path.replace("{hold_id}", of.holdId), body }];
  }
  if (path.includes("{request_id}")) {
    const target = path.replace("{request_id}", path.endsWith("/quote") ? of.pricedId : of.requestId);
    return [{ method, target, ...(path.endsWith("/revisions") ? { body: NEED } : {}) }];
  }
  if (path.includes("{session_id}")) {
    return [{ method, target: path.replace("{session_id}", of.sessionId) }];
  }
  if (path.includes("{bulk_id}")) {
    return [{ method, target: path.replace("{bulk_id}", of.bulkId) }];
  }
  if (path.includes("{comparison_id}")) {
    const { comparisonId, winner } = of.comparison;
    const target = path.replace("{comparison_id}", comparisonId);
    return [{ method, target, ...(method === "POST" ? { body: winner } : {}) }];
  }
  if (path.includes("{receipt_id}")) {
    return [{ method, target: path.replace("{receipt_id}", of.receiptId) }];
  }
  if (path.includes("{execution_id}")) {
    return [{ method, target: path.replace("{execution_id}", of.executionId) }];
  }
  if (path.includes("{manifest_id}")) {
    return [{ method, target: path.replace("{manifest_id}", of.manifestId) }];
  }
  if (path.includes("{endpoint_id}")) {
    const target = path.replace(
      "{endpoint_id}",
      path.endsWith("/disable") ? of.spareEndpointId : of.endpointId,
    );
    return [{ method, target, ...(method === "PATCH" ? { body: { enabled: true } } : {}) }];
  }
  if (path.includes("{delivery_id}")) {
    return [{ method, target: path.replace("{delivery_id}", of.deliveryId) }];
  }
  if (path.includes("{artifact_id}")) {
    return [{ method, target: path.replace("{job_id}", of.jobId).replace("{artifact_id}", of.artifactId) }];
  }
  if (path.includes("/variants/select")) {
    return [{ method, target: path.replace("{job_id}", of.jobId), body: { artifactId: of.artifactId } }];
  }
  const verbs: Record<string, string> = {
    cancel: of.queuedId,
    approve: of.approvedId,
    reject: of.rejectedId,
    retry: of.canceledId,
  };
  const one = verbs[path.split("/").at(-1) ?? ""];
  const ids = one ? [one] : [of.jobId, of.executionId];
  return ids.map((id) => ({ method, target: path.replace("{job_id}", id) }));
}

const withIds = endpoints.filter(({ path }) =>
  /\{(job|execution|comparison|receipt|bulk|manifest|request|artifact|project|endpoint|delivery|hold|organization|adapter|key|definition|session|connection)_id\}/.test(
    path,
  ),
);

const isForKeys = ({ auth, path }: Endpoint) => auth.includes("service_principal") && !isOfItself(path);

for (const endpoint of withIds) {
  const name = `${endpoint.method} ${endpoint.path}`;

  test(`${name}: their owner${isForKeys(endpoint) ? "'s keys are" : " is"} served`, async () => {
    const { otherProjectId } = theirs;
    const { tenant, owner } = isOfVault(endpoint) ? theirs.vault : theirs;
    for (const [position, { method, target, body }] of inPath(endpoint, theirs).entries()) {
      if (!isForKeys(endpoint)) {
        expect((await call(method, target, { ...owner, body })).status).toBe(200);
        continue;
      }
      expect((await call(method, target, { key: tenant.unboundKey, body })).status).toBe(200);
      // The bound key is of one project; its sister is nothing to it.
      const wanted = target.includes(otherProjectId) ? 404 : 200;
      // What was deleted is gone for everybody.
      const next = method === "DELETE" ? (inPath(endpoint, theirs)[position]?.target ?? "") : target;
      expect((await call(method, next, { key: tenant.key, body })).status).toBe(wanted);
    }
  });
}

test("a key revokes itself and none else: others of its tenant and of strangers are as none at all", async () => {
  const revoke = (keyId: string, key: string) => call("POST", `/v1/api-keys/${keyId}/revoke`, { key });
  const [{ apiKey, keyId }, sister, foreign] = [
    await makeKeyWithId({ projectId: mine.projectId, scopes: ["jobs:read"] }),
    await makeKeyWithId({ projectId: mine.projectId }),
    await makeKeyWithId({ projectId: theirs.projectId }),
  ];
  const nothing = await revoke(newId("key"), apiKey);
  expect(nothing.status).toBe(404);
  for (const other of [sister.keyId, foreign.keyId])
    expect(comparable(await revoke(other, apiKey))).toEqual(comparable(nothing));
  expect((await revoke(keyId, apiKey)).json).toMatchObject({ keyId, revoked: true });
  expect((await revoke(keyId, apiKey)).status).toBe(401);
  expect((await revoke(sister.keyId, sister.apiKey)).status).toBe(200);
});

test("a project is found under its own organization only, and keys are listed to their own people", async () => {
  const at = (organization: string, project: string) =>
    call("GET", `/v1/organizations/${organization}/projects/${project}`, mine.owner);
  const nothing = await at(mine.tenant.organizationId, newId("project"));
  expect(nothing.status).toBe(404);
  for (const [organization, project] of [
    [mine.tenant.organizationId, theirs.projectId],
    [theirs.tenant.organizationId, mine.projectId],
  ] as const)
    expect(comparable(await at(organization, project))).toEqual(comparable(nothing));
  const keys = (query: string) => call("GET", `/v1/api-keys?includeRevoked=true&${query}`, mine.owner);
  expect((await keys("")).text).not.toContain(theirs.tenant.organizationId);
  const none = await keys(`projectId=${newId("project")}`);
  for (const query of [`projectId=${theirs.projectId}`, `organizationId=${theirs.tenant.organizationId}`])
    expect(comparable(await keys(query))).toEqual(comparable(none));
  const make = (projectId: string) =>
    call("POST", "/v1/api-keys", { ...mine.owner, body: { name: "k", projectId } });
  expect(comparable(await make(theirs.projectId))).toEqual(comparable(await make(newId("project"))));
  expect((await call("GET", "/v1/organizations", mine.owner)).json.items).toMatchObject([
    { organizationId: mine.tenant.organizationId, role: "owner" },
  ]);
  const environment = (await call("GET", `/v1/projects/${theirs.projectId}/environments`, theirs.owner)).json;
  const patch = (id: string) =>
    call("PATCH", `/v1/projects/${mine.projectId}`, {
      ...mine.owner,
      body: { environments: [{ id, displayName: "Mine" }] },
    });
  const refused = await patch(environment.items[0].id);
  expect(refused.status).toBe(422);
  expect(comparable(refused)).toEqual(comparable(await patch(newId("environment"))));
});

test("every endpoint with an id in its path was asked", () => {
  expect(withIds.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    endpoints
      .filter(({ path }) => /\{(?!(?:capability_key|alias_name|weights_link|model)\})/.test(path))
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  );
});

test("an address of weights is of nobody's: whoever has it is served by it, and by no other", async () => {
  const { link, artifactId } = theirs.lora;
  for (const caller of [{}, { key: mine.tenant.key }, { key: theirs.tenant.key }])
    expect((await call("GET", link, caller)).status).toBe(200);
  const other = await call("GET", link.replace(artifactId, mine.lora.artifactId));
  const absent = await call("GET", link.replace(artifactId, newId("artifact")));
  expect(other.status).toBe(404);
  expect(comparable(other)).toEqual(comparable(absent));
});

test("a job of one's own does not open another tenant's artifact", async () => {
  const own = `/v1/jobs/${mine.jobId}`;
  const refused = await mine.tenant.get(`${own}/artifacts/${theirs.artifactId}`);
  expect(refused.status).toBe(404);
  expect(comparable(refused)).toEqual(
    comparable(await mine.tenant.get(`${own}/artifacts/${newId("artifact")}`)),
  );
  const chosen = await mine.tenant.post(`${own}/variants/select`, { artifactId: theirs.artifactId });
  expect(chosen.status).toBe(422);
  expect(comparable(chosen)).toEqual(
    comparable(await mine.tenant.post(`${own}/variants/select`, { artifactId: newId("artifact") })),
  );
});

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

test("pinned: context.projectId and ?projectId= of another tenant are answered like one that does not exist", async () => {
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

test("comparisons: a project of another tenant is answered like none, in bodies and in queries; its key is no key of mine", async () => {
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

test("an entry of another tenant's comparison wins nothing of mine", async () => {
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

test("provenance: another tenant's receipts and projects are answered like none, in bodies and in queries", async () => {
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

test("plan: context.projectId of another tenant is answered like one that does not exist", async () => {
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

test("a key of another tenant is no key of mine", async () => {
  const body = {
    input: { messages: [{ role: "user", content: "Something else." }] },
    idempotencyKey: "shared",
  };
  const { status, json } = await call("POST", `/v1/capabilities/${TEXT}/jobs`, {
    key: mine.tenant.unboundKey,
    body: { ...body, context: { projectId: mine.otherProjectId } },
  });
  expect(status).toBe(200);
  expect([mine.queuedId, theirs.queuedId]).not.toContain(json.jobId);
});

test("a cursor of another tenant moves through one's own jobs only", async () => {
  for (const target of ["/v1/jobs", `/v1/projects/${mine.projectId}/jobs`]) {
    const own = new Set((await mine.tenant.get(`${target}?limit=100`)).json.items.map(idOf));
    const { status, json } = await mine.tenant.get(`${target}?limit=100&cursor=${theirs.queuedId}`);
    expect(status).toBe(200);
    for (const item of json.items) expect(own).toContain(idOf(item));
  }
});

const idOf = (item: { jobId: string }) => item.jobId;

test("lists hold one's own jobs, all of them, and nobody else's", async () => {
  for (const { tenant, jobId, executionId, queuedId } of [mine, theirs]) {
    const { json } = await tenant.get(`/v1/projects/${tenant.projectId}/jobs?limit=100`);
    expect(json.items.map(idOf)).toEqual(expect.arrayContaining([jobId, executionId, queuedId]));
    const others = tenant === mine.tenant ? theirs : mine;
    for (const id of [others.jobId, others.executionId, others.queuedId]) {
      expect(json.items.map(idOf)).not.toContain(id);
    }
  }
});

test("an unbound key works in every project of its organization, and a bound one cannot see what it made elsewhere", async () => {
  const { tenant } = mine;
  const { json } = await call("POST", `/v1/capabilities/${TEXT}/jobs`, {
    key: tenant.unboundKey,
    body: { input, context: { projectId: tenant.otherProjectId } },
  });
  expect(json.projectId).toBe(tenant.otherProjectId);
  const target = `/v1/jobs/${json.jobId}`;
  expect((await call("GET", target, { key: tenant.unboundKey })).status).toBe(200);
  expect((await call("GET", `/v1/jobs/${mine.jobId}`, { key: tenant.unboundKey })).status).toBe(200);
  const sister = await tenant.get(target);
  expect(comparable(sister)).toEqual(comparable(await tenant.get(`/v1/jobs/${newId("job")}`)));
  expect((await call("POST", `${target}/cancel`, { key: tenant.key })).status).toBe(404);
  expect((await call("POST", `${target}/cancel`, { key: tenant.unboundKey })).status).toBe(200);
});

test("delivery endpoints and deliveries are listed to their project's keys and to its organization's, to nobody else", async () => {
  const seen = async (target: string, key: string) => (await call("GET", target, { key })).text;
  for (const [of, others] of [
    [mine, theirs],
    [theirs, mine],
  ] as const) {
    for (const key of [of.tenant.key, of.tenant.unboundKey]) {
      for (const [target, id, foreign] of [
        ["/v1/delivery-endpoints", of.endpointId, others.endpointId],
        ["/v1/deliveries?limit=200", of.deliveryId, others.deliveryId],
      ] as const) {
        expect(await seen(target, key)).toContain(id);
        expect(await seen(target, key)).not.toContain(foreign);
      }
      for (const filter of [`endpointId=${others.endpointId}`, `jobId=${others.jobId}`]) {
        expect(await seen(`/v1/deliveries?${filter}`, key)).toBe('{"items":[]}');
      }
      const cursor = await seen(`/v1/deliveries?limit=200&cursor=${others.deliveryId}`, key);
      expect(cursor).not.toContain(others.deliveryId);
    }
  }
});

test("capability requests are filed in and listed of one's own projects alone", async () => {
  for (const key of [mine.tenant.key, mine.tenant.unboundKey]) {
    const file = (projectId: string) =>
      call("POST", "/v1/capability-requests", { key, body: { ...NEED, projectId } });
    const refused = await file(theirs.projectId);
    expect(refused.status).toBe(403);
    expect(comparable(refused)).toEqual(comparable(await file(newId("project"))));
    const { json } = await call("GET", "/v1/capability-requests?limit=100", { key });
    const ids = json.items.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([mine.requestId, mine.pricedId]));
    expect(ids).not.toContain(theirs.requestId);
    const cursor = await call("GET", `/v1/capability-requests?cursor=${theirs.pricedId}`, { key });
    expect(cursor.text).not.toContain(theirs.requestId);
  }
  const elsewhere = { ...NEED, projectId: mine.otherProjectId };
  const { json } = await call("POST", "/v1/capability-requests", {
    key: mine.tenant.unboundKey,
    body: elsewhere,
  });
  expect(json.projectId).toBe(mine.otherProjectId);
  expect((await mine.tenant.get(`/v1/capability-requests/${json.id}`)).status).toBe(404);
  expect((await mine.tenant.get("/v1/capability-requests?limit=100")).text).not.toContain(json.id);
});

test("another tenant's commission quote is no quote of an execution, nor is one's own", async () => {
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

test("an endpoint of a sister project, and what was sent to it, is nothing to a bound key", async () => {
  const { tenant } = mine;
  const { status, json } = await call("POST", "/v1/delivery-endpoints", {
    key: tenant.unboundKey,
    body: { ...HOOK, projectId: tenant.otherProjectId },
  });
  expect(status).toBe(201);
  expect((await tenant.get("/v1/delivery-endpoints")).text).not.toContain(json.endpointId);
  const target = `/v1/delivery-endpoints/${json.endpointId}/disable`;
  expect((await call("POST", target, { key: tenant.key })).status).toBe(404);
  const foreign = { ...HOOK, projectId: theirs.projectId };
  const refused = await tenant.post("/v1/delivery-endpoints", foreign);
  expect(refused.status).toBe(403);
  expect(comparable(refused)).toEqual(
    comparable(await tenant.post("/v1/delivery-endpoints", { ...HOOK, projectId: newId("project") })),
  );
});

test("a credential of another organization is not found under one's own, by its id, its binding or its project", async () => {
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

test("a key of a project changes what serves its own environment alone, and nothing of a sister project", async () => {
  const { tenant, path, owner, connect } = mine.vault;
  const { credentialId } = await connect();
  const bind = { projectId: tenant.otherProjectId, environment: "development", provider: "openai" };
  const target = `${path}/${credentialId}`;
  const shared = await call("POST", `${target}/bindings`, { ...owner, body: bind });
  expect(shared.status).toBe(200);
  const body = { provider: "openai", secret: "sk-of-this-test-alone" };
  const bound = { key: tenant.key };
  expect((await call("DELETE", target, bound)).status).toBe(404);
  expect((await call("POST", `${target}/rotate`, { ...bound, body })).status).toBe(404);
  expect((await call("DELETE", `${target}/bindings/${shared.json.bindingId}`, bound)).status).toBe(404);
  const whole = { key: tenant.unboundKey };
  expect((await call("DELETE", `${target}/bindings/${shared.json.bindingId}`, whole)).json).toEqual({
    unbound: true,
  });
  expect((await call("DELETE", target, bound)).status).toBe(200);
});

test("an alias of another tenant is no alias of one's own, and their project is answered like none", async () => {
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
      expect(comparable(refused)).toEqual(comparable(await ask("nobody", mine.projectId, key)));
      const foreign = await ask("theirs", theirs.projectId, key);
      expect(foreign.status).toBe(403);
      expect(comparable(foreign)).toEqual(comparable(await ask("theirs", newId("project"), key)));
      expect((await ask("hero", mine.projectId, key)).status).toBe(200);
    }
  }
});

test("an upload to another tenant's project is answered like one to none, whatever its bytes", async () => {
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

test("adapters, artifacts, versions and aliases of another tenant in a body are answered like none", async () => {
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
    const nothing = await tenant.post(path, { query: "nobody" });
    expect(nothing.json.resolution).toBe("not_found");
    for (const query of ["theirs", adapterId])
      expect(comparable(await tenant.post(path, { query }))).toEqual(comparable(nothing));
  }
  const put = (alias: string) =>
    call("PUT", "/v1/adapter-defaults/image.generate.v1", { key: tenant.key, body: { alias } });
  expect(comparable(await put("theirs"))).toEqual(comparable(await put("nobody")));
});

test("adapters and aliases are listed to their own project, and a cursor of another moves through one's own", async () => {
  for (const [of, others] of [
    [mine, theirs],
    [theirs, mine],
  ] as const) {
    for (const key of [of.tenant.key, of.tenant.unboundKey]) {
      const list = async (path: string, more = "") =>
        (await call("GET", `${path}?limit=200&projectId=${of.projectId}${more}`, { key })).text;
      expect(await list("/v1/adapters")).toContain(of.lora.adapterId);
      expect(await list("/v1/adapters")).not.toContain(others.lora.adapterId);
      expect(await list("/v1/adapter-aliases")).not.toContain(others.lora.versionId);
      const cursor = `&cursor=${others.lora.adapterId}`;
      expect(await list("/v1/adapters", cursor)).not.toContain(others.lora.adapterId);
    }
  }
});

test("OpenAI's project header of another tenant is answered like one that does not exist", async () => {
  const paths = endpoints.filter(({ refusals }) => refusals);
  expect(paths.length).toBe(4);
  const messages = [{ role: "user", content: "How deep is the sea?" }];
  const bodies: Record<string, object> = {
    "/v1/chat/completions": { model: TEXT, messages },
    "/v1/responses": { model: TEXT, input: messages },
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
      expect((await ask(mine.projectId)).status).toBe(200);
    }
  }
});
