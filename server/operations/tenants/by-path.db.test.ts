import { afterAll, beforeAll, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { newId } from "@/server/platform/ids";
import { call, makeKeyWithId } from "@/testing/api";
import { isOfPanels } from "@/testing/embeds";
import { isManaged } from "@/testing/management";
import { NEED } from "@/testing/needs";
import { isOfItself, isOfRooms } from "@/testing/rooms";
import { isOfVault } from "@/testing/vault";
import { endpoints } from "..";
import { closeEstates, comparable, type Estate, mine, openEstates, theirs } from "./estate.fixture";

/* Objects of another tenant are not found at their paths. */

beforeAll(openEstates, 180_000);
afterAll(closeEstates);

type Request = { method: string; target: string; body?: unknown };

/** Requests that name objects of an estate in the path, by endpoint. Every endpoint with an id in its path has some. */
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
  if (path.includes("{budget_id}")) return [{ method, target: path.replace("{budget_id}", of.budgetId) }];
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
  /\{(job|execution|comparison|receipt|bulk|manifest|request|artifact|project|endpoint|delivery|hold|organization|adapter|key|definition|session|connection|budget)_id\}/.test(
    path,
  ),
);

const isForKeys = (endpoint: Endpoint) =>
  endpoint.auth.includes("service_principal") && !isOfItself(endpoint.path) && !isManaged(endpoint);

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
      // The bound key belongs to one project, so its sister project is 404.
      const wanted = target.includes(otherProjectId) ? 404 : 200;
      // A deleted object is gone for everyone, so the next one is requested.
      const next = method === "DELETE" ? (inPath(endpoint, theirs)[position]?.target ?? "") : target;
      expect((await call(method, next, { key: tenant.key, body })).status).toBe(wanted);
    }
  });
}

test("a key revokes itself only, and other keys, of its tenant and of strangers, are answered like missing ones", async () => {
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

test("a project is found only under its own organization, and keys are listed only to people of their organization", async () => {
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

test("every endpoint with an id in its path was called", () => {
  expect(withIds.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    endpoints
      .filter(({ path }) => /\{(?!(?:capability_key|alias_name|weights_link|model)\})/.test(path))
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  );
});

test("an address of weights serves anyone who has it, and no other address works", async () => {
  const { link, artifactId } = theirs.lora;
  for (const caller of [{}, { key: mine.tenant.key }, { key: theirs.tenant.key }])
    expect((await call("GET", link, caller)).status).toBe(200);
  const other = await call("GET", link.replace(artifactId, mine.lora.artifactId));
  const absent = await call("GET", link.replace(artifactId, newId("artifact")));
  expect(other.status).toBe(404);
  expect(comparable(other)).toEqual(comparable(absent));
});

test("a job does not open another tenant's artifact", async () => {
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
