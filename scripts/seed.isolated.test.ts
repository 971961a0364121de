import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seed } from "@/prisma/bootstrap";
import { access } from "@/server/domain/access";
import * as budgets from "@/server/domain/budgets";
import { verifySignIn } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { personOf } from "@/testing/sessions";
import { ctxOf, system } from "@/testing/tenants";
import { admin } from "./admin/admin.fixture";

/* The database of this file is new and has no users before the first seed. */

const directory = mkdtempSync(join(tmpdir(), "capstan-seed-"));
const file = join(directory, "bootstrap.json");
afterAll(() => rmSync(directory, { recursive: true }));

const toldBy = (path = file) => JSON.parse(readFileSync(path, "utf8"));
const keyOf = (key: string) => access.keyPrincipal(key, new Date());
const idOf = async (email: string): Promise<string> =>
  (await pool.query("SELECT id FROM user_account WHERE email = $1", [email])).rows[0]?.id ?? "";
/** Counts everything that a seed makes. */
const made = async () =>
  (
    await pool.query(
      `SELECT (SELECT count(*) FROM organization) AS organizations, (SELECT count(*) FROM project) AS projects,
         (SELECT count(*) FROM api_key) AS keys, (SELECT count(*) FROM user_account) AS people,
         (SELECT count(*) FROM membership) AS memberships, (SELECT count(*) FROM user_account WHERE is_operator) AS operators`,
    )
  ).rows[0];

let first: ReturnType<typeof toldBy>;
beforeAll(async () => {
  // A seed that was killed while it wrote its file, before it made people, is not done: the next seed makes them.
  writeFileSync(file, "{");
  expect(await seed(directory)).toEqual({ isNew: true });
  first = toldBy();
});

test("a new installation gets people and keys that work, in a file that only its owner can read", async () => {
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await keyOf(first.apiKey)).toMatchObject({
    projectId: first.projectId,
    organizationId: first.organizationId,
  });
  expect(await keyOf(first.unboundApiKey)).toMatchObject({
    projectId: null,
    organizationId: first.organizationId,
  });
  for (const { email, password } of [first.member, first.operator])
    expect(await verifySignIn(system, { email, password, address: "seed-test" })).toMatchObject({ email });
});

test("the first operator can set budgets, and is an owner of the first organization", async () => {
  const ctx = ctxOf(await personOf(await idOf(first.operator.email)));
  const owner = { projectId: first.projectId };
  const budget = { owner, period: "total", ceilingMicros: 1_000_000, enforcement: "warn" } as const;
  expect(await budgets.set(ctx, budget)).toMatchObject({ ceilingMicros: 1_000_000 });
  expect(() => access.authorize(ctx, "owner", { organizationId: first.organizationId })).not.toThrow();
  expect(() => access.authorize(ctx, "operator")).not.toThrow();
});

test("later seeds create nothing, and revoked keys, removed members and former operators stay so", async () => {
  const principal = await keyOf(first.apiKey);
  await admin("key", "revoke", "--key", principal?.id ?? "");
  await pool.query("UPDATE user_account SET is_operator = false");
  await pool.query("DELETE FROM membership WHERE user_id = $1", [await idOf(first.member.email)]);
  await pool.query("UPDATE user_account SET email = 'ada@example.com' WHERE id = $1", [
    await idOf(first.operator.email),
  ]);
  const before = await made();
  expect(await seed(directory)).toEqual({ isNew: false });
  expect(toldBy()).toEqual(first);
  expect(await keyOf(first.apiKey)).toBeNull();
  const other = mkdtempSync(join(tmpdir(), "capstan-seed-other-"));
  expect(await seed(other)).toEqual({ isNew: false }); // as on another machine, or after the file was lost
  rmSync(other, { recursive: true });
  expect(await made()).toEqual(before);
});
