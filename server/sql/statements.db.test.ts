import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { job } from "@/server/generated/schema";
import { checkStatements } from "./check/check.mjs";
import { type Column, int4, maybe, pick, text } from "./column";
import { type Registered, registered, statement } from "./statement";

const DATABASE = process.env.DATABASE_URL ?? "";
const ROOT = join(import.meta.dirname, "../..");
const STATES = /from "@\/server\/sql\/statement"/;

/** The errors of files that could not be loaded because a statement names a column that the schema does not have. */
const unloaded = new Set<string>();

// Loads every file that declares a statement, used or not.
beforeAll(async () => {
  const sources = ["server", "inngest"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("generated"))
      .map((file) => join(ROOT, folder, file)),
  );
  for (const file of sources)
    if (STATES.test(readFileSync(file, "utf8")))
      await import(file).catch((cause: Error) => unloaded.add(cause.message));
}, 60_000);

test("every statement matches its declared parameters and columns", async () => {
  const statements = [...registered()];
  expect([...unloaded, ...(await checkStatements(DATABASE, statements))]).toEqual([]);
  expect(statements.map(({ name }) => name)).toContain("claim-many");
});

test("a renamed column is reported with each statement that names it", async () => {
  const naming = registered().filter(({ text }) => /\berror_code\b/.test(text));
  const reported = await checkStatements(DATABASE, naming, "ALTER TABLE job RENAME error_code TO fault_code");
  expect(reported).toContainEqual(expect.stringMatching(/^claim-one: column .*error_code.* does not exist$/));
  expect(reported.filter((what) => !what.includes("error_code"))).toEqual([]);
  expect(await checkStatements(DATABASE, naming)).toEqual([]);
});

test("the compiler rejects a column that the schema does not have", () => {
  // @ts-expect-error
  expect(pick(job, "fault_code").fault_code).toBeUndefined();
  // @ts-expect-error
  pick(job, "id fault_code");
  expect(pick(job, "id status", "fence")).toEqual({ id: job.id, status: job.status, fence: job.fence });
});

test("the check reports each way in which a statement may differ from its declaration", {
  tags: "long",
}, async () => {
  const of = (sql: string, row: Registered["row"], params: Registered["params"] = {}) => ({
    name: "wrong",
    text: sql,
    params,
    row,
    isMany: false,
  });
  const problemsOf = (one: Registered) => checkStatements(DATABASE, [one]);
  const stage = "SELECT stage FROM attempt";
  expect(await problemsOf(of(stage, { stage: text }))).toEqual(["wrong: column stage may be null"]);
  expect(await problemsOf(of("SELECT id FROM attempt", { id: { type: "text", nullable: true } }))).toEqual([
    "wrong: column id is never null, declared nullable",
  ]);
  const joined = "SELECT job.id, attempt.number FROM job LEFT JOIN attempt ON attempt.job_id = job.id";
  expect(await problemsOf(of(joined, { id: text, number: int4 }))).toEqual([
    "wrong: column number may be null",
  ]);
  expect(await problemsOf(of("SELECT id FROM job", { id: int4, name: text }))).toEqual([
    "wrong: column id is text, declared int4",
    "wrong: column name is declared and not returned",
  ]);
  expect(await problemsOf(of("SELECT id, fence FROM job", { id: text }))).toEqual([
    "wrong: column fence is returned and not declared",
  ]);
  expect(await problemsOf(of("SELECT id FROM job WHERE fence = $1", { id: text }, { fence: text }))).toEqual([
    "wrong: parameter fence is int4, declared text",
  ]);
  const twice = of("SELECT id FROM job", { id: text });
  expect(await checkStatements(DATABASE, [twice, twice])).toEqual(["wrong: another statement has this name"]);
});

test("a statement and its parameters must match", () => {
  const stating = (sql: string) => () => statement("wrong", { params: { jobId: text }, row: {}, sql });
  expect(stating("SELECT $other")).toThrow("wrong: $other is not one of its parameters.");
  expect(stating("SELECT 1")).toThrow("wrong: nothing uses jobId.");
  const gone = (job as Record<string, Column>).fault_code!; // like a column that was renamed
  expect(() => statement("wrong", { params: {}, row: { fault_code: maybe(gone) }, sql: "" })).toThrow(
    "wrong: the schema has no column fault_code.",
  );
});
