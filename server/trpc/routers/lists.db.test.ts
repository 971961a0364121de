import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { setCurrent, setListening } from "@/server/domain/access/cache";
import * as jobs from "@/server/domain/jobs";
import { run, submitBulk } from "@/server/domain/pins";
import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { makeQuote, makeRequest } from "@/testing/commissions";
import { makePerson } from "@/testing/tenants";
import { copyJob, makeProject } from "@/testing/world";
import { appRouter } from "../index";

/*
 * The panel's lists, as a process reads them that is notified of changes and already has the project and the
 * person in its caches.
 */

beforeAll(() => {
  setListening(true);
  setCurrent(Number.MAX_SAFE_INTEGER);
});
afterAll(() => setListening(false));

const FAST = "text.general.fast.v1";
const words = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };

const isOwn = new AsyncLocalStorage<true>();

/** The queries that this work sends over the pool, each a round trip, and none of what other work in the process sends. */
async function queriesOf(work: () => Promise<unknown>): Promise<pg.QueryConfig[]> {
  const asked: pg.QueryConfig[] = [];
  const query = vi.spyOn(pool, "query");
  const connect = vi.spyOn(pool, "connect");
  let connections = 0;
  const send = pg.Pool.prototype.query.bind(pool);
  const take = pg.Pool.prototype.connect.bind(pool);
  query.mockImplementation(((one: pg.QueryConfig, ...rest: []) => {
    if (isOwn.getStore()) asked.push(one);
    return send(one, ...rest);
  }) as typeof pool.query);
  connect.mockImplementation(((...rest: []) => {
    if (isOwn.getStore()) connections++;
    return take(...rest);
  }) as typeof pool.connect);
  try {
    await isOwn.run(true, work);
  } finally {
    query.mockRestore();
    connect.mockRestore();
  }
  // The pool takes one connection for each query; a transaction would take one without such a query.
  expect(connections).toBe(asked.length);
  return asked;
}

/** How many queries a list sends when the process has read the project before. */
async function roundTrips(list: () => Promise<{ items: unknown[] }>): Promise<number> {
  expect((await list()).items).not.toEqual([]);
  return (await queriesOf(list)).length;
}

test("the panel's lists of jobs, pinned executions and bulks are one statement each, and one more to bound filters", async () => {
  const world = await makeProject();
  const { projectId } = world;
  const panel = appRouter.createCaller((await makePerson(world.organizationId, "viewer")).ctx);
  await jobs.submit(world.ctx, FAST, { input: words });
  await jobs.submit(world.ctx, FAST, { input: words });
  await run(world.ctx, { pin, input: "Hello" });
  await submitBulk(world.ctx, { pin, items: [{ id: "one", input: "Hello" }] });
  const filters = { status: "queued", capabilityKey: FAST, createdAfter: "2020-01-01T00:00:00Z" } as const;
  expect({
    jobs: await roundTrips(() => panel.jobs.list({ project_id: projectId })),
    filteredJobs: await roundTrips(() => panel.jobs.list({ project_id: projectId, ...filters })),
    programs: await roundTrips(() => jobs.history(world.ctx, projectId, { limit: 25 })),
    own: await roundTrips(() => jobs.mine(world.ctx, { limit: 25 })),
    pins: await roundTrips(() => panel.pinned.list({ projectId })),
    bulks: await roundTrips(() => panel.pinned.bulks({ projectId })),
  }).toEqual({ jobs: 1, filteredJobs: 2, programs: 1, own: 1, pins: 1, bulks: 1 });
});

test("the panel's list of approvals is one statement of jobs and one of commissions, sent together", async () => {
  const project = await makeProject();
  const { projectId, organizationId, ctx } = project;
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [projectId]);
  const { ctx: viewer } = await makePerson(organizationId, "viewer");
  const panel = appRouter.createCaller(viewer);
  for (let made = 0; made < 3; made++) await jobs.submit(ctx, FAST, { input: words });
  expect(await panel.approvals.list({ project_id: projectId })).toMatchObject({ count: 3 });
  expect(await roundTrips(() => panel.approvals.list({ project_id: projectId }))).toBe(2);
  for (let made = 0; made < 3; made++) await makeQuote(project, await makeRequest(project));
  expect(await requests.listPayable(viewer, projectId)).toMatchObject({ count: 3 });
  expect(await roundTrips(() => requests.listPayable(viewer, projectId))).toBe(1);
});

/** The conditions on jobs in the plan of a list with its own parameters; what is read beside each job comes after them. */
async function conditionsOf({ text, values }: pg.QueryConfig): Promise<string> {
  const { rows } = await pool.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values);
  const lines = rows.map((row) => row["QUERY PLAN"]);
  const own = lines.slice(
    0,
    lines.findIndex((line) => line.includes("SubPlan")),
  );
  // Row-level security names a setting in each.
  return own
    .filter((line) => /Filter|Cond/.test(line))
    .map((line) => line.replace(/CASE current_setting.*? END/, ""))
    .join(" ");
}

const OTHER_FILTERS =
  /IS NULL|status|is_blind|completed_at|artifact|capability_key|provider|model|micros|tags|created_at|idempotency/g;

test("the query plan of the job list has no condition for an absent filter", async () => {
  const { ctx, projectId } = await makeProject();
  const { jobId } = await jobs.submit(ctx, FAST, { input: words });
  await copyJob(jobId, 3_000);
  await pool.query("ANALYZE job");
  const namesIn = async (filters: object) => {
    const asked = await queriesOf(() => jobs.namedHistory(ctx, projectId, { limit: 25, ...filters }));
    const conditions = await conditionsOf(asked.at(-1)!);
    expect(conditions).toContain(`project_id = '${projectId}'`);
    return [...new Set(conditions.match(OTHER_FILTERS) ?? [])].sort();
  };
  expect(await namesIn({})).toEqual([]);
  expect(await namesIn({ capabilityKey: FAST })).toEqual(["capability_key"]);
  expect(await namesIn({ status: "failed" })).toEqual(["status"]);
  expect(await namesIn({ provider: "sandbox" })).toEqual(["is_blind", "provider"]);
  expect(await namesIn({ tag: ["blue"], minCostUsd: 1 })).toEqual(["is_blind", "micros", "tags"]);
});
