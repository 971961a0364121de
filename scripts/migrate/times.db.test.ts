import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "@/inngest/test/database";
import { correctedTimes } from "@/server/corrected-times";
import { PrismaClient } from "@/server/generated/prisma/client";
import { newId, PREFIXES, ulidAt } from "@/server/platform/ids";
import { applyMigrations } from "./migrations";

/*
 * A database as version 0.2.0 left it whose connections were in the zone of New York: five hours behind UTC in February, four
 * in May. Prisma writes into it as that version did.
 */
const MIGRATION = "20261128010000_times_in_utc";
const ZONE = "America/New_York";
const OPTIONS = "-c capstan.project_id=*";
const [made, end, revoked] = ["2026-02-01T12:00:00.123Z", "2026-05-02T12:00:00.123Z", "2026-02-03T01:00:00Z"];
/** Two o'clock does not exist in New York on this day. */
const inGap = "2026-03-08T02:30:00Z";

let database: TestDatabase;
let old: pg.Client;
let lines: string[];
const ids = new Map<string, string>();

const idOf = (kind: keyof typeof PREFIXES, at = made, digit = "0") =>
  `${PREFIXES[kind]}_${ulidAt(Date.parse(at)).slice(0, -1)}${digit}`;
const organizationId = idOf("organization");
const userId = idOf("user");
const at = new Date(made);

beforeAll(async () => {
  const before = mkdtempSync(join(tmpdir(), "capstan-before-"));
  for (const name of readdirSync("prisma/migrations"))
    if (name < MIGRATION && name !== "migration_lock.toml")
      cpSync(join("prisma/migrations", name), join(before, name), { recursive: true });
  database = await createTestDatabase(before);
  rmSync(before, { recursive: true });
  old = new pg.Client({ connectionString: database.url, options: OPTIONS });
  await old.connect();
  const { rows } = await old.query("SELECT current_database() AS name, current_setting('TimeZone') AS zone");
  expect(rows[0].zone).toBe(process.env.CAPSTAN_TEST_ZONE);
  await old.query(`ALTER ROLE CURRENT_USER IN DATABASE ${rows[0].name} SET TimeZone = '${ZONE}'`);
  await fill(
    new PrismaClient({ adapter: new PrismaPg({ connectionString: database.url, options: OPTIONS }) }),
  );
  lines = [];
  await applyMigrations(database.url, undefined, undefined, (line) => lines.push(line));
});
afterAll(async () => {
  await old.end();
  await database.close();
});

async function fill(prisma: PrismaClient) {
  await prisma.organization.create({ data: { id: organizationId, displayName: "Old", createdAt: at } });
  await prisma.user.create({
    data: { id: userId, email: "ada@example.com", displayName: "Ada", createdAt: at, foundedAt: at },
  });
  await prisma.membership.create({ data: { userId, organizationId, role: "owner", createdAt: at } });
  await prisma.project.create({
    data: {
      ...{ id: idOf("project"), organizationId, displayName: "Old", slug: "old", createdAt: at },
      environments: { create: { id: newId("environment"), slug: "development", displayName: "Development" } },
    },
  });
  const key = { organizationId, prefix: "cap_", scopes: [], createdAt: at };
  const keys = {
    lasting: {},
    ending: { expiresAt: new Date(end) },
    revoked: { revokedAt: new Date(revoked) },
    managing: { expiresAt: new Date(end), management: { projectIds: [], runScopes: [], hosts: [] } },
    inGap: { createdAt: new Date(inGap) },
  };
  for (const [index, [name, more]] of Object.entries(keys).entries()) {
    const id = idOf("key", name === "inGap" ? inGap : made, String(index));
    ids.set(name, id);
    await prisma.apiKey.create({
      data: { ...key, id, name, hash: Buffer.alloc(32, index), ...more },
    });
  }
  const opening = [idOf("budget"), organizationId, `principal:${ids.get("managing")}`, userId, at] as const;
  await prisma.$executeRawUnsafe(
    `INSERT INTO budget (id, organization_id, scope, period, ceiling_micros, enforcement, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'day', 5, 'prevent', $4, $5, $5)`,
    ...opening,
  );
  const signing = { publicKey: {}, privateKey: "sealed" };
  await prisma.signingKey.create({
    data: { ...signing, id: "first", createdAt: at, retiredAt: new Date(revoked) },
  });
  await prisma.signingKey.create({ data: { ...signing, id: "second", createdAt: new Date(revoked) } });
  await prisma.$disconnect();
  await fillByStatements();
}

/** Writes rows with statements of our own, which name the offset of each time. */
async function fillByStatements() {
  await old.query("UPDATE api_key SET last_used_at = $1", [revoked]);
  await old.query(
    `INSERT INTO audit_entry (id, organization_id, actor_id, actor_kind, action, subject, created_at)
     VALUES ($1, $2, $3, 'human_session', 'organization.created', $2, $4)`,
    [idOf("audit"), organizationId, userId, made],
  );
  await old.query(
    "INSERT INTO user_account (id, email, display_name, created_at) VALUES ($1, 'bob@example.com', 'Bob', $2)",
    [idOf("user", made, "1"), made],
  );
  await old.query(
    "INSERT INTO membership (user_id, organization_id, role, created_at) VALUES ($1, $2, 'member', $3)",
    [idOf("user", made, "1"), organizationId, end],
  );
  await old.query(
    `INSERT INTO session (id, user_id, kind, label, address, version, created_at, last_seen_at, expires_at)
     VALUES ($1, $2, 'browser', '', '', 1, $3, $3, $4)`,
    [idOf("session"), userId, made, end],
  );
}

const read = async (sql: string) => (await old.query({ text: sql, rowMode: "array" })).rows;
const iso = (moment: string) => new Date(moment);

test("a connection to a migrated database uses UTC on a server of another zone", async () => {
  const after = new pg.Client({ connectionString: database.url });
  await after.connect();
  expect((await after.query("SHOW TimeZone")).rows).toEqual([{ TimeZone: "UTC" }]);
  await after.end();
});

test("the migration keeps the times of keys, even of one in the gap of a clock change", async () => {
  expect(
    await read("SELECT name, created_at, expires_at, revoked_at, last_used_at FROM api_key ORDER BY hash"),
  ).toEqual([
    ["lasting", iso(made), null, null, iso(revoked)],
    ["ending", iso(made), iso(end), null, iso(revoked)],
    ["revoked", iso(made), null, iso(revoked), iso(revoked)],
    ["managing", iso(made), iso(end), null, iso(revoked)],
    ["inGap", iso(inGap), null, null, iso(revoked)],
  ]);
});

test("times of rows without an id of their own are corrected like those of the rows written beside them", async () => {
  expect(await read("SELECT created_at FROM organization UNION ALL SELECT created_at FROM project")).toEqual([
    [iso(made)],
    [iso(made)],
  ]);
  expect(await read("SELECT created_at, founded_at FROM user_account ORDER BY id")).toEqual([
    [iso(made), iso(made)],
    [iso(made), null],
  ]);
  expect(await read("SELECT created_at FROM membership ORDER BY role DESC")).toEqual([
    [iso(made)],
    [iso(end)],
  ]);
  expect(await read("SELECT created_at, updated_at FROM budget")).toEqual([[iso(made), iso(made)]]);
  expect(await read("SELECT created_at, retired_at FROM signing_key ORDER BY id")).toEqual([
    [iso(made), iso(revoked)],
    [iso(revoked), null],
  ]);
  expect(await read("SELECT now() - created_at < interval '1 hour' FROM environment")).toEqual([[true]]);
});

test("times that statements wrote with an offset do not change", async () => {
  expect(await read("SELECT created_at, last_seen_at, expires_at FROM session")).toEqual([
    [iso(made), iso(made), iso(end)],
  ]);
});

test("the counts of each table are reported, and a second run changes no key", async () => {
  const counts = { api_key: 5, budget: 1, environment: 1, membership: 1, organization: 1, project: 1 };
  const more = { signing_key: 2, user_account: 1 };
  expect(lines).toEqual(
    Object.entries({ ...counts, ...more }).map(
      ([table, rows]) => `Moved to UTC: the times of ${rows} row(s) of ${table}`,
    ),
  );
  const keys = "SELECT * FROM api_key ORDER BY id";
  const before = await read(keys);
  await old.query("SELECT capstan_correct_times($1)", [ZONE]);
  expect(await read(keys)).toEqual(before);
});

test("the report names each corrected key, and says whether it expired, was revoked or never expires", async () => {
  const [headline, ...keys] = await correctedTimes(old, iso("2026-11-28T02:00:00Z"));
  expect(headline).toMatch(/^The times of 5 API keys were moved to UTC\. Revoke/);
  expect(keys.toSorted()).toEqual(
    [
      `${ids.get("lasting")} (lasting, cap_…) by -5 h: never expires`,
      `${ids.get("ending")} (ending, cap_…) by -5 h: expired ${end}`,
      `${ids.get("revoked")} (revoked, cap_…) by -5 h: revoked 2026-02-03T01:00:00.000Z`,
      `${ids.get("managing")} (managing, cap_…) by -5 h: expired ${end}`,
      `${ids.get("inGap")} (inGap, cap_…) by -5 h: never expires`,
    ].toSorted(),
  );
  expect(await correctedTimes(old, iso("2027-06-01T00:00:00Z"))).toEqual([]);
});

test("a key that an earlier process has created since is counted, and its times are corrected on request", async () => {
  const id = idOf("key", made, "z");
  await old.query(
    `INSERT INTO api_key (id, organization_id, name, prefix, hash, created_at, expires_at)
     VALUES ($1, $2, 'late', 'cap_', sha256('late'), $3::timestamptz - interval '330 minutes', $4::timestamptz - interval '330 minutes')`,
    [id, organizationId, made, end],
  );
  const statement = /^1 API keys have times in another zone: .* (SELECT .*;)$/.exec(
    (await correctedTimes(old, iso("2027-06-01T00:00:00Z"))).join("\n"),
  );
  await old.query(statement?.[1] ?? "");
  expect(await read("SELECT created_at, expires_at FROM api_key WHERE name = 'late'")).toEqual([
    [iso(made), iso(end)],
  ]);
  expect(await correctedTimes(old, iso("2027-06-01T00:00:00Z"))).toEqual([]);
});
