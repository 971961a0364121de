import { hash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_SCOPES } from "@/server/domain/ctx";
import { createKey, revokeKey } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { HOUR_MS } from "@/server/platform/time/units";
import { signIn } from "@/testing/sessions";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { access, changeAccess, isKeyText, keyPrefix, MOST_STALE_MS, makeKeyText, remembered } from ".";
import { forgetAll, LONGEST_MS, setCurrent, setListening } from "./cache";

let mine: Awaited<ReturnType<typeof makeTenant>>;
beforeAll(async () => {
  mine = await makeTenant();
});

describe("the text of a key", () => {
  test("a key has environment, 43 random characters and a checksum, and never repeats", () => {
    const keys = Array.from({ length: 200 }, () => makeKeyText("development"));
    for (const key of keys) {
      expect(key).toMatch(/^cap_development_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
      expect(isKeyText(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(200);
    expect(keyPrefix(keys[0]!)).toBe(keys[0]!.slice(0, "cap_development_".length + 6));
  });

  test("a changed character, a cut or any other text is detected from the text alone", () => {
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

  test("the text of a key is nowhere in the database", async () => {
    const { rows } = await pool.query("SELECT api_key::text AS text, hash FROM api_key WHERE id = $1", [
      mine.keyId,
    ]);
    const random = mine.apiKey.split("_")[2]!;
    expect(rows[0].text).not.toContain(random.slice(6, 20));
    expect(rows[0].hash).toEqual(hash("sha256", mine.apiKey, "buffer"));
  });
});

describe("the principal of a key", () => {
  test("a valid key identifies its project, environment and scopes", async () => {
    expect(await access.keyPrincipal(mine.apiKey, new Date())).toMatchObject({
      kind: "service_principal",
      id: mine.keyId,
      organizationId: mine.organizationId,
      projectId: mine.projectId,
      environment: "development",
      scopes: new Set(DEFAULT_SCOPES),
    });
  });

  test("an unknown, malformed or expired key identifies no one", async () => {
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

  test("the last use of a key is stored", async () => {
    const at = new Date();
    await access.keyPrincipal(mine.apiKey, at);
    await access.writeUses();
    const { rows } = await pool.query("SELECT last_used_at FROM api_key WHERE id = $1", [mine.keyId]);
    expect(rows[0].last_used_at).toEqual(at);
  });
});

describe("changed rights", () => {
  test("the next request refuses a revoked key, although the process caches callers", async () => {
    const watch = await access.watchChanges();
    try {
      const { apiKey, keyId } = await makeTenant();
      expect(await access.keyPrincipal(apiKey, new Date())).not.toBeNull();
      // An unannounced change stays invisible for a moment, which shows that the cache works.
      await pool.query("UPDATE api_key SET name = 'x', scopes = '{}' WHERE id = $1", [keyId]);
      expect((await access.keyPrincipal(apiKey, new Date()))?.scopes.size).toBeGreaterThan(0);
      // An announced change is visible at once.
      await revokeKey(system, keyId);
      expect(await access.keyPrincipal(apiKey, new Date())).toBeNull();
    } finally {
      await watch.stop();
    }
  });

  test("a cached value is used for one second, or for ten while the process confirms it", async () => {
    let reads = 0;
    let now = 1_000_000; // a whole number, so that sums are exact
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

  test("a value that isKept rejects is read again, evicts nothing, and is read once for concurrent callers", async () => {
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
      await Promise.all([find("known"), find("another"), find("another")]); // these share one query
      expect(reads).toBe(50_003);
      await find("another");
      expect(reads).toBe(50_004);
    } finally {
      setListening(false);
    }
  });

  test("a notice sent before a query on the listening connection arrives before the query's answer", async () => {
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

  test("a change returns while two processes listen, and both are counted", async () => {
    const watches = [await access.watchChanges(), await access.watchChanges()];
    expect(await access.countWebProcesses()).toBeGreaterThanOrEqual(2);
    const { keyId } = await makeTenant();
    await revokeKey(system, keyId);
    for (const watch of watches) await watch.stop();
  });

  test("a change returns although a listening process does not answer, and the revoked key identifies no one", async () => {
    const deaf = await pool.connect();
    await deaf.query("SET application_name = 'capstan-listener'");
    const { keyId, apiKey } = await makeTenant();
    await revokeKey(system, keyId);
    expect(await access.keyPrincipal(apiKey, new Date())).toBeNull();
    deaf.release(true);
  });

  test("a change that fails throws its error and is rolled back", async () => {
    const id = newId("organization");
    const work = changeAccess(async (client) => {
      await client.query("INSERT INTO organization (id, display_name) VALUES ($1, 'x')", [id]);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect((await pool.query("SELECT FROM organization WHERE id = $1", [id])).rowCount).toBe(0);
  });

  test("a session of an older version is not found", async () => {
    const { userId } = await makePerson(mine.organizationId, "member");
    const find = (sessionId: string) => access.sessionPrincipal(sessionId, new Date());
    const old = await signIn(userId);
    expect(await find(old)).toMatchObject({ id: userId, sessionId: old });
    await changeAccess((client) =>
      client.query("UPDATE user_account SET session_version = 2 WHERE id = $1", [userId]),
    );
    expect(await find(old)).toBeNull();
    expect(await find(await signIn(userId))).not.toBeNull();
    expect(await find(newId("session"))).toBeNull();
    expect(await find(userId)).toBeNull();
  });
});

test("more concurrent changes than the pool has connections all end", async () => {
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

describe("the security settings of an organization", () => {
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
    const at = (hours: number) => access.sessionPrincipal(sessionId, new Date(Date.now() + hours * HOUR_MS));
    return { organizationId, home: home.organizationId, at };
  };

  test.each([
    "none",
    false,
    { requireSecondFactor: "no" },
    { sessionHours: 0 },
    { requireSecondFactor: false, sessionHours: "8" },
  ])(
    "a member of an organization with damaged security settings, %j, has no rights in it or as an operator, and keeps those elsewhere",
    async (security) => {
      const { organizationId, home, at } = await memberOf(security);
      const person = await at(0);
      expect([...(person?.closedOrganizations ?? [])]).toEqual([[organizationId, "damaged"]]);
      expect([...(person?.memberships ?? [])]).toEqual([[home, "member"]]);
      expect(person?.isOperator).toBe(false);
    },
  );

  test("an organization whose settings are not an object gives its members no rights", async () => {
    const { organizationId, at } = await memberOf({});
    await pool.query("UPDATE organization SET settings = '[]' WHERE id = $1", [organizationId]);
    expect((await at(0))?.closedOrganizations?.get(organizationId)).toBe("damaged");
  });

  test.each([null, {}, { requireSecondFactor: false }])(
    "the security settings %j require nothing of a session",
    async (security) => {
      const { organizationId, at } = await memberOf(security);
      const person = await at(24);
      expect(person?.memberships.get(organizationId)).toBe("owner");
      expect(person?.isOperator).toBe(true);
    },
  );

  test("a member's session ends after the organization's hours, and a member without the required second factor has no right", async () => {
    const { organizationId, at } = await memberOf({ requireSecondFactor: true, sessionHours: 8 });
    expect((await at(7.9))?.closedOrganizations?.get(organizationId)).toBe("second_factor");
    expect(await at(8.1)).toBeNull();
  });
});
