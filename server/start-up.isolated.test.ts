import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { pool } from "@/server/db";
import { type Env, env } from "@/server/env";
import { newId } from "@/server/ids";
import { Refusal } from "@/server/refusal";
import { checkStart, examine } from "@/server/start-up";
import { forgetVaultKeys, sealSecret } from "@/server/vault";
import { setSettings } from "@/testing/settings";

// The database is this file's own: what is refused depends on every row of it.

const refusals = async () => (await examine()).flatMap(({ refused }) => refused ?? []);

function withKey(key: string): void {
  setSettings({ CAPSTAN_VAULT_KEY: key });
  forgetVaultKeys();
}

test("an installation that can run has every check done and none refused", async () => {
  expect((await examine()).map(({ check, refused }) => [check, refused])).toEqual([
    ["settings", null],
    ["database", null],
    ["schema", null],
    ["role", null],
    ["vault key", null],
    ["artifact store", null],
  ]);
  await expect(checkStart()).resolves.toBeUndefined();
});

const at = (change: Partial<Pick<URL, "port" | "pathname" | "username">>): Partial<Env> => ({
  DATABASE_URL: Object.assign(new URL(env.DATABASE_URL ?? ""), change).href,
});
test.each<[string, () => Partial<Env>, string]>([
  ["a database that is down", () => at({ port: "1" }), "DATABASE_URL: the database does not respond"],
  [
    "a database that is not there",
    () => at({ pathname: "/nowhere" }),
    "DATABASE_URL: the server has no such database",
  ],
  [
    "a role that is not there",
    () => at({ username: "nobody_here" }),
    "DATABASE_URL: the server refuses this role",
  ],
  ["a bucket that is missing", () => ({ ARTIFACT_STORE: "s3" }), "S3_BUCKET is required"],
])("%s is refused by its setting, without a stack", async (_name, changes, sentence) => {
  setSettings(changes());
  expect((await refusals())[0]).toContain(sentence);
  await expect(checkStart()).rejects.toBeInstanceOf(Refusal);
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

test("a vault key that is not the database's is refused, before anything is sealed under it", async () => {
  const mine = randomBytes(32).toString("base64");
  withKey(mine);
  const id = newId("request");
  await pool.query(
    "INSERT INTO signing_key (id, public_key, private_key, created_at) VALUES ($1, '{}', $2, now())",
    [id, sealSecret("private", `signing_key|${id}|private_key`)],
  );
  expect(await refusals()).toEqual([]);
  withKey(randomBytes(32).toString("base64"));
  expect(await refusals()).toEqual([
    expect.stringMatching(/^CAPSTAN_VAULT_KEY: the database was encrypted with/),
  ]);
  withKey(mine);
  await pool.query("DELETE FROM signing_key WHERE id = $1", [id]);
});

test("a port that another program has is refused", async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) =>
    other.listen(0, env.HOST, () => {
      const address = other.address();
      resolve(address && typeof address === "object" ? address.port : 0);
    }),
  );
  try {
    await expect(checkStart(port)).rejects.toThrow(`Port ${port} on ${env.HOST} is in use`);
  } finally {
    other.close();
  }
});
