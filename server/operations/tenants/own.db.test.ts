import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { call } from "@/testing/api";
import { NEED } from "@/testing/needs";
import { closeEstates, comparable, HOOK, input, mine, openEstates, TEXT, theirs } from "./estate.fixture";

/* Lists and projects show exactly a tenant's own objects. */

beforeAll(openEstates, 180_000);
afterAll(closeEstates);

test("an idempotency key that another tenant used makes a job of our own", async () => {
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

test("a cursor of another tenant moves only through our own jobs", async () => {
  for (const target of ["/v1/jobs", `/v1/projects/${mine.projectId}/jobs`]) {
    const own = new Set((await mine.tenant.get(`${target}?limit=100`)).json.items.map(idOf));
    const { status, json } = await mine.tenant.get(`${target}?limit=100&cursor=${theirs.queuedId}`);
    expect(status).toBe(200);
    for (const item of json.items) expect(own).toContain(idOf(item));
  }
});

const idOf = (item: { jobId: string }) => item.jobId;

test("a project's list has the tenant's own jobs, and none of another tenant", async () => {
  for (const { tenant, jobId, executionId, queuedId } of [mine, theirs]) {
    const { json } = await tenant.get(`/v1/projects/${tenant.projectId}/jobs?limit=100`);
    expect(json.items.map(idOf)).toEqual(expect.arrayContaining([jobId, executionId, queuedId]));
    const others = tenant === mine.tenant ? theirs : mine;
    for (const id of [others.jobId, others.executionId, others.queuedId]) {
      expect(json.items.map(idOf)).not.toContain(id);
    }
  }
});

test("an unbound key works in every project of its organization, and a bound key cannot see jobs of another project", async () => {
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

test("endpoints and deliveries are listed to keys of their project and organization, and to no one else", async () => {
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

test("capability requests are created in and listed from our own projects only", async () => {
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

test("a bound key cannot see or disable a webhook endpoint of another project, or create one for another tenant", async () => {
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

test("a project's key cannot change a connection that another project uses, and can delete the connection afterwards", async () => {
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

test("a list of adapters has the tenant's own, and no list of adapters or aliases has another tenant's", async () => {
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
