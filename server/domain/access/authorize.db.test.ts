import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";
import { type Ctx, DEFAULT_SCOPES, type Scope } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { ctxOf, makePerson, makeTenant, makeUnboundKey, system } from "@/testing/tenants";
import { access, EVERYTHING } from ".";

type Tenant = Awaited<ReturnType<typeof makeTenant>>;
let mine: Tenant;
let other: Tenant;
beforeAll(async () => {
  [mine, other] = [await makeTenant(), await makeTenant()];
});

async function keyCtx(apiKey: string): Promise<Ctx> {
  const principal = await access.keyPrincipal(apiKey, new Date());
  if (!principal) throw new Error("the key is not good");
  return ctxOf(principal);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error) => error,
  );
  return error instanceof Fault ? `${error.code}: ${error.message}` : String(error);
}

describe("the project of a request", () => {
  test("a bound key works in its own project, whether or not the request names it", async () => {
    const ctx = await keyCtx(mine.apiKey);
    for (const wanted of [undefined, null, "", mine.projectId]) {
      expect(await access.authorize(ctx, "jobs:read", { projectId: wanted })).toMatchObject({
        id: mine.projectId,
        organizationId: mine.organizationId,
        environment: "development",
        environments: ["development", "production"],
      });
    }
  });

  test("a foreign project and an unknown one are the same 403", async () => {
    const unbound = await makeUnboundKey(mine.organizationId);
    const person = await makePerson(mine.organizationId, "owner");
    for (const ctx of [await keyCtx(mine.apiKey), await keyCtx(unbound.apiKey), person.ctx]) {
      const answers = new Set<string>();
      for (const wanted of [other.projectId, newId("project"), "x", "' OR 1=1 --"]) {
        answers.add(await codeOf(access.authorize(ctx, "jobs:read", { projectId: wanted })));
      }
      expect([...answers]).toEqual([
        "AuthorizationFailed: This key or account has no access to that project. Check the project id, or use a key that has access.",
      ]);
    }
  });

  test("an unbound key must name a project of its organization", async () => {
    const ctx = await keyCtx((await makeUnboundKey(mine.organizationId)).apiKey);
    expect((await access.authorize(ctx, "jobs:read", { projectId: mine.projectId })).id).toBe(mine.projectId);
    expect(await codeOf(access.authorize(ctx, "jobs:read", { projectId: undefined }))).toMatch(
      /^PROJECT_REQUIRED/,
    );
  });

  test("a key without the scope is refused", async () => {
    const scoped = await makeTenant({ scopes: ["jobs:read"] });
    const ctx = await keyCtx(scoped.apiKey);
    expect(await codeOf(access.authorize(ctx, "jobs:write", { projectId: null }))).toMatch(
      /^AuthorizationFailed.*jobs:write/,
    );
    expect(() => access.authorize(ctx, "jobs:write", "rows")).toThrow(Fault);
  });

  test("callers of an archived project can read it and stop its work but do nothing else, and strangers see no project", async () => {
    const closed = await makeTenant();
    const stranger = await keyCtx((await makeTenant()).apiKey);
    const own = await keyCtx(closed.apiKey);
    const foreign = await codeOf(access.authorize(stranger, "jobs:read", { projectId: closed.projectId }));
    await pool.query("UPDATE project SET status = 'archived' WHERE id = $1", [closed.projectId]);
    expect((await access.authorize(own, "jobs:read", { projectId: null })).id).toBe(closed.projectId);
    for (const right of SCOPES.filter((scope) => DEFAULT_SCOPES.includes(scope) && !scope.endsWith(":read")))
      expect(await codeOf(access.authorize(own, right, { projectId: null }))).toMatch(
        /^AuthorizationFailed.*archived/,
      );
    expect(await codeOf(access.authorize(stranger, "jobs:read", { projectId: closed.projectId }))).toBe(
      foreign,
    );
    // A caller with the right can always stop work.
    expect((await access.authorize(own, "jobs:cancel", { projectId: closed.projectId })).id).toBe(
      closed.projectId,
    );
    expect(await codeOf(access.authorize(stranger, "jobs:cancel", { projectId: closed.projectId }))).toMatch(
      /^AuthorizationFailed/,
    );
  });

  test("an archived environment can be read and runs nothing, and the other environments of its project go on", async () => {
    const { projectId, organizationId, apiKey } = await makeTenant();
    const own = await keyCtx(apiKey);
    const person = (await makePerson(organizationId, "member")).ctx;
    await pool.query(
      "UPDATE environment SET status = 'archived' WHERE project_id = $1 AND slug = 'development'",
      [projectId],
    );
    expect(await codeOf(access.authorize(own, "capabilities:run", { projectId: null }))).toMatch(
      /development.*archived/,
    );
    expect((await access.authorize(own, "jobs:read", { projectId: null })).environments).toEqual([
      "production",
    ]);
    const environmentOf = async (right: "capabilities:run" | "jobs:read", environment?: string) =>
      (await access.authorize(person, right, { place: { projectId, environment } })).environment;
    // A person who names no environment gets an error; the archived one can still be read.
    expect(await codeOf(environmentOf("capabilities:run"))).toMatch(/development.*archived\. Name another/);
    expect(await environmentOf("capabilities:run", "production")).toBe("production");
    expect(await environmentOf("jobs:read")).toBe("development");
    expect((await access.authorize(person, "capabilities:run", { projectId })).environment).toBe(
      "development",
    );
  });

  test("a repeatable right returns the refusal of an archived project or environment, and throws every other", async () => {
    const { projectId, organizationId, apiKey } = await makeTenant();
    const own = await keyCtx(apiKey);
    const person = (await makePerson(organizationId, "member")).ctx;
    const refusalOf = async (ctx: Ctx, environment?: string) =>
      (await access.authorize(ctx, "jobs:submit", { place: { projectId, environment } })).refusal?.message;
    expect([await refusalOf(own), await refusalOf(person)]).toEqual([undefined, undefined]);
    await pool.query(
      "UPDATE environment SET status = 'archived' WHERE project_id = $1 AND slug = 'development'",
      [projectId],
    );
    expect(await refusalOf(own)).toMatch(/development.*archived.*Use another environment/);
    expect(await refusalOf(person)).toMatch(/development.*archived\. Name another/);
    expect(await refusalOf(person, "development")).toMatch(/no access to that environment/);
    expect(await refusalOf(person, "production")).toBeUndefined();
    expect(await codeOf(refusalOf(own, "production"))).toMatch(/no access to that environment/);
    await pool.query("UPDATE project SET status = 'archived' WHERE id = $1", [projectId]);
    expect(await refusalOf(person, "production")).toMatch(/^This project is archived/);
    expect(await codeOf(refusalOf(person, "nowhere"))).toMatch(/no access to that environment/);
    const { refusal } = await access.authorize(person, "requests:create", { projectId });
    expect(refusal?.message).toMatch(/^This project is archived/);
  });

  test("every key of a project sees its catalog, whatever its scopes", async () => {
    const narrow = await makeTenant({ scopes: ["webhooks:write"] });
    const ctx = await keyCtx(narrow.apiKey);
    expect((await access.authorize(ctx, "catalog:read", { place: {} })).id).toBe(narrow.projectId);
    expect(await codeOf(access.authorize(ctx, "catalog:read", { projectId: mine.projectId }))).toMatch(
      /^AuthorizationFailed/,
    );
  });

  test("a foreign project in a path is NotFound, and a missing scope is AuthorizationFailed", async () => {
    const ctx = await keyCtx(mine.apiKey);
    for (const projectInPath of [other.projectId, newId("project")])
      expect(await codeOf(access.authorize(ctx, "jobs:read", { projectInPath }))).toMatch(
        /^NotFound: There is no such project\./,
      );
    const narrow = await keyCtx((await makeTenant({ scopes: ["webhooks:write"] })).apiKey);
    expect(await codeOf(access.authorize(narrow, "jobs:read", { projectInPath: mine.projectId }))).toMatch(
      /^AuthorizationFailed.*jobs:read/,
    );
  });

  test.each([
    ["viewer", "jobs:read", true],
    ["viewer", "jobs:write", false],
    ["viewer", "approvals:write", false],
    ["member", "capabilities:run", true],
    ["member", "approvals:write", true],
    ["member", "credentials:write", false],
    ["admin", "credentials:write", true],
    ["owner", "jobs:write", true],
  ] as const)("a %s has the right %s: %s", async (role, right: Scope, allowed) => {
    const { ctx } = await makePerson(mine.organizationId, role);
    const code = await codeOf(access.authorize(ctx, right, { projectId: mine.projectId }));
    if (allowed) expect(code).not.toMatch(/^AuthorizationFailed/);
    else expect(code).toMatch(/^AuthorizationFailed/);
    expect(access.authorize(ctx, right, "rows").organizationIds).toEqual(
      allowed ? [mine.organizationId] : [],
    );
  });

  test("an anonymous caller gets AuthenticationFailed for a project", async () => {
    const ctx = ctxOf({ kind: "anonymous", id: "anonymous", address: "::1" });
    expect(await codeOf(access.authorize(ctx, "jobs:read", { projectId: mine.projectId }))).toMatch(
      /^AuthenticationFailed/,
    );
  });
});

test("a read of rows is limited to a bound key's project, an unbound key's organization, and the environment of both; the system reads all", async () => {
  const unbound = await makeUnboundKey(mine.organizationId);
  expect(access.authorize(await keyCtx(mine.apiKey), "jobs:read", "rows")).toEqual({
    organizationIds: [mine.organizationId],
    projectId: mine.projectId,
    environment: "development",
  });
  expect(access.authorize(await keyCtx(unbound.apiKey), "jobs:read", "rows")).toEqual({
    organizationIds: [mine.organizationId],
    projectId: null,
    environment: "development",
  });
  expect(access.authorize(system, "jobs:read", "rows")).toEqual(EVERYTHING);
});

test("a key works in its own environment, a person in those of the project", async () => {
  const { projectId } = mine;
  const environmentOf = async (ctx: Ctx, environment: string) =>
    (await access.authorize(ctx, "jobs:read", { place: { projectId, environment } })).environment;
  const keyed = await keyCtx(mine.apiKey);
  expect(await environmentOf(keyed, "")).toBe("development");
  expect(await environmentOf(keyed, "development")).toBe("development");
  expect(await codeOf(environmentOf(keyed, "production"))).toMatch(/^AuthorizationFailed/);
  const { ctx } = await makePerson(mine.organizationId, "member");
  expect(await environmentOf(ctx, "production")).toBe("production");
  expect(await codeOf(environmentOf(ctx, randomUUID()))).toMatch(/^AuthorizationFailed/);
});
