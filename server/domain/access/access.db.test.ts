import { hash, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { pool, withSystem } from "@/server/db";
import { type Ctx, DEFAULT_SCOPES, SCOPES, type Scope } from "@/server/domain/ctx";
import { createKey, revokeKey } from "@/server/domain/organizations";
import { env } from "@/server/env";
import { Fault } from "@/server/errors";
import { newId } from "@/server/ids";
import { signIn } from "@/testing/sessions";
import { ctxOf, makePerson, makeTenant, makeUnboundKey, system } from "@/testing/tenants";
import {
  access,
  changeAccess,
  EVERYTHING,
  isKeyText,
  keyPrefix,
  MOST_STALE_MS,
  makeKeyText,
  remembered,
} from ".";
import { forgetAll, LONGEST_MS, setCurrent, setListening } from "./cache";

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

describe("the text of a key", () => {
  test("has environment, 43 random characters and a checksum, and never repeats", () => {
    const keys = Array.from({ length: 200 }, () => makeKeyText("development"));
    for (const key of keys) {
      expect(key).toMatch(/^cap_development_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
      expect(isKeyText(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(200);
    expect(keyPrefix(keys[0]!)).toBe(keys[0]!.slice(0, "cap_development_".length + 6));
  });

  test("a changed character, a cut or anything else is told from the text alone", () => {
    const key = makeKeyText("production");
    for (const at of [0, 5, 20, 40, key.length - 1]) {
      const changed = key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
      expect(isKeyText(changed)).toBe(false);
    }
    for (const text of [
      "",
      "cap_",
      key.slice(1),
      `${key} `,
      `${key}a`,
      key.toUpperCase(),
      `caps_${key}`,
      "x".repeat(1e6),
    ]) {
      expect(isKeyText(text)).toBe(false);
    }
  });

  test("is nowhere in the database", async () => {
    const { rows } = await pool.query("SELECT api_key::text AS text, hash FROM api_key WHERE id = $1", [
      mine.keyId,
    ]);
    const random = mine.apiKey.split("_")[2]!;
    expect(rows[0].text).not.toContain(random.slice(6, 20));
    expect(rows[0].hash).toEqual(hash("sha256", mine.apiKey, "buffer"));
  });
});

describe("who a key stands for", () => {
  test("a good key stands for its project, environment and scopes", async () => {
    expect(await access.keyPrincipal(mine.apiKey, new Date())).toMatchObject({
      kind: "service_principal",
      id: mine.keyId,
      organizationId: mine.organizationId,
      projectId: mine.projectId,
      environment: "development",
      scopes: new Set(DEFAULT_SCOPES),
    });
  });

  test("an unknown, a malformed and an expired key stand for nobody", async () => {
    expect(await access.keyPrincipal(makeKeyText("development"), new Date())).toBeNull();
    expect(await access.keyPrincipal("cap_'; DROP TABLE api_key; --", new Date())).toBeNull();
    const key = await createKey(system, {
      name: "short",
      projectId: mine.projectId,
      environment: "development",
      expiresInSeconds: 60,
    });
    const at = (seconds: number) => new Date(Date.parse(key.createdAt) + seconds * 1000);
    expect(await access.keyPrincipal(key.apiKey, at(59))).not.toBeNull();
    expect(await access.keyPrincipal(key.apiKey, at(60))).toBeNull();
  });

  test("its last use is written down", async () => {
    const at = new Date();
    await access.keyPrincipal(mine.apiKey, at);
    await access.writeUses();
    const { rows } = await pool.query("SELECT last_used_at FROM api_key WHERE id = $1", [mine.keyId]);
    expect(rows[0].last_used_at).toEqual(at);
  });
});

describe("rights that change", () => {
  test("a revoked key is refused by the next request, though the process remembers callers", async () => {
    const watch = await access.watchChanges();
    try {
      const { apiKey, keyId } = await makeTenant();
      expect(await access.keyPrincipal(apiKey, new Date())).not.toBeNull();
      // Changed behind our back: remembered for a moment, which shows that the memory works …
      await pool.query("UPDATE api_key SET name = 'x', scopes = '{}' WHERE id = $1", [keyId]);
      expect((await access.keyPrincipal(apiKey, new Date()))?.scopes.size).toBeGreaterThan(0);
      // … and an announced change is never waited for.
      await revokeKey(system, keyId);
      expect(await access.keyPrincipal(apiKey, new Date())).toBeNull();
    } finally {
      await watch.stop();
    }
  });

  test("what is remembered is used for a second, and for ten while the process makes sure of it", async () => {
    let reads = 0;
    let now = 1_000_000; // whole, so that sums of it are exact
    const find = remembered(async () => ++reads, { nowMs: () => now });
    setListening(true);
    try {
      expect([await find("a"), await find("a")]).toEqual([1, 1]);
      now += MOST_STALE_MS;
      expect(await find("a")).toBe(2);
      for (let second = 1; second < LONGEST_MS / MOST_STALE_MS; second++) {
        now += MOST_STALE_MS;
        setCurrent(now - 1);
        expect(await find("a")).toBe(2);
      }
      now += MOST_STALE_MS;
      setCurrent(now);
      expect(await find("a")).toBe(3);
      forgetAll();
      expect(await find("a")).toBe(4);
    } finally {
      setListening(false);
    }
    expect([await find("a"), await find("a")]).toEqual([5, 6]);
  });

  test("what is not worth keeping is asked again, and names that somebody invents crowd out nothing", async () => {
    let reads = 0;
    const find = remembered(
      async (name) => {
        reads++;
        return name === "known" ? name : null;
      },
      { isKept: (value) => value !== null },
    );
    setListening(true);
    try {
      await find("known");
      for (let n = 0; n < 50_001; n++) await find(`invented ${n}`);
      expect(reads).toBe(50_002);
      await Promise.all([find("known"), find("another"), find("another")]); // at one time they share one read
      expect(reads).toBe(50_003);
      await find("another");
      expect(reads).toBe(50_004);
    } finally {
      setListening(false);
    }
  });

  test("what was announced before a question to the listening connection is heard before its answer", async () => {
    const [ear, mouth] = [await pool.connect(), await pool.connect()];
    let heard = 0;
    ear.on("notification", () => heard++);
    await ear.query("LISTEN capstan_test_order");
    for (let announced = 1; announced <= 200; announced++) {
      await mouth.query("NOTIFY capstan_test_order");
      await ear.query("SELECT 1");
      expect(heard).toBe(announced);
    }
    ear.release(true);
    mouth.release();
  });

  test("a change answers only when every listening process has heard of it", async () => {
    const watches = [await access.watchChanges(), await access.watchChanges()];
    expect(await access.countWebProcesses()).toBeGreaterThanOrEqual(2);
    const { keyId } = await makeTenant();
    await revokeKey(system, keyId);
    for (const watch of watches) await watch.stop();
  });

  test("a process that does not answer holds a change up for a second at most", async () => {
    const deaf = await pool.connect();
    await deaf.query("SET application_name = 'capstan-listener'");
    const { keyId, apiKey } = await makeTenant();
    await revokeKey(system, keyId);
    expect(await access.keyPrincipal(apiKey, new Date())).toBeNull();
    deaf.release(true);
  });

  test("a change that fails changes nothing and is not announced", async () => {
    const id = newId("organization");
    const work = changeAccess(async (tx) => {
      await tx.organization.create({ data: { id, displayName: "x" } });
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await withSystem((tx) => tx.organization.findUnique({ where: { id } }))).toBeNull();
  });

  test("a session of an older version is none", async () => {
    const { userId } = await makePerson(mine.organizationId, "member");
    const find = (sessionId: string) => access.sessionPrincipal(sessionId, new Date());
    const old = await signIn(userId);
    expect(await find(old)).toMatchObject({ id: userId, sessionId: old });
    await changeAccess((tx) => tx.user.update({ where: { id: userId }, data: { sessionVersion: 2 } }));
    expect(await find(old)).toBeNull();
    expect(await find(await signIn(userId))).not.toBeNull();
    expect(await find(newId("session"))).toBeNull();
    expect(await find(userId)).toBeNull();
  });
});

describe("the project of a request", () => {
  test("a bound key needs no project and has its own", async () => {
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

  test("somebody else's project and none at all are the same 403", async () => {
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

  test("an unbound key names one of its organization's projects", async () => {
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

  test("an archived project is read by its own and does nothing more; to strangers it is as none", async () => {
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
    // What stops work is refused to nobody who has the right.
    expect((await access.authorize(own, "jobs:cancel", { projectId: closed.projectId })).id).toBe(
      closed.projectId,
    );
    expect(await codeOf(access.authorize(stranger, "jobs:cancel", { projectId: closed.projectId }))).toMatch(
      /^AuthorizationFailed/,
    );
  });

  test("an archived environment does nothing more, the others of its project go on", async () => {
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
    const project = await access.authorize(person, "capabilities:run", { projectId });
    // A person who names none is told; what is archived is still read.
    expect(() => access.environment(person, project, null)).toThrow(/development.*archived\. Name another/);
    expect(access.environment(person, project, "production")).toBe("production");
    const reading = await access.authorize(person, "jobs:read", { projectId });
    expect(access.environment(person, reading, null)).toBe("development");
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
  ] as const)("a %s and %s: %s", async (role, right: Scope, allowed) => {
    const { ctx } = await makePerson(mine.organizationId, role);
    const code = await codeOf(access.authorize(ctx, right, { projectId: mine.projectId }));
    if (allowed) expect(code).not.toMatch(/^AuthorizationFailed/);
    else expect(code).toMatch(/^AuthorizationFailed/);
    expect(access.authorize(ctx, right, "rows").organizationIds).toEqual(
      allowed ? [mine.organizationId] : [],
    );
  });

  test("nobody in particular is asked to sign in", async () => {
    const ctx = ctxOf({ kind: "anonymous", id: "anonymous", address: "::1" });
    expect(await codeOf(access.authorize(ctx, "jobs:read", { projectId: mine.projectId }))).toMatch(
      /^AuthenticationFailed/,
    );
  });
});

test("a read by id sees a bound key's project, an unbound key's organization, of both their environment, and all for the system", async () => {
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
  const keyed = await keyCtx(mine.apiKey);
  const project = await access.authorize(keyed, "jobs:read", { projectId: null });
  expect(access.environment(keyed, project, "")).toBe("development");
  expect(access.environment(keyed, project, "development")).toBe("development");
  expect(() => access.environment(keyed, project, "production")).toThrow(Fault);
  const { ctx } = await makePerson(mine.organizationId, "member");
  expect(access.environment(ctx, project, "production")).toBe("production");
  expect(() => access.environment(ctx, project, randomUUID())).toThrow(Fault);
});

test("more changes at once than the pool has connections all come to an end", async () => {
  const { organizationId, projectId } = await makeTenant();
  const keys = await Promise.all(
    Array.from({ length: 3 * env.DATABASE_POOL }, () =>
      createKey(system, { name: "k", projectId, environment: "development" }),
    ),
  );
  await Promise.all(keys.map(({ keyId }) => revokeKey(system, keyId)));
  const { rows } = await pool.query(
    "SELECT FROM api_key WHERE organization_id = $1 AND name = 'k' AND revoked_at IS NULL",
    [organizationId],
  );
  expect(rows).toEqual([]);
});

describe("what an organization asks of sessions", () => {
  const memberOf = async (security: unknown) => {
    const [{ organizationId }, home] = [await makeTenant(), await makeTenant()];
    const { userId } = await makePerson(organizationId, "owner");
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'member')", [
      userId,
      home.organizationId,
    ]);
    await pool.query("UPDATE user_account SET is_operator = true WHERE id = $1", [userId]);
    await pool.query("UPDATE organization SET settings = settings || $2::jsonb WHERE id = $1", [
      organizationId,
      JSON.stringify({ security }),
    ]);
    const sessionId = await signIn(userId);
    const at = (hours: number) =>
      access.sessionPrincipal(sessionId, new Date(Date.now() + hours * 3_600_000));
    return { organizationId, home: home.organizationId, at };
  };

  test.each([
    "none",
    false,
    { requireSecondFactor: "no" },
    { sessionHours: 0 },
    { requireSecondFactor: false, sessionHours: "8" },
  ])(
    "damaged settings, %j, give rights to nobody there, and leave other organizations as they are",
    async (security) => {
      const { organizationId, home, at } = await memberOf(security);
      const person = await at(0);
      expect([...(person?.closedOrganizations ?? [])]).toEqual([[organizationId, "damaged"]]);
      expect([...(person?.memberships ?? [])]).toEqual([[home, "member"]]);
      expect(person?.isOperator).toBe(false);
    },
  );

  test("settings that are no object give rights to nobody", async () => {
    const { organizationId, at } = await memberOf({});
    await pool.query("UPDATE organization SET settings = '[]' WHERE id = $1", [organizationId]);
    expect((await at(0))?.closedOrganizations?.get(organizationId)).toBe("damaged");
  });

  test.each([null, {}, { requireSecondFactor: false }])("%j asks for nothing", async (security) => {
    const { organizationId, at } = await memberOf(security);
    const person = await at(24);
    expect(person?.memberships.get(organizationId)).toBe("owner");
    expect(person?.isOperator).toBe(true);
  });

  test("a session of its members ends after its hours, and who lacks the second factor it asks for has no right", async () => {
    const { organizationId, at } = await memberOf({ requireSecondFactor: true, sessionHours: 8 });
    expect((await at(7.9))?.closedOrganizations?.get(organizationId)).toBe("second_factor");
    expect(await at(8.1)).toBeNull();
  });
});
