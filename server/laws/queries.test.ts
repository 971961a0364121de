import { expect, test } from "vitest";
import { countQueries, faultsOfPrisma, membersOfPrisma, PRISMA_PLACES } from "./queries";
import { isWithin, sources, textOf } from "./sources.fixture";

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

test("every query is a statement, which the database checks, or a command to a connection", () => {
  const files = sources.filter((file) => isServer(file) && !APART.some((each) => isWithin(file, each)));
  expect(files.filter((file) => countQueries(textOf.get(file) ?? "") > 0)).toEqual([]);
});

const DOOR = "server/sql/people.ts";
const importing = (names: string, from: string) => (file: string) =>
  new RegExp(`import [^;]*\\b(?:${names})\\b[^;]*from "@/server/${from}"`).test(textOf.get(file) ?? "");

test("Prisma Client is reached through one file, and each folder uses exactly the models that are listed for it", () => {
  const isOpened = importing("prisma", "platform/db");
  expect(sources.filter(isOpened)).toEqual([DOOR]);
  expect(sources.filter(importing("Prisma|PrismaClient", "generated/prisma/client")).sort()).toEqual([
    "server/platform/db.ts",
    DOOR,
  ]);
  const users = sources.filter(importing("people", "sql/people"));
  expect(users.flatMap((file) => faultsOfPrisma(file, textOf.get(file) ?? ""))).toEqual([]);
  for (const [folder, models] of Object.entries(PRISMA_PLACES)) {
    const used = users.filter((file) => isWithin(file, folder)).map((file) => textOf.get(file) ?? "");
    expect([...new Set(used.flatMap(membersOfPrisma))].sort()).toEqual(models);
  }
});

test("the law of Prisma sees another folder, another model, a transaction, SQL and the client as a value", () => {
  const own = "server/domain/organizations/keys.ts";
  expect(faultsOfPrisma(own, "await people.apiKey.findMany({}) // people.job")).toEqual([]);
  for (const text of ["people.job.count()", "prisma.$transaction(work)", "people.$queryRaw``", "use(people)"])
    expect(faultsOfPrisma(own, text)).toHaveLength(1);
  expect(faultsOfPrisma("server/domain/jobs/rows.ts", "people.apiKey.findMany({})")).toHaveLength(1);
});
