import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:net";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { plantCanary } from "@/server/domain/vault";
import { forgetVaultKeys, sealSecret } from "@/server/platform/crypto/vault";
import { openDatabasePool, pool } from "@/server/platform/db";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { checkStart, examine } from "@/server/start-up";
import { setSettings } from "@/testing/settings";

// The database is this file's own: what is refused depends on every row.

const refusals = async (from = pool) => (await examine(from)).flatMap(({ refused }) => refused ?? []);

function withKey(key: string): void {
  setSettings({ CAPSTAN_VAULT_KEY: key });
  forgetVaultKeys();
}

test("an installation that can run has every check done and none refused", async () => {
  expect((await examine(pool)).map(({ check, refused }) => [check, refused])).toEqual([
    ["settings", null],
    ["database", null],
    ["role", null],
    ["schema", null],
    ["vault key", null],
    ["held work", null],
    ["artifact store", null],
  ]);
  await expect(checkStart(pool)).resolves.toBeUndefined();
});

test("an installation that was restored says what it holds, and how to let it go on", async () => {
  await pool.query("INSERT INTO restore_hold (kind, before) VALUES ('mails', now()), ('jobs', now())");
  try {
    expect((await examine(pool)).find(({ check }) => check === "held work")?.warnings).toEqual([
      expect.stringMatching(/unfinished work \(jobs, mails\)\. .*npm run admin -- restore release$/),
    ]);
  } finally {
    await pool.query("DELETE FROM restore_hold");
  }
});

const at = (change: Partial<Pick<URL, "port" | "pathname" | "username">>) =>
  new pg.Pool({
    connectionString: Object.assign(new URL(env.DATABASE_URL ?? ""), { search: "" }, change).href,
  });
test.each([
  [{ port: "1" }, "DATABASE_URL: the database does not respond (ECONNREFUSED). Start it"],
  [{ pathname: "/nowhere" }, "DATABASE_URL: the server has no such database. Create it"],
  [{ username: "stranger" }, "DATABASE_URL: the server refuses this role or its password. Correct them"],
])("a database at %j is refused with a sentence that names DATABASE_URL", async (change, sentence) => {
  const from = at(change);
  expect(await refusals(from)).toEqual([expect.stringContaining(sentence)]);
  await expect(checkStart(from)).rejects.toBeInstanceOf(Refusal);
  await from.end();
});

const OTHER_ZONES = [
  ["RESET TimeZone", process.env.CAPSTAN_TEST_ZONE ?? ""],
  ["SET TimeZone = 'Europe/London'", "Europe/London"],
] as const;
test.each(OTHER_ZONES)(
  "a role after %s is refused with the statement that sets UTC",
  async (change, zone) => {
    const { rows } = await pool.query("SELECT current_database() AS name");
    await pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${rows[0].name} ${change}`);
    const from = openDatabasePool(1);
    const [refusal = ""] = await refusals(from);
    expect(refusal).toContain(
      `DATABASE_URL: times on this connection are in the zone ${zone} instead of UTC. A pooler such as PgBouncer keeps the former zone until its RECONNECT.`,
    );
    await expect(checkStart(from)).rejects.toBeInstanceOf(Refusal);
    const whileRunning = await from.query("SELECT").catch((error: unknown) => error);
    expect(isDatabaseOutage(whileRunning)).toBe(true);
    await pool.query(/run: (ALTER ROLE capstan IN DATABASE .*;)$/.exec(refusal)?.[1] ?? "");
    expect(await refusals(from)).toEqual([]);
    await from.end();
  },
);

test.each(["UTC", "Etc/UTC", "GMT", "Zulu"])("a role in the zone %s is in UTC", async (zone) => {
  const { rows } = await pool.query("SELECT current_database() AS name");
  await pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${rows[0].name} SET TimeZone = '${zone}'`);
  const from = openDatabasePool(1);
  expect(await refusals(from)).toEqual([]);
  await from.end();
  await pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${rows[0].name} SET TimeZone = 'UTC'`);
});

test("a database that accepts a connection and says nothing is refused after the deadline", {
  tags: "long",
}, async () => {
  const silent = createServer();
  const port = await listening(silent);
  const from = at({ port: String(port) });
  expect(await refusals(from)).toEqual([expect.stringContaining("does not respond (no answer within")]);
  silent.close();
});

test("a misspelt setting of a provider is refused", async () => {
  vi.stubEnv("ANTHROPIC_API_KYE", "key");
  expect(await refusals()).toEqual([expect.stringContaining("did you mean ANTHROPIC_API_KEY?")]);
  vi.unstubAllEnvs();
});

test("a HOST that is not an address of this machine is refused", async () => {
  setSettings({ HOST: "192.0.2.1" });
  await expect(checkStart(pool, 3999)).rejects.toThrow("HOST: 192.0.2.1 is not an address of this machine");
});

test("a role that may not use the tables is refused", async () => {
  await pool.query("REVOKE UPDATE ON receipt FROM CURRENT_USER");
  expect(await refusals()).toEqual([
    expect.stringMatching(/^DATABASE_URL: this role may not use the tables/),
  ]);
  await pool.query("GRANT UPDATE ON receipt TO CURRENT_USER");
  expect(await refusals()).toEqual([]);
});

test("a database of an earlier schema is refused and left as it is", async () => {
  const { rows } = await pool.query(
    `UPDATE _prisma_migrations SET rolled_back_at = now()
     WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations) RETURNING id`,
  );
  expect(await refusals()).toEqual([expect.stringMatching(/lacks 1 of the migrations.*migrate apply/)]);
  const after = await pool.query("SELECT rolled_back_at FROM _prisma_migrations WHERE id = $1", [rows[0].id]);
  expect(after.rows[0].rolled_back_at).not.toBeNull();
  await pool.query("UPDATE _prisma_migrations SET rolled_back_at = NULL WHERE id = $1", [rows[0].id]);
  expect(await refusals()).toEqual([]);
});

const keys = () => [0, 1].map(() => randomBytes(32).toString("base64")) as [string, string];
const foreignKey = expect.stringMatching(/^CAPSTAN_VAULT_KEY: the database was encrypted with vault key/);

test("the first start decides the vault key of an installation, before anything else is sealed", async () => {
  const [mine, other] = keys();
  await pool.query("DELETE FROM vault_canary");
  withKey(mine);
  await checkStart(pool);
  await checkStart(pool);
  withKey(other);
  expect(await refusals()).toEqual([foreignKey]);
  await expect(checkStart(pool)).rejects.toThrow("Set the key that belongs to this database");
  setSettings({ CAPSTAN_VAULT_OTHER_KEYS: [mine] });
  forgetVaultKeys();
  await expect(checkStart(pool)).resolves.toBeUndefined();
});

test("of two processes that seal the canary with different vault keys, the second is refused", async () => {
  const [mine, other] = keys();
  await pool.query("DELETE FROM vault_canary");
  withKey(mine);
  await plantCanary(pool);
  withKey(other);
  await expect(plantCanary(pool)).rejects.toThrow("CAPSTAN_VAULT_KEY: the database was encrypted with");
});

test("where there is no canary yet, the newest sealed value decides before one is made", async () => {
  const [mine, other] = keys();
  await pool.query("DELETE FROM vault_canary");
  withKey(mine);
  const id = newId("request");
  await pool.query(
    "INSERT INTO signing_key (id, public_key, private_key, created_at) VALUES ($1, '{}', $2, now())",
    [id, sealSecret("private", `signing_key|${id}|private_key`)],
  );
  withKey(other);
  await expect(checkStart(pool)).rejects.toThrow("CAPSTAN_VAULT_KEY: the database was encrypted with");
  expect((await pool.query("SELECT FROM vault_canary")).rowCount).toBe(0);
  withKey(mine);
  await checkStart(pool);
  expect((await pool.query("SELECT FROM vault_canary")).rowCount).toBe(1);
  await pool.query("DELETE FROM signing_key WHERE id = $1", [id]);
  await pool.query("DELETE FROM vault_canary");
});

test("a port that another program has is refused", async () => {
  const other = createServer();
  const port = await listening(other);
  try {
    await expect(checkStart(pool, port)).rejects.toThrow(`Port ${port} on ${env.HOST} is in use`);
  } finally {
    other.close();
  }
});

function listening(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, env.HOST, () => {
      const address = server.address();
      resolve(address && typeof address === "object" ? address.port : 0);
    }),
  );
}
