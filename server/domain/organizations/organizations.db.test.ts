import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { CreateApiKey, CreateUser } from "@/server/contract/organizations";
import { access } from "@/server/domain/access";
import { type Ctx, DEFAULT_SCOPES } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import * as organizations from ".";

type Tenant = Awaited<ReturnType<typeof makeTenant>>;
let mine: Tenant;
let other: Tenant;
let people: Record<"owner" | "admin" | "member" | "viewer", Ctx>;
beforeAll(async () => {
  [mine, other] = [await makeTenant(), await makeTenant()];
  const ctx = async (role: keyof typeof people) => (await makePerson(mine.organizationId, role)).ctx;
  people = {
    owner: await ctx("owner"),
    admin: await ctx("admin"),
    member: await ctx("member"),
    viewer: await ctx("viewer"),
  };
});

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

const userOf = (organizationId: string, role: "owner" | "member") =>
  CreateUser.parse({
    email: `${randomUUID()}@example.com`,
    organizationId,
    role,
    password: "long enough to pass",
  });
const keyOf = (projectId: string, scopes?: string[]) => CreateApiKey.parse({ name: "k", projectId, scopes });

describe("permissions", () => {
  test("only an operator creates organizations and operators", async () => {
    for (const ctx of Object.values(people)) {
      expect(await codeOf(organizations.createOrganization(ctx, { name: "x" }))).toBe("AuthorizationFailed");
      expect(await codeOf(organizations.grantOperator(ctx, { email: "x@example.com" }))).toBe(
        "AuthorizationFailed",
      );
      expect(await codeOf(organizations.listOperators(ctx))).toBe("AuthorizationFailed");
    }
  });

  test("admins create projects and people, members create keys, viewers create nothing; only an owner creates owners", {
    tags: "long",
  }, async () => {
    const codes: Record<string, string[]> = {};
    for (const [role, ctx] of Object.entries(people)) {
      codes[role] = [
        await codeOf(organizations.createProject(ctx, { name: "p", organizationId: mine.organizationId })),
        await codeOf(organizations.createUser(ctx, userOf(mine.organizationId, "member"))),
        await codeOf(organizations.createUser(ctx, userOf(mine.organizationId, "owner"))),
        await codeOf(organizations.createKey(ctx, keyOf(mine.projectId))),
      ];
    }
    const [no, yes] = ["AuthorizationFailed", "done"];
    expect(codes).toEqual({
      owner: [yes, yes, yes, yes],
      admin: [yes, yes, no, yes],
      member: [no, no, no, yes],
      viewer: [no, no, no, no],
    });
  });

  test("no one grants a key a scope that they lack", async () => {
    const wide = keyOf(mine.projectId, ["jobs:read", "credentials:write"]);
    expect(await codeOf(organizations.createKey(people.member, wide))).toBe("AuthorizationFailed");
    expect((await organizations.createKey(people.admin, wide)).scopes).toEqual([
      "jobs:read",
      "credentials:write",
    ]);
  });

  test("an id of another organization and an unknown id give the same answer", async () => {
    const ctx = people.owner;
    const tries: ((project: string, key: string, organization: string) => Promise<unknown>)[] = [
      (project) => organizations.createKey(ctx, keyOf(project)),
      (_project, key) => organizations.revokeKey(ctx, key),
      (_project, _key, organizationId) => organizations.createProject(ctx, { name: "p", organizationId }),
      (_project, _key, organizationId) => organizations.createUser(ctx, userOf(organizationId, "member")),
    ];
    for (const attempt of tries) {
      const [foreign, missing] = await Promise.allSettled([
        attempt(other.projectId, other.keyId, other.organizationId),
        attempt(newId("project"), newId("key"), newId("organization")),
      ]);
      expect(foreign.status).toBe("rejected");
      expect(foreign).toEqual(missing);
    }
    const unbound = CreateApiKey.parse({ name: "k", organizationId: other.organizationId });
    expect(await codeOf(organizations.createKey(ctx, unbound))).toBe("NotFound");
  });

  test("lists show only the caller's own organizations", async () => {
    const ctx = people.viewer;
    expect((await organizations.listOrganizations(ctx)).map((each) => each.organizationId)).toEqual([
      mine.organizationId,
    ]);
    expect(new Set((await organizations.listProjects(ctx)).map((each) => each.organizationId))).toEqual(
      new Set([mine.organizationId]),
    );
    expect(await organizations.listProjects(ctx, other.organizationId)).toEqual([]);
    expect(await organizations.listUsers(ctx, other.organizationId)).toEqual([]);
    expect(await organizations.listKeys(ctx, { projectId: other.projectId, includeRevoked: true })).toEqual(
      [],
    );
    const keys = await organizations.listKeys(ctx, { includeRevoked: false });
    expect(keys.map((key) => key.keyId)).toContain(mine.keyId);
    expect(JSON.stringify(keys)).not.toContain(mine.apiKey.slice(24));
    expect((await organizations.listOrganizations(system)).length).toBeGreaterThan(1);
  });

  test("a person in two organizations appears in each with only that membership", async () => {
    const shared = { ...userOf(mine.organizationId, "member") };
    await organizations.createUser(system, shared);
    await organizations.createUser(system, { ...shared, organizationId: other.organizationId });
    const seen = (await organizations.listUsers(people.viewer)).find(
      (person) => person.email === shared.email,
    );
    expect(seen?.memberships).toEqual([{ organizationId: mine.organizationId, role: "member" }]);
  });

  test("an operator adds an existing account to an organization, and an admin cannot", async () => {
    const stranger = { ...userOf(other.organizationId, "member"), email: `${randomUUID()}@capstan.test` };
    await organizations.createUser(system, stranger);
    const asked = { ...stranger, organizationId: mine.organizationId };
    for (const ctx of [people.admin, people.owner])
      await expect(organizations.createUser(ctx, asked)).rejects.toMatchObject({
        code: "InvalidInput",
        message: expect.stringContaining("Send them an invitation"),
      });
    const { organizationId } = mine;
    expect(await organizations.createUser(system, asked)).toMatchObject({ organizationId });
  });
});

describe("API keys", () => {
  test("a key carries the default scopes, its creator and its end", async () => {
    const input = CreateApiKey.parse({ name: "k", projectId: mine.projectId, expiresInSeconds: 60 });
    const key = await organizations.createKey(people.member, input);
    expect(key.scopes).toEqual(DEFAULT_SCOPES);
    expect(key.createdBy).toBe(people.member.principal.id);
    expect(Date.parse(key.expiresAt ?? "") - Date.parse(key.createdAt)).toBe(60_000);
    expect(key.apiKey.startsWith(`${key.prefix}`)).toBe(true);
  });

  test("a key belongs to an environment that the project has", async () => {
    const input = { ...keyOf(mine.projectId), environment: "nowhere" };
    expect(await codeOf(organizations.createKey(people.member, input))).toBe("InvalidInput");
    const production = await organizations.createKey(people.member, {
      ...keyOf(mine.projectId),
      environment: "production",
    });
    expect(production.apiKey).toMatch(/^cap_production_/);
    expect((await access.keyPrincipal(production.apiKey, new Date()))?.environment).toBe("production");
  });

  test("a key is bound to a project or open to an organization, never both or neither", () => {
    expect(CreateApiKey.safeParse({ name: "k" }).success).toBe(false);
    expect(CreateApiKey.safeParse({ name: "k", projectId: "p", organizationId: "o" }).success).toBe(false);
  });

  test("a revoked key stays revoked and leaves the list", async () => {
    const { keyId } = await organizations.createKey(people.member, keyOf(mine.projectId));
    const first = await organizations.revokeKey(people.member, keyId);
    expect(await organizations.revokeKey(people.member, keyId)).toEqual(first);
    const ids = async (includeRevoked: boolean) =>
      (await organizations.listKeys(people.member, { includeRevoked })).map((key) => key.keyId);
    expect(await ids(false)).not.toContain(keyId);
    expect(await ids(true)).toContain(keyId);
  });
});

test("projects with the same name get different slugs", async () => {
  const make = () =>
    organizations.createProject(system, { name: "Ünï Code!", organizationId: mine.organizationId });
  expect([(await make()).slug, (await make()).slug]).toEqual(["u-ni-code", "u-ni-code-2"]);
});

describe("sign-in", () => {
  const address = () => `address-${randomUUID()}`;
  const at = (seconds: number) => ({ now: () => new Date(Date.UTC(2030, 0, 1) + seconds * 1000) });

  test("the right password opens the account, whatever the case of the address", async () => {
    const { userId, email, password } = await makePerson(mine.organizationId, "member");
    const signedIn = await organizations.verifySignIn(system, {
      email: ` ${email.toUpperCase()} `,
      password,
      address: address(),
    });
    expect(signedIn).toMatchObject({ userId, email, sessionVersion: 1 });
  });

  test("a wrong password, an unknown address and an account without a password get the same answer", async () => {
    const { email, userId } = await makePerson(mine.organizationId, "member");
    const wrong = { refused: "wrong", retryAfterSeconds: null };
    expect(await organizations.verifySignIn(system, { email, password: "nope", address: address() })).toEqual(
      wrong,
    );
    expect(
      await organizations.verifySignIn(system, {
        email: `${randomUUID()}@example.com`,
        password: "nope",
        address: address(),
      }),
    ).toEqual(wrong);
    await pool.query("UPDATE user_account SET password_hash = NULL WHERE id = $1", [userId]);
    expect(await organizations.verifySignIn(system, { email, password: "", address: address() })).toEqual(
      wrong,
    );
  });

  test("after ten failures of an account even the right password is refused for fifteen minutes", {
    tags: "long",
  }, async () => {
    const { email, password } = await makePerson(mine.organizationId, "member");
    for (let n = 0; n < 10; n++) {
      expect(
        await organizations.verifySignIn(at(n), { email, password: "nope", address: address() }),
      ).toMatchObject({ refused: "wrong" });
    }
    expect(await organizations.verifySignIn(at(100), { email, password, address: address() })).toEqual({
      refused: "too_many",
      retryAfterSeconds: 800,
    });
    expect(await organizations.verifySignIn(at(899), { email, password, address: address() })).toMatchObject({
      refused: "too_many",
    });
    expect(await organizations.verifySignIn(at(901), { email, password, address: address() })).toMatchObject({
      email,
    });
  });

  test("ten failures from an address block it for every account, and a success does not clear them", {
    tags: "long",
  }, async () => {
    const from = address();
    const { email, password } = await makePerson(mine.organizationId, "member");
    for (let n = 0; n < 10; n++) {
      if (n === 5)
        expect(await organizations.verifySignIn(at(n), { email, password, address: from })).toMatchObject({
          email,
        });
      await organizations.verifySignIn(at(n), {
        email: `${randomUUID()}@example.com`,
        password: "x",
        address: from,
      });
    }
    expect(await organizations.verifySignIn(at(20), { email, password, address: from })).toMatchObject({
      refused: "too_many",
    });
    expect(await organizations.verifySignIn(at(20), { email, password, address: address() })).toMatchObject({
      email,
    });
  });

  test("failures from an unknown network block their own account and no other", {
    tags: "long",
  }, async () => {
    const guessed = await makePerson(mine.organizationId, "member");
    const other = await makePerson(mine.organizationId, "member");
    const tryAt = (n: number, email: string, password: string) =>
      organizations.verifySignIn(at(n), { email, password, address: "" });
    for (let n = 0; n < 10; n++)
      expect(await tryAt(n, guessed.email, "x")).toMatchObject({ refused: "wrong" });
    expect(await tryAt(20, guessed.email, guessed.password)).toMatchObject({ refused: "too_many" });
    expect(await tryAt(20, other.email, other.password)).toMatchObject({ email: other.email });
  });

  test("concurrent guesses cannot pass the limit together", async () => {
    const { email } = await makePerson(mine.organizationId, "member");
    const guesses = Array.from({ length: 40 }, () =>
      organizations.verifySignIn(system, { email, password: "x", address: address() }),
    );
    const judged = (await Promise.all(guesses)).filter(
      (each) => "refused" in each && each.refused === "wrong",
    );
    expect(judged.length).toBeLessThanOrEqual(10);
  });

  test("old failures are deleted", async () => {
    await pool.query("INSERT INTO sign_in_failure (subject, at) VALUES ('old', '2001-01-01')");
    await organizations.pruneSignInFailures(new Date());
    expect((await pool.query("SELECT FROM sign_in_failure WHERE subject = 'old'")).rowCount).toBe(0);
  });
});
