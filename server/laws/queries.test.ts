import { expect, test } from "vitest";
import { countQueries } from "./queries";
import { isWithin, sources, textOf } from "./sources.fixture";
import { UNPORTED } from "./unported";

const isServer = (file: string) => isWithin(file, "server") || isWithin(file, "inngest");
/**
 * Folders and files that send texts of their own: statements themselves, the pools, the check of a connection's time zone,
 * helpers of tests, and tRPC, which calls its reads queries.
 */
const APART = [
  "server/sql",
  "server/platform/db.ts",
  "server/platform/database-zone.ts",
  "server/domain/pins/testing",
  "server/trpc",
];

test("the law sees a query and an asserted row, and leaves commands to a connection alone", () => {
  const seen = ['pool.query("SELECT 1")', "await client\n  .query<{ id: string }>(text)"];
  expect(seen.map(countQueries)).toEqual([1, 1]);
  const commands = ['client.query("BEGIN")', "ear.query(`LISTEN heard`)", "statement.all(pool, {})"];
  expect(commands.map(countQueries)).toEqual([0, 0, 0]);
  expect(
    countQueries('client.query("SELECT pg_advisory_xact_lock($1)"); client.query("DELETE FROM job")'),
  ).toBe(1);
});

test("queries are statements, which the database checks: other texts are sent only by the files listed, and the list shrinks", () => {
  const files = sources.filter((file) => isServer(file) && !APART.some((each) => isWithin(file, each)));
  expect(files.filter((file) => countQueries(textOf.get(file) ?? "") > 0).sort()).toEqual(UNPORTED);
});
