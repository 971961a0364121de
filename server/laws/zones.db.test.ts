import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { filesUnder, isTest, sources, textOf } from "./sources.fixture";
import { faultsOfZones } from "./zones";

const faultsIn = (texts: Iterable<readonly [string, string]>) =>
  [...texts].flatMap(([name, text]) => faultsOfZones(text).map((fault) => `${name}: ${fault}`));

test("no statement in the sources depends on the time zone of its session", () => {
  const scripts = ["scripts", "prisma"].flatMap(filesUnder).filter((file) => !isTest(file));
  const guards = readdirSync("prisma/guards").map((name) => `prisma/guards/${name}`);
  const others = [...scripts, ...guards].map((file) => [file, readFileSync(file, "utf8")] as const);
  const statements = sources
    .filter((file) => !file.startsWith("server/laws/"))
    .map((file) => [file, textOf.get(file) ?? ""] as const);
  expect(faultsIn([...statements, ...others])).toEqual([]);
});

test("no function, view, check, default or index of the database depends on the time zone of its session", async () => {
  const { rows } = await pool.query<{ name: string; text: string }>(
    `SELECT proname AS name, pg_get_functiondef(oid) AS text FROM pg_proc
       WHERE pronamespace = current_schema()::regnamespace AND prokind IN ('f', 'p')
     UNION ALL SELECT relname, pg_get_viewdef(oid) FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'm')
     UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = current_schema()::regnamespace AND contype = 'c'
     UNION ALL SELECT adrelid::regclass::text, pg_get_expr(adbin, adrelid) FROM pg_attrdef
     UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
     UNION ALL SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger
     UNION ALL SELECT policyname, qual FROM pg_policies`,
  );
  expect(rows.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["capstan_period_start", "ledger_entry", "management_key_is_bounded"]),
  );
  expect(faultsIn(rows.map(({ name, text }) => [name, text] as const))).toEqual([]);
});

test.each([
  "date_trunc('hour', $1::timestamptz)",
  "date_trunc('day'::text, least(a, b))",
  "created_at::date",
  "least(a, b)::date",
  "now()::timestamp",
  "CURRENT_DATE",
  "LOCALTIMESTAMP",
  "extract(hour FROM now())",
  "date_part('day', now())",
  "to_char(created_at, 'YYYY-MM-DD')",
  "now() - interval '30 days'",
  "(now() + '1 mon'::interval)",
  "now() - make_interval(days => $2)",
  "age(now(), created_at)",
  "'today'::timestamptz",
])("%s is found to depend on the session's time zone", (sql) => {
  expect(faultsOfZones(`SELECT ${sql} FROM job`)).toHaveLength(1);
});

test.each([
  "date_trunc('hour', max(i.created_at), 'UTC')",
  "date_trunc('milliseconds', clock_timestamp())",
  "(created_at AT TIME ZONE 'UTC')::date - 1",
  "$7::date::timestamp AT TIME ZONE 'UTC'",
  "$from::date::timestamp AT TIME ZONE 'UTC'",
  "unnest($1::date[])",
  "extract(epoch FROM now())",
  "to_char(max(day), 'YYYY-MM-DD')",
  "(start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'",
  "now() - interval '720 hours' - make_interval(mins => $3)",
])("%s is UTC in every session", (sql) => {
  expect(faultsOfZones(`SELECT ${sql} FROM job`)).toEqual([]);
});
