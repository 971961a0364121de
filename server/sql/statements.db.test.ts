import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { job } from "@/server/generated/schema";
import { checkStatements, readReach } from "./check/check.mjs";
import { type Column, int4, maybe, pick, text } from "./column";
import { LOOSE } from "./loose";
import { type Registered, registered, statement } from "./statement";
import { IN_SCOPE } from "./tenant";

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

test("each statement bounds the rows of tenants that it reaches by a parameter, or is listed with the reason", async () => {
  const found = await readReach(DATABASE, registered());
  expect(found).toHaveLength(registered().length);
  const reached = new Set(found.flatMap(({ name, loose }) => loose.map((table) => `${name} ${table}`)));
  expect([...reached].sort()).toEqual(Object.keys(LOOSE).sort());
});

/** Reads and changes that reach rows of other tenants. */
const ACROSS_TENANTS = [
  "SELECT id FROM job WHERE status = $1",
  "SELECT id FROM job WHERE capability_key = $1",
  "SELECT id FROM job WHERE idempotency_key = ANY($1)",
  "SELECT id FROM job WHERE id < $1 ORDER BY id DESC LIMIT 10",
  "SELECT id FROM job WHERE project_id <> $1",
  "SELECT id FROM job WHERE NOT (project_id = $1)",
  "SELECT id FROM job WHERE project_id <> ALL($1)",
  "SELECT id FROM job WHERE project_id = $1 OR is_blind",
  "SELECT id FROM job WHERE project_id = principal_id AND status = $1",
  "SELECT id FROM job WHERE $1::text IS NULL OR id = $1",
  "SELECT job.id FROM project JOIN job ON true WHERE project.id = $1",
  "SELECT job.id FROM job LEFT JOIN project ON project.id = job.project_id AND project.organization_id = $1",
  "SELECT job.id FROM user_account JOIN job ON job.principal_id = user_account.id WHERE is_operator = $1",
  "SELECT id FROM job WHERE id = $1 UNION ALL SELECT id FROM job WHERE status = 'failed'",
  "SELECT (SELECT count(*) FROM job) FROM project WHERE id = $1",
  "SELECT id FROM project WHERE id = $1 AND EXISTS (SELECT FROM job WHERE status = 'failed')",
  "SELECT id FROM job WHERE project_id IN (SELECT id FROM project WHERE status = $1)",
  "WITH every AS (SELECT * FROM job) SELECT id FROM every WHERE project_id = $1",
  "UPDATE job SET tags = '{}' WHERE status = $1",
  "DELETE FROM payload WHERE expires_at < $1",
  "INSERT INTO budget_alert SELECT * FROM budget_alert WHERE created_at < $1",
];
const WITHIN_ONE = [
  ["SELECT id FROM job WHERE project_id = $1 AND status = 'failed'", "tenant"],
  ["SELECT id FROM job WHERE organization_id = ANY($1)", "tenant"],
  ["SELECT id FROM job WHERE id = $1", "id"],
  ["SELECT payload.id FROM job LEFT JOIN payload ON payload.job_id = job.id WHERE job.id = ANY($1)", "id"],
  ["SELECT (SELECT count(*) FROM attempt WHERE attempt.job_id = job.id) FROM job WHERE id = $1", "id"],
  ["WITH input AS (SELECT $1::text AS id) SELECT job.id FROM input JOIN job ON job.id = input.id", "id"],
  ["UPDATE job SET tags = '{}' WHERE project_id = $1", "tenant"],
  ["SELECT 1 WHERE $1::int > 0", "none"],
];

test("the law of tenants distinguishes statements that reach rows of other tenants from those that a parameter bounds", async () => {
  const kindsOf = async (texts: string[]) => {
    const found = await readReach(
      DATABASE,
      texts.map((sql) => ({ name: sql, text: sql })),
    );
    return found.map(({ name, kind }) => [name, kind]);
  };
  expect(await kindsOf(ACROSS_TENANTS)).toEqual(ACROSS_TENANTS.map((sql) => [sql, "neither"]));
  expect(await kindsOf(WITHIN_ONE.map(([sql = ""]) => sql))).toEqual(WITHIN_ONE);
  const places = ["organizationIds", "projectId", "environment", "principalId"];
  const condition = IN_SCOPE.replaceAll(/\$(\w+)/g, (_, name: string) => `$${places.indexOf(name) + 1}`);
  const scoped = `SELECT id FROM job WHERE ${condition}`;
  expect(await kindsOf([scoped])).toEqual([[scoped, "tenant"]]);
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
