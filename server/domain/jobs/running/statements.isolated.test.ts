import pg from "pg";
import { expect, test, vi } from "vitest";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { inTransaction, pool } from "@/server/platform/db";
import { copyJob, inlineStep, makeProject } from "@/testing/world";

/*
 * The statements of an execution must find their rows by narrow indexes, even if the planner last saw few
 * rows in each state.
 */

/** Indexes of all rows in a state, for the queries that need all of them. */
const OF_ALL_IN_A_STATE = [
  "job_to_dispatch",
  "job_unfinished",
  "job_queue_deadlines",
  "job_approval_deadlines",
  "job_needs_attention",
];

/** The same kind of indexes on other tables than jobs. */
const OF_OTHERS_IN_A_STATE = [
  "job_webhook_behind",
  "pinned_execution_leases",
  "pinned_bulk_leases",
  "delivery_due",
];

const isReading = (text: string) => /^\s*(WITH|SELECT|UPDATE)\b/.test(text);

/** Returns the queries that `work` sends. */
async function queriesOf(work: () => Promise<unknown>): Promise<(pg.QueryConfig | string)[]> {
  const query = vi.spyOn(pg.Client.prototype, "query");
  try {
    await work();
    return query.mock.calls.map(([asked]) => asked as unknown as pg.QueryConfig | string);
  } finally {
    query.mockRestore();
  }
}

/** The statements that `work` runs, by their names, or by their texts if they have none. */
async function statementsOf(work: () => Promise<unknown>): Promise<Map<string, string>> {
  const statements = new Map<string, string>();
  for (const asked of await queriesOf(work)) {
    const { name, text } = typeof asked === "string" ? { name: undefined, text: asked } : asked;
    if (typeof text === "string") statements.set(name ?? text, text);
  }
  return statements;
}

/**
 * The lines of a statement's plan, generic or with these parameters, as if its tables were too large to be
 * scanned.
 */
async function planOf(text: string, values?: unknown[]): Promise<string[]> {
  return inTransaction(async (client) => {
    await client.query("SET LOCAL enable_seqscan = off");
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      values ? `EXPLAIN ${text}` : `EXPLAIN (GENERIC_PLAN) ${text}`,
      values,
    );
    return rows.map((row) => row["QUERY PLAN"]);
  });
}

/** The indexes that a statement's generic plan reads. */
const indexesOf = async (text: string) =>
  (await planOf(text)).flatMap((line) => /(?:using|Scan on) (\w+)/.exec(line)?.[1] ?? []);

test("an execution reads no index of all jobs in a state; the sweeper and the operator do", async () => {
  const project = await makeProject();
  const request = { input: { messages: [{ role: "user", content: "Hello." }] } };
  const statements = await statementsOf(async () => {
    const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", request);
    await pool.query("ANALYZE job, attempt, hold, payload"); // with one waiting job and no running one
    await jobs.run(project.ctx, jobId, inlineStep(project.clock));
    await jobs.invoke(project.ctx, "text.general.fast.v1", request);
  });
  for (const name of ["claim-one", "begin-one", "answer-one", "finish-one"])
    expect([...statements.keys()]).toContain(name);
  for (const [name, text] of statements) {
    if (!isReading(text) || name === "job.count.unfinished") continue; // counts those of one project
    const read = await indexesOf(text);
    expect({ name, read: read.filter((index) => OF_ALL_IN_A_STATE.includes(index)) }).toEqual({
      name,
      read: [],
    });
  }

  const { projectId } = project;
  const swept = await statementsOf(async () => {
    await jobs.sweep(systemCtx("sweeper"), { projectId });
    await pins.sweep(systemCtx("pin-sweeper"), { projectId });
    await jobs.announce(systemCtx("announcer"), { projectId });
    await jobs.listAttention(systemCtx("operator"));
  });
  const read = await Promise.all([...swept.values()].filter(isReading).map(indexesOf));
  expect(read.flat()).toEqual(expect.arrayContaining([...OF_ALL_IN_A_STATE, ...OF_OTHERS_IN_A_STATE]));
});

test("lists find a job by its idempotency key in the index of keys, even for an API key without a project", async () => {
  const { ctx, projectId } = await makeProject();
  const { jobId } = await jobs.submit(ctx, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "Hello." }] },
    idempotencyKey: "order 4711",
  });
  await copyJob(jobId, 2_000);
  await pool.query("ANALYZE job");
  const unbound = { ...ctx, principal: { ...ctx.principal, projectId: null } } as Ctx;
  const query = { limit: 25, idempotencyKey: "order 4711" };
  for (const list of [
    () => jobs.mine(ctx, query),
    () => jobs.mine(unbound, query),
    () => jobs.history(ctx, projectId, query),
  ]) {
    const queries = await queriesOf(async () => {
      expect((await list()).items.map((item) => item.jobId)).toEqual([jobId]);
    });
    // A list's query has no name, so it is planned with its parameters.
    const listed = queries.find((asked) => typeof asked === "object" && /LIMIT \$\d+\) job/.test(asked.text));
    const { name, text, values } = listed as pg.QueryConfig;
    expect(name).toBeUndefined();
    const plan = await planOf(text, values);
    const found = plan.filter((line) => /idempotency_key/.test(line));
    expect(found[0]).toContain("using job_project_id_operation_idempotency_key_key on job");
    // All three columns are in the condition: with the project alone, every key of the project would be read.
    const [sought] = found.filter((line) => line.includes("Index Cond"));
    expect(sought).toMatch(/project_id.+operation.+idempotency_key/);
  }
});
