import { beforeEach, describe, expect, test } from "vitest";
import { MANAGEMENT_SCOPES, RUN_SCOPES } from "@/server/contract/enums";
import { CreateManagementKey } from "@/server/contract/management-keys";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import { call, keyCtx, makeKeyWithId, makeTenant } from "@/testing/api";
import { HOST } from "@/testing/embeds";
import { makeManagementKey } from "@/testing/management";
import { makePerson, system } from "@/testing/tenants";
import { createManagementKey } from ".";
import {
  actsOf,
  ask,
  makeChild,
  manager,
  openTenant,
  RUNS,
  refusalOf,
  run,
  tenant,
} from "./management.fixture";

beforeEach(openTenant);

describe("creating a management key", () => {
  const wanted = (projectIds: string[]) => ({
    organizationId: tenant.organizationId,
    name: "setup",
    scopes: ["keys:write" as const],
    projectIds,
    runScopes: ["jobs:read" as const],
    hosts: [],
    ceiling: { micros: 1, period: "day" as const },
    expiresInSeconds: 60,
  });

  test.each(["admin", "member", "viewer"] as const)(
    "a person who is %s cannot create a management key",
    async (role) => {
      const { ctx } = await makePerson(tenant.organizationId, role);
      await expect(createManagementKey(ctx, wanted([tenant.projectId]))).rejects.toThrow(
        /needs the role owner/,
      );
    },
  );

  test("neither a key, the system nor an owner of another organization can create a management key", async () => {
    const inPanel = /Only an owner of the organization can create a management key, in the panel/;
    for (const ctx of [await keyCtx(manager.apiKey), await keyCtx(tenant.unboundKey), system])
      await expect(createManagementKey(ctx, wanted([tenant.projectId]))).rejects.toThrow(inPanel);
    const stranger = await makePerson((await makeTenant()).organizationId, "owner");
    await expect(createManagementKey(stranger.ctx, wanted([tenant.projectId]))).rejects.toThrow(
      "There is no such organization.",
    );
    expect(endpoints.filter(({ path }) => path.includes("management"))).toEqual([]);
  });

  test("the projects of a management key must belong to its organization", async () => {
    const { projectId } = await makeTenant();
    await expect(
      createManagementKey(manager.owner.ctx, wanted([tenant.projectId, projectId])),
    ).rejects.toThrow();
  });

  test("the limits of a management key are parsed: 90 days, scopes that it can have and grant, and a ceiling if it creates keys", () => {
    const problems = (change: object) => {
      const parsed = CreateManagementKey.safeParse({ ...wanted(["cpr_1"]), ...change });
      return parsed.error?.issues.map(({ path }) => path.join(".")) ?? [];
    };
    expect(problems({})).toEqual([]);
    expect(problems({ expiresInSeconds: 90 * 86_400 })).toEqual([]);
    expect(problems({ expiresInSeconds: 90 * 86_400 + 1 })).toEqual(["expiresInSeconds"]);
    expect(problems({ scopes: ["capabilities:run"] })).toEqual(["scopes.0"]);
    for (const scope of ["approvals:write", ...MANAGEMENT_SCOPES])
      expect(problems({ runScopes: [scope] })).toEqual(["runScopes.0"]);
    expect(problems({ runScopes: [], ceiling: undefined })).toEqual(["runScopes", "ceiling"]);
    expect(problems({ scopes: ["credentials:write"] })).toEqual(["hosts"]);
    expect(problems({ hosts: ["https://models.example.com", "a/b"] })).toEqual(["hosts.0", "hosts.1"]);
    expect(problems({ hosts: ["models.example.com:8443"] })).toEqual([]);
  });

  test("the audit log has the creator of a management key and what the key can grant", async () => {
    const { rows } = await pool.query("SELECT * FROM audit_entry WHERE subject = $1", [manager.keyId]);
    expect(rows).toMatchObject([
      { action: "management_key.created", actor_id: manager.owner.userId, actor_kind: "human_session" },
    ]);
    expect(rows[0].details).toMatchObject({
      projectIds: [tenant.projectId],
      runScopes: RUNS,
      hosts: ["models.example.com"],
      ceiling: { micros: 1_000_000_000, period: "total" },
    });
  });

  test("the database refuses a management key that never ends or lasts over 90 days, and a created key without a project", async () => {
    const set = (change: string, keyId = manager.keyId) =>
      pool.query(`UPDATE api_key SET ${change} WHERE id = $1`, [keyId]);
    await expect(set("expires_at = NULL")).rejects.toThrow(/management_key_is_bounded/);
    await expect(set("expires_at = created_at + interval '91 days'")).rejects.toThrow(
      /management_key_is_bounded/,
    );
    const child = await makeChild();
    await expect(set("project_id = NULL", child.keyId)).rejects.toThrow(/made_key_is_bound/);
  });
});

describe("the keys that a management key creates", () => {
  test("a created key has the project and scopes that the owner allowed, and the audit log has its creation by the management key", async () => {
    const child = await makeChild();
    expect(child).toMatchObject({
      projectId: tenant.projectId,
      scopes: RUNS,
      madeByKey: manager.keyId,
      createdBy: manager.owner.userId,
      expiresAt: manager.expiresAt,
      management: null,
    });
    expect((await run(child.apiKey)).status).toBe(200);
    expect(await actsOf(manager.keyId)).toEqual([
      { action: "key.created", subject: child.keyId, project_id: tenant.projectId },
    ]);
  });

  test("a created key cannot get another scope, and never approvals:write or a management scope", async () => {
    const create = (scopes: string[]) =>
      ask("POST", "/v1/api-keys", { name: "agent", projectId: tenant.projectId, scopes });
    const refused = await create(["jobs:read", "billing:read"]);
    expect(refusalOf(refused)).toEqual([403, "AuthorizationFailed"]);
    expect(refused.json.detail.details).toEqual({
      scopes: ["billing:read"],
      allowed: RUNS,
    });
    for (const scope of ["approvals:write", "credentials:write", "webhooks:write"])
      expect(refusalOf(await create([scope]))).toEqual([403, "AuthorizationFailed"]);
    for (const scope of ["budgets:write", "keys:write", "settings:write"])
      expect((await create([scope])).status).toBe(422);
  });

  test("a created key belongs to a project of the management key; another project is not found, and no created key is organization-wide", async () => {
    const create = (place: object) => ask("POST", "/v1/api-keys", { name: "agent", ...place });
    const stranger = await makeTenant();
    for (const projectId of [tenant.otherProjectId, stranger.projectId])
      expect(refusalOf(await create({ projectId }))).toEqual([404, "NotFound"]);
    expect((await create({ organizationId: tenant.organizationId })).status).toBe(422);
  });

  test("a created key ends before the management key or with it", async () => {
    const soon = await makeChild({ expiresInSeconds: 60 });
    expect(Date.parse(soon.expiresAt)).toBeLessThan(Date.parse(manager.expiresAt ?? ""));
    const late = await makeChild({ expiresInSeconds: 365 * 86_400 });
    expect(late.expiresAt).toBe(manager.expiresAt);
  });

  test("after a management key is revoked, it and the keys that it created are refused", async () => {
    const child = await makeChild();
    expect((await call("GET", "/v1/jobs", { key: child.apiKey })).status).toBe(200);
    const revoked = await ask("POST", `/v1/api-keys/${manager.keyId}/revoke`);
    expect(revoked.status).toBe(200);
    expect(refusalOf(await call("GET", "/v1/jobs", { key: child.apiKey }))).toEqual([
      401,
      "AuthenticationFailed",
    ]);
    expect(refusalOf(await ask("GET", "/v1/api-keys"))).toEqual([401, "AuthenticationFailed"]);
    const { rows } = await pool.query("SELECT revoked_at FROM api_key WHERE id = $1", [child.keyId]);
    expect(rows[0].revoked_at).not.toBeNull();
  });

  test("created keys are refused if only the row of the management key has ended", async () => {
    const child = await makeChild();
    await pool.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [manager.keyId]);
    expect((await call("GET", "/v1/jobs", { key: child.apiKey })).status).toBe(401);
    await pool.query(
      "UPDATE api_key SET revoked_at = NULL, expires_at = now() - interval '1 second' WHERE id = $1",
      [manager.keyId],
    );
    expect((await call("GET", "/v1/jobs", { key: child.apiKey })).status).toBe(401);
  });

  test("a management key lists, revokes and rotates the keys that it created, and finds no others", async () => {
    const other = await makeKeyWithId({ projectId: tenant.projectId });
    const child = await makeChild();
    const { json } = await ask("GET", "/v1/api-keys");
    expect(json.items.map(({ keyId }: { keyId: string }) => keyId)).toEqual([child.keyId]);
    for (const target of [`/v1/api-keys/${other.keyId}/rotate`, `/v1/api-keys/${other.keyId}/revoke`])
      expect(refusalOf(await ask("POST", target, {}))).toEqual([404, "NotFound"]);
    const { json: next } = await ask("POST", `/v1/api-keys/${child.keyId}/rotate`, {});
    expect(next).toMatchObject({
      madeByKey: manager.keyId,
      expiresAt: manager.expiresAt,
      scopes: child.scopes,
    });
    expect((await ask("DELETE", `/v1/api-keys/${next.keyId}`)).json.revoked).toBe(true);
    expect((await actsOf(manager.keyId)).map(({ action }) => action)).toEqual([
      "key.created",
      "key.rotated",
      "key.revoked",
    ]);
  });

  test("a management key cannot be rotated by its own request", async () => {
    expect(refusalOf(await ask("POST", `/v1/api-keys/${manager.keyId}/rotate`, {}))).toEqual([
      409,
      "KeyNotRotatable",
    ]);
  });

  test("created keys cannot open embed sessions, to which the ceiling would not apply", async () => {
    const child = await makeChild();
    const opened = await call("POST", "/v1/panel-sessions", {
      key: child.apiKey,
      body: { projectId: tenant.projectId, allowedOrigins: [HOST], maxSpendMicros: 1 },
    });
    expect(refusalOf(opened)).toEqual([403, "AuthorizationFailed"]);
    expect(opened.json.message).toMatch(/management key/);
  });
});

test("a management key gets 403 from every endpoint that is not anonymous or listed here", async () => {
  const all = await makeManagementKey({
    organizationId: tenant.organizationId,
    projectIds: [tenant.projectId],
    runScopes: [...RUN_SCOPES],
  });
  const isOpen = ({ auth }: (typeof endpoints)[number]) => auth.includes("anonymous");
  const allowed: string[] = [];
  for (const endpoint of endpoints.filter((each) => !isOpen(each))) {
    const target = endpoint.path.replaceAll(/\{project_id\}/g, tenant.projectId).replaceAll(/\{\w+\}/g, "x");
    const { status } = await ask(endpoint.method, target, endpoint.body ? {} : undefined, all.apiKey);
    expect(status, `${endpoint.method} ${endpoint.path}`).toBeLessThan(500);
    if (status !== 403) allowed.push(`${endpoint.method} ${endpoint.path}`);
  }
  expect(allowed.sort()).toMatchInlineSnapshot(`
    [
      "DELETE /v1/api-keys/{key_id}",
      "DELETE /v1/budgets/{budget_id}",
      "DELETE /v1/connections/{connection_id}",
      "DELETE /v1/connections/{connection_id}/bindings/{binding_id}",
      "DELETE /v1/organizations/{organization_id}/provider-credentials/{credential_id}",
      "DELETE /v1/organizations/{organization_id}/provider-credentials/{credential_id}/bindings/{binding_id}",
      "GET /v1/api-keys",
      "GET /v1/budgets",
      "GET /v1/connections",
      "GET /v1/connections/{connection_id}",
      "GET /v1/connections/{connection_id}/bindings",
      "GET /v1/deliveries",
      "GET /v1/delivery-endpoints",
      "GET /v1/projects/{project_id}/approval-rules",
      "GET /v1/projects/{project_id}/budget-policy",
      "PATCH /v1/delivery-endpoints/{endpoint_id}",
      "POST /v1/api-keys",
      "POST /v1/api-keys/{key_id}/revoke",
      "POST /v1/api-keys/{key_id}/rotate",
      "POST /v1/connections",
      "POST /v1/connections/{connection_id}/bindings",
      "POST /v1/connections/{connection_id}/repair",
      "POST /v1/connections/{connection_id}/rotate",
      "POST /v1/connections/{connection_id}/test",
      "POST /v1/deliveries/{delivery_id}/replay",
      "POST /v1/delivery-endpoints",
      "POST /v1/delivery-endpoints/{endpoint_id}/disable",
      "POST /v1/organizations/{organization_id}/provider-credentials/{credential_id}/rotate",
      "PUT /v1/budgets",
      "PUT /v1/organizations/{organization_id}/external-actions",
      "PUT /v1/projects/{project_id}/approval-rules",
      "PUT /v1/projects/{project_id}/budget-policy",
    ]
  `);
});
