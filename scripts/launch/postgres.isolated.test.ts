import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Postgres, startPostgres, stopPostgres } from "./postgres";

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "capstan-postgres-"));
  chmodSync(dataDir, 0o711);
});
afterEach(() => stopPostgres(dataDir));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const start = ({ disposable = true } = {}) =>
  startPostgres({ dataDir, logFile: join(dataDir, "postgres.log"), disposable });

async function query(server: Postgres, text: string) {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("a stopped server comes back with its data, on its port, with its password", {
  tags: "long",
}, async () => {
  const first = await start();
  await query(first, "CREATE TABLE stopped AS SELECT 42 AS answer");
  await first.stop();
  await first.exited;
  const second = await start();
  expect(second.url).toBe(first.url);
  expect(await query(second, "SELECT answer FROM stopped")).toEqual([{ answer: 42 }]);
});

test("a killed server comes back with its committed data", async () => {
  const first = await start({ disposable: false }); // as installations run it
  await query(first, "CREATE TABLE kept AS SELECT 42 AS answer");
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  const second = await start();
  expect(second.pid).not.toBe(first.pid);
  expect(await query(second, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("a server that still runs is adopted, not started twice", async () => {
  const first = await start();
  const second = await start();
  expect(second).toMatchObject({ adopted: true, pid: first.pid, url: first.url });
  await second.stop();
  await first.exited;
});

test.skipIf(process.platform === "win32")(
  "a server is reached through a socket file, and on TCP as well",
  async () => {
    const server = await start();
    const text = "SELECT inet_server_addr()::text AS address";
    expect(await query(server, text)).toEqual([{ address: null }]);
    const onTcp = { ...server, url: server.url.replace(/\?.*$/, "") };
    expect(await query(onTcp, text)).toEqual([{ address: "127.0.0.1/32" }]);
  },
);

test("our role is no superuser and bypasses no row-level security, and the password file is for its owner only", async () => {
  const server = await start();
  const [role] = await query(
    server,
    "SELECT current_user AS name, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = current_user",
  );
  expect(role).toEqual({ name: "capstan", rolsuper: false, rolbypassrls: false, rolcreaterole: false });
  expect(statSync(join(dataDir, "postgres.password")).mode & 0o777).toBe(0o600);
  expect(server.url).toContain("@127.0.0.1:");
});
