import type pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import { access } from "@/server/domain/access";
import * as billing from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { makeTurnsDue } from "@/server/domain/jobs/running/promote-queued";
import * as organizations from "@/server/domain/organizations";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";
import { ctxOf, makePerson, makeTenant, system } from "@/testing/tenants";
import { copyJob, startJob } from "@/testing/world";
import { allPlans, planOf } from ".";

const { PLANS, DEFAULT_PLAN } = env;
afterEach(() => void setSettings({ PLANS, DEFAULT_PLAN }));

const TEXT = "text.general.fast.v1";
const say = (projectId: string, content: string) => ({
  context: { projectId },
  input: { messages: [{ role: "user", content }] },
});
const TIERS = JSON.stringify([
  { slug: "free", displayName: "Free", limits: { concurrentDurableJobs: 2, activeDurableJobs: 3, users: 1 } },
  { slug: "team", displayName: "Team", monthlyUsd: 149, limits: { concurrentDurableJobs: 30, users: 5 } },
]);

type Refusal = { code: string; details: Record<string, unknown> };
async function refusalOf(work: Promise<unknown>): Promise<Refusal | null> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (error === null) return null;
  if (!(error instanceof Fault)) throw error;
  return { code: error.code, details: error.details };
}

/** Returns the number of successes, and the refusals of the others. */
async function outcomes(work: Promise<unknown>[]) {
  const all = await Promise.all(work.map(refusalOf));
  const refused = all.filter((each) => each !== null);
  return { done: all.length - refused.length, codes: [...new Set(refused.map(({ code }) => code))], refused };
}

const limit = (organizationId: string, limits: object) =>
  organizations.changePlan(system, organizationId, { limits });

test("fifty concurrent jobs do not exceed the plan, and neither a replay nor an ended job counts", async () => {
  const { organizationId, projectId } = await makeTenant();
  await limit(organizationId, { activeDurableJobs: 7 });
  const submit = (n: number) =>
    jobs.submit(system, TEXT, { ...say(projectId, `Job ${n}.`), idempotencyKey: `k${n}` });
  const { done, codes } = await outcomes(Array.from({ length: 50 }, (_, n) => submit(n)));
  expect({ done, codes }).toEqual({ done: 7, codes: ["DURABLE_CONCURRENCY_LIMIT"] });
  const { rows } = await pool.query<{ id: string; key: string }>(
    "SELECT id, idempotency_key AS key FROM job WHERE project_id = $1",
    [projectId],
  );
  expect(rows).toHaveLength(7);
  const first = rows[0]!;
  expect((await submit(Number(first.key.slice(1)))).jobId).toBe(first.id);
  await jobs.cancel(system, first.id);
  expect(await refusalOf(submit(100))).toBeNull();
  expect((await refusalOf(submit(101)))?.details).toMatchObject({ current: 7, most: 7, upgrade: null });
  // A second project of the organization shares its limit.
  const other = await organizations.createProject(system, { organizationId, name: "Other" });
  const elsewhere = jobs.submit(system, TEXT, say(other.projectId, "Hello."));
  expect((await refusalOf(elsewhere))?.code).toBe("DURABLE_CONCURRENCY_LIMIT");
});

test("a refusal names the plan and the next one, and an upgrade applies at once", async () => {
  setSettings({ PLANS: TIERS, DEFAULT_PLAN: "free" });
  expect(allPlans().map(({ slug }) => slug)).toEqual(["free", "team", "self-hosted"]);
  const { organizationId, projectId } = await makeTenant();
  const submit = (n: number) => jobs.submit(system, TEXT, say(projectId, `Job ${n}.`));
  for (const n of [1, 2, 3]) await submit(n);
  expect(await refusalOf(submit(4))).toEqual({
    code: "DURABLE_CONCURRENCY_LIMIT",
    details: {
      limit: "activeDurableJobs",
      most: 3,
      current: 3,
      retryAfterSeconds: 1,
      plan: "free",
      upgrade: {
        plan: "team",
        displayName: "Team",
        monthlyUsd: 149,
        activeDurableJobs: null,
        concurrentDurableJobs: 30,
      },
    },
  });
  await organizations.changePlan(system, organizationId, { plan: "team" });
  expect(await refusalOf(submit(5))).toBeNull();
});

test("jobs above the concurrency limit wait, start when one ends, and never exceed the limit however they are claimed", async () => {
  const { organizationId, projectId } = await makeTenant();
  await limit(organizationId, { concurrentDurableJobs: 2 });
  const ids: string[] = [];
  for (const n of [1, 2, 3, 4, 5, 6])
    ids.push((await jobs.submit(system, TEXT, say(projectId, `Job ${n}.`))).jobId);
  const started = await Promise.all(ids.map((id) => startJob(systemCtx("worker"), id)));
  expect(started.filter((each) => each !== null)).toHaveLength(2);
  const { rows } = await pool.query("SELECT status FROM job WHERE project_id = $1 ORDER BY status", [
    projectId,
  ]);
  expect(rows.map(({ status }) => status)).toEqual([
    ...["queued", "queued", "queued", "queued", "running", "running"],
  ]);
  const running = ids.filter((_, place) => started[place] !== null);
  const waiting = ids.filter((_, place) => started[place] === null);
  for (const id of running) await jobs.cancel(system, id);
  await jobs.sweep(systemCtx("sweeper"), { projectId });
  const due = await pool.query("SELECT FROM job WHERE id = ANY($1) AND dispatch_number > 1", [waiting]);
  expect(due.rowCount).toBe(2);
  const next = await Promise.all(waiting.map((id) => startJob(systemCtx("worker"), id)));
  expect(next.filter((each) => each !== null)).toHaveLength(2);
});

test("each start of a job in one run reports whether others may wait for its end", async () => {
  const { organizationId, projectId } = await makeTenant();
  const start = (id: string) => startJob(systemCtx("worker"), id, "one run");
  const [bounded, free] = [
    (await jobs.submit(system, TEXT, say(projectId, "Bounded."))).jobId,
    (await jobs.submit(system, TEXT, say((await makeTenant()).projectId, "Free."))).jobId,
  ];
  await limit(organizationId, { concurrentDurableJobs: 2 });
  for (const time of ["first", "again"]) {
    expect(await start(bounded), time).toMatchObject({ isBounded: true });
    expect(await start(free), time).toMatchObject({ isBounded: false });
  }
});

test("the query for due turns reads fewer than 20 rows for each waiting job, even if the planner expects few jobs", async () => {
  const { organizationId, projectId } = await makeTenant();
  await limit(organizationId, { concurrentDurableJobs: 2 });
  const { jobId } = await jobs.submit(system, TEXT, say(projectId, "Job."));
  const client = await pool.connect();
  try {
    await client.query("BEGIN"); // uncommitted rows have no statistics
    await copyJob(jobId, 2_000, {}, client);
    const query = vi.spyOn(client, "query");
    await makeTurnsDue(new Date(), projectId, client);
    const [{ text, values }] = query.mock.lastCall as unknown as [pg.QueryConfig]; // the statement as it was sent
    const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values });
    expect(rowsRead(rows[0]["QUERY PLAN"][0].Plan)).toBeLessThan(20 * 2_000);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});

type PlanNode = { [fact: string]: unknown; Plans?: PlanNode[] };

/** Sums the rows that the nodes of an executed plan read, including those that they dropped. */
function rowsRead(node: PlanNode): number {
  const met = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter"];
  const each = met.reduce((sum, fact) => sum + Number(node[fact] ?? 0), 0);
  return (
    each * Number(node["Actual Loops"]) + (node.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0)
  );
}

describe("hourly executions", () => {
  const invoke = (projectId: string, n: number, ctx: Ctx = system) =>
    jobs.invoke(ctx, TEXT, say(projectId, `Say ${n}.`));

  test("an hour with room for five refuses seven of twelve concurrent invokes, and the next hour has room again", async () => {
    const { organizationId, projectId } = await makeTenant();
    await limit(organizationId, { lightweightInferencesPerHour: 5 });
    const at = new Date("2026-03-01T10:20:00Z");
    const then = systemCtx("test", () => at);
    const { done, codes, refused } = await outcomes(
      Array.from({ length: 12 }, (_, n) => invoke(projectId, n, then)),
    );
    expect({ done, codes }).toEqual({ done: 5, codes: ["RateLimited"] });
    expect(refused[0]?.details).toMatchObject({ retryAfterSeconds: 2400, most: 5, current: 5 });
    expect(
      await refusalOf(
        invoke(
          projectId,
          1,
          systemCtx("test", () => new Date("2026-03-01T11:00:00Z")),
        ),
      ),
    ).toBeNull();
  });

  test("usage is shown only under a limit; without one it is null, not zero", async () => {
    const { organizationId, projectId } = await makeTenant();
    const { ctx } = await makePerson(organizationId, "viewer");
    const used = async () => (await billing.plans(ctx, organizationId)).used.lightweightInferencesPerHour;
    await invoke(projectId, 1);
    expect(await used()).toBeNull();
    await limit(organizationId, { lightweightInferencesPerHour: 5 });
    expect(await used()).toBe(0);
    await invoke(projectId, 2);
    expect(await used()).toBe(1);
  });

  test("pinned executions and bulk items count, and a bulk that does not fit does not start", async () => {
    const { organizationId, projectId } = await makeTenant();
    await limit(organizationId, { lightweightInferencesPerHour: 3 });
    const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
    const one = () =>
      pins.run(system, { pin, isolation: "stateless", context: { projectId }, input: "Hello." });
    const bulk = (count: number) =>
      pins.submitBulk(system, {
        pin,
        isolation: "stateless",
        context: { projectId },
        items: Array.from({ length: count }, (_, n) => ({ id: `i${n}`, input: `Hello ${n}.` })),
      });
    expect(await refusalOf(one())).toBeNull();
    expect(await refusalOf(bulk(3))).toMatchObject({ code: "RateLimited", details: { current: 1, most: 3 } });
    expect(await refusalOf(bulk(2))).toBeNull();
    expect((await refusalOf(one()))?.code).toBe("RateLimited");
    expect((await refusalOf(invoke(projectId, 9)))?.code).toBe("RateLimited");
  });
});

describe("limits of an organization", () => {
  test("concurrently created keys never exceed the plan's limit, and rotated and revoked keys do not count", async () => {
    const { organizationId, projectId, keyId } = await makeTenant();
    await limit(organizationId, { apiKeys: 3 });
    const make = () => organizations.createKey(system, { name: "k", projectId, environment: "development" });
    const { done, codes } = await outcomes(Array.from({ length: 8 }, make));
    expect({ done, codes }).toEqual({ done: 2, codes: ["PlanLimitReached"] });
    await organizations.rotateKey(system, keyId, { overlapSeconds: 3600 });
    expect((await refusalOf(make()))?.details).toMatchObject({ limit: "apiKeys", most: 3, current: 3 });
    const [any] = await organizations.listKeys(system, { organizationId, includeRevoked: false });
    await organizations.revokeKey(system, any!.keyId);
    expect(await refusalOf(make())).toBeNull();
  });

  test("archived projects do not count and return only within the limit, and environments have their own limit", async () => {
    const { organizationId, projectId } = await makeTenant();
    const owner = await makePerson(organizationId, "owner");
    await limit(organizationId, { projects: 2, environments: 3 });
    const make = () => organizations.createProject(system, { organizationId, name: "More" });
    expect((await outcomes([make(), make(), make()])).done).toBe(1);
    const patch = (change: object) =>
      organizations.patchProject(owner.ctx, projectId, { clearRepository: false, ...change });
    await patch({ status: "archived" });
    await make();
    expect(await refusalOf(patch({ status: "active" }))).toMatchObject({
      code: "PlanLimitReached",
      details: { limit: "projects", most: 2, current: 2 },
    });
    await limit(organizationId, { environments: 3 });
    await patch({ status: "active" });
    await patch({ environments: [{ slug: "staging", displayName: "Staging" }] });
    const fourth = patch({ environments: [{ slug: "qa", displayName: "QA" }] });
    expect((await refusalOf(fourth))?.details).toMatchObject({ limit: "environments", most: 3 });
    await limit(organizationId, { environments: 2 });
    // Existing environments stay when the limit shrinks.
    expect(await refusalOf(patch({ displayName: "Renamed" }))).toBeNull();
  });

  test("concurrent additions of members never exceed the plan's limit", async () => {
    const { organizationId } = await makeTenant();
    const { email } = await makePerson(organizationId, "owner");
    await limit(organizationId, { users: 2 });
    const add = (n: number) =>
      organizations.createUser(system, { organizationId, email: `${n}-${email}`, role: "member" });
    const { done, codes } = await outcomes([1, 2, 3, 4].map(add));
    expect({ done, codes }).toEqual({ done: 1, codes: ["PlanLimitReached"] });
  });
});

test("a rotated key passes its budget to its successor, and both together do not exceed it", async () => {
  const { organizationId, projectId, keyId, apiKey } = await makeTenant();
  const keyCtx = async (text: string) => {
    const principal = await access.keyPrincipal(text, new Date());
    if (!principal) throw new Error("the key works");
    return ctxOf(principal);
  };
  const submit = (ctx: Ctx, n: number) => jobs.submit(ctx, TEXT, say(projectId, `Job ${100 + n}.`)); // equal length, so equal price
  const old = await keyCtx(apiKey);
  await submit(old, 0);
  const { rows } = await pool.query<{ amount: number }>(
    "SELECT amount_micros AS amount FROM hold WHERE principal_id = $1",
    [keyId],
  );
  const ceilingMicros = 5 * rows[0]!.amount;
  const { budgetId } = await budgets.set(system, {
    owner: { organizationId, principalId: keyId },
    period: "total",
    ceilingMicros,
    enforcement: "prevent",
  });
  const made = await organizations.rotateKey(system, keyId, { overlapSeconds: 3600 });
  const heir = await keyCtx(made.apiKey);
  const { done, codes } = await outcomes(
    Array.from({ length: 12 }, (_, n) => submit(n % 2 === 0 ? old : heir, n + 1)),
  );
  expect({ done, codes }).toEqual({ done: 4, codes: ["BudgetExceeded"] });
  expect(await budgets.get(system, budgetId)).toMatchObject({ scope: `principal:${made.keyId}` });
  const { differences } = await billing.checkLedger(system, organizationId);
  expect(differences.filter(({ what }) => what.startsWith("budget"))).toEqual([]);
  // After another rotation the spend of the first key still counts.
  const third = await organizations.rotateKey(system, made.keyId, { overlapSeconds: 0 });
  expect((await refusalOf(submit(await keyCtx(third.apiKey), 99)))?.code).toBe("BudgetExceeded");
});

test("a job of an archived project can be canceled", async () => {
  const { organizationId, projectId } = await makeTenant();
  const owner = await makePerson(organizationId, "owner");
  const { jobId } = await jobs.submit(system, TEXT, say(projectId, "Hello."));
  await organizations.patchProject(owner.ctx, projectId, { status: "archived", clearRepository: false });
  expect((await refusalOf(jobs.submit(owner.ctx, TEXT, say(projectId, "More."))))?.code).toBe(
    "AuthorizationFailed",
  );
  expect((await jobs.cancel(owner.ctx, jobId)).status).toBe("canceled");
});

test("content expires with the plan's history", async () => {
  const { organizationId, projectId } = await makeTenant();
  await limit(organizationId, { historyDays: 3 });
  const { jobId } = await jobs.submit(system, TEXT, say(projectId, "Hello."));
  const { rows } = await pool.query<{ days: number }>(
    "SELECT extract(epoch FROM expires_at - created_at)::int / 86400 AS days FROM payload WHERE job_id = $1",
    [jobId],
  );
  expect(rows[0]?.days).toBe(3);
});

describe("who changes settings", () => {
  test("operators change the plan and owners the external actions, and the audit log has both", async () => {
    const { organizationId } = await makeTenant();
    const owner = await makePerson(organizationId, "owner");
    const admin = await makePerson(organizationId, "admin");
    const codes = async (ctx: Ctx) => [
      (await refusalOf(organizations.changePlan(ctx, organizationId, { limits: {} })))?.code,
      (await refusalOf(organizations.setExternalActions(ctx, organizationId, false)))?.code,
      (await refusalOf(organizations.listPlanSettings(ctx, {})))?.code,
    ];
    const [no, stranger] = [
      "AuthorizationFailed",
      await makePerson((await makeTenant()).organizationId, "owner"),
    ];
    expect(await codes(admin.ctx)).toEqual([no, no, no]);
    expect(await codes(stranger.ctx)).toEqual([no, "NotFound", no]);
    expect(await codes(owner.ctx)).toEqual([no, undefined, no]);
    await organizations.changePlan(system, organizationId, {
      features: { cancel: false },
      limits: { users: 9 },
    });
    const seen = await organizations.planSettings(admin.ctx, organizationId);
    expect(seen).toMatchObject({
      plan: { slug: "self-hosted" },
      agreed: { limits: { users: 9 }, features: { cancel: false } },
      features: { cancel: false, approve: true },
      externalActions: false,
      used: { users: 2 },
    });
    const { rows } = await pool.query<{ action: string; details: object }>(
      "SELECT action, details FROM audit_entry WHERE organization_id = $1 AND action ~ 'plan|external' ORDER BY id",
      [organizationId],
    );
    expect(rows).toEqual([
      { action: "external_actions.changed", details: { externalActions: { before: null, after: false } } },
      {
        action: "plan.changed",
        details: {
          features: { before: null, after: { cancel: false } },
          limits: { before: null, after: { users: 9 } },
        },
      },
    ]);
  });

  test("an unknown plan is refused, and a plan that is no longer listed falls back to the default", async () => {
    const { organizationId } = await makeTenant();
    await expect(organizations.changePlan(system, organizationId, { plan: "gold" })).rejects.toThrow(
      "no such plan",
    );
    expect(planOf({ plan: "gold" }).slug).toBe("self-hosted");
    setSettings({ PLANS: "[{" });
    expect(() => allPlans()).toThrow("PLANS: is not valid JSON.");
    setSettings({ PLANS: '[{"slug":"a","displayName":"A","limits":{"users":0}}]' });
    expect(() => allPlans()).toThrow("PLANS 0.limits.users");
  });
});
