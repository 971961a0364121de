import { expect, test } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { makeProjectAtNoon, rowsOf, type TestProject } from "@/testing/world";
import * as budgets from ".";
import { limit, ofProject, operator, priceIn, run, submit, submitMany } from "./attack.fixture";

const spendOf = async (project: TestProject, budgetId: string) => {
  const { testSpend } = await budgets.get(operator(project), budgetId);
  return { settled: testSpend.settledMicros, held: testSpend.heldMicros };
};

/** Sums the holds, to compare with the count of a budget. */
async function holdsOf(organizationId: string) {
  const { rows } = await pool.query<{ settled: number; held: number }>(
    `SELECT coalesce(sum(settled_micros), 0)::bigint AS settled,
       coalesce(sum(amount_micros) FILTER (WHERE state IN ('open', 'ambiguous')), 0)::bigint AS held
     FROM hold WHERE organization_id = $1`,
    [organizationId],
  );
  return rows[0]!;
}

async function principalOf(project: TestProject): Promise<{ organizationId: string; principalId: string }> {
  const { id: principalId } = project.ctx.principal;
  await pool.query(
    `INSERT INTO api_key (id, organization_id, project_id, name, prefix, hash, environment, scopes, created_at)
     VALUES ($1, $2, $3, 'test', $1, sha256(convert_to($1, 'UTF8')), 'development', '{}', now())`,
    [principalId, project.organizationId, project.projectId],
  );
  return { organizationId: project.organizationId, principalId };
}

test("concurrent submissions, cancels and ends never push any window of three scopes and three periods above its ceiling", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const owners = [
    { organizationId: project.organizationId },
    ofProject(project),
    await principalOf(project),
  ] as const;
  for (const [place, owner] of owners.entries()) {
    for (const [step, period] of (["day", "month", "total"] as const).entries()) {
      // Each budget has another place in the lock order and another ceiling; the lowest ceiling decides.
      await limit(project, owner, { period, ceilingMicros: price * (12 + place + step) });
    }
  }
  let samples = 0;
  let hasEnded = false;
  const watching = (async () => {
    while (!hasEnded) {
      const { rows } = await pool.query(
        `SELECT b.scope, b.period FROM budget b JOIN budget_window w ON w.budget_id = b.id
         WHERE b.organization_id = $1 AND w.held_micros + w.settled_micros > b.ceiling_micros`,
        [project.organizationId],
      );
      expect(rows).toEqual([]);
      samples++;
    }
  })();
  const ended: Promise<unknown>[] = [];
  for (let round = 0; round < 4; round++) {
    const { admitted, codes } = await submitMany(project.ctx, 60);
    expect(codes).toEqual(["BudgetExceeded"]);
    // Half of the jobs end and free their amounts, while the next round is submitted.
    ended.push(
      ...admitted
        .filter((_, place) => place % 2 === 0)
        .map((jobId, place) => (place % 2 ? jobs.cancel(operator(project), jobId) : run(project, jobId))),
    );
  }
  await Promise.all(ended);
  hasEnded = true;
  await watching;
  expect(samples).toBeGreaterThan(10);
  const held = await holdsOf(project.organizationId);
  const { items } = await budgets.list(operator(project), { organizationId: project.organizationId });
  expect(items).toHaveLength(9);
  for (const { testSpend } of items) {
    expect({ settled: testSpend.settledMicros, held: testSpend.heldMicros }).toEqual(held);
  }
});

test("many projects and organizations reserve and release at once without a deadlock", async () => {
  const projects = await Promise.all(Array.from({ length: 6 }, () => makeProjectAtNoon()));
  for (const project of projects) {
    await limit(project, { organizationId: project.organizationId }, { ceilingMicros: 1e9 });
    await limit(project, ofProject(project), { ceilingMicros: 1e9, period: "total" });
  }
  const before = await deadlocks();
  const turns = projects.flatMap((project) =>
    Array.from({ length: 40 }, async (_, turn) => {
      if (turn % 10 === 0) await limit(project, ofProject(project), { ceilingMicros: 1e9 + turn });
      const { jobId } = await submit(project.ctx);
      await (turn % 2 ? jobs.cancel(operator(project), jobId) : run(project, jobId));
    }),
  );
  await Promise.all(turns);
  expect(await deadlocks()).toBe(before);
  for (const project of projects) {
    const { items } = await budgets.list(operator(project), { organizationId: project.organizationId });
    for (const { testSpend } of items) {
      const { settled } = await holdsOf(project.organizationId);
      expect(testSpend).toMatchObject({ heldMicros: 0, settledMicros: settled });
    }
  }
});

async function deadlocks(): Promise<number> {
  await pool.query("SELECT pg_stat_force_next_flush()");
  const { rows } = await pool.query(
    "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
  );
  return rows[0].deadlocks;
}

test("a budget set while hundreds of submissions run counts every one of them", async () => {
  const project = await makeProjectAtNoon();
  const submitting = Array.from({ length: 300 }, () => submit(project.ctx));
  await submitting[0];
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: 1e12, enforcement: "warn" });
  const raised = limit(project, ofProject(project), { ceilingMicros: 1e12 });
  await Promise.all([...submitting, raised]);
  const { settled, held } = await holdsOf(project.organizationId);
  expect(held).toBeGreaterThan(0);
  expect(await spendOf(project, budgetId)).toEqual({ settled, held });
});

test("a hold counts in its first day and month, however late it ends", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const now = project.clock.now();
  const monthEnd = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  project.clock.advance(monthEnd - now.getTime() - 60_000);
  const day = await limit(project, ofProject(project), { ceilingMicros: price });
  const month = await limit(project, ofProject(project), { ceilingMicros: price, period: "month" });
  const total = await limit(project, ofProject(project), { ceilingMicros: price * 3, period: "total" });
  const { jobId } = await submit(project.ctx);
  expect(await submitMany(project.ctx, 3)).toEqual({ admitted: [], codes: ["BudgetExceeded"] });
  project.clock.advance(120_000);
  const next = await submit(project.ctx);
  await run(project, jobId);
  for (const { budgetId } of [day, month])
    expect(await spendOf(project, budgetId)).toEqual({ settled: 0, held: price });
  const { settled } = await holdsOf(project.organizationId);
  expect(settled).toBeGreaterThan(0);
  expect(await spendOf(project, total.budgetId)).toEqual({ settled, held: price });
  await jobs.cancel(operator(project), next.jobId);
  const { rows } = await pool.query(
    `SELECT settled_micros, held_micros FROM budget_window w JOIN budget b ON b.id = w.budget_id
     WHERE b.project_id = $1 AND is_test AND b.period <> 'total' AND settled_micros > 0`,
    [project.projectId],
  );
  expect(rows).toEqual([
    { settled_micros: settled, held_micros: 0 },
    { settled_micros: settled, held_micros: 0 },
  ]);
});

test("older holds and holds from a fast clock end under a new budget without a negative count", async () => {
  const project = await makeProjectAtNoon();
  const old = await submit(project.ctx);
  const untilMidnight = DAY_MS - (project.clock.now().getTime() % DAY_MS);
  const ahead: Ctx = {
    ...project.ctx,
    now: () => new Date(project.clock.now().getTime() + untilMidnight + 1_000),
  };
  const early = await submit(ahead);
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: 1e9 });
  const late = await submit(ahead);
  await jobs.cancel(operator(project), early.jobId);
  await jobs.cancel(operator(project), old.jobId);
  await jobs.cancel(operator(project), late.jobId);
  const { rows } = await pool.query(
    "SELECT held_micros, settled_micros FROM budget_window WHERE budget_id = $1 AND is_test",
    [budgetId],
  );
  expect(rows.length).toBeGreaterThanOrEqual(2);
  for (const row of rows) expect(row).toEqual({ held_micros: 0, settled_micros: 0 });
});

test("a managed-only ceiling ignores the customer's own accounts, and recounts when that setting changes", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const managed = await limit(project, ofProject(project), { ceilingMicros: price, managedOnly: true });
  await submit(project.ctx, { billingMode: "byok" });
  await submit(project.ctx, { billingMode: "byok" });
  expect(await spendOf(project, managed.budgetId)).toEqual({ settled: 0, held: 0 });
  await submit(project.ctx, { billingMode: "managed" });
  await expect(submit(project.ctx, { billingMode: "managed" })).rejects.toThrow(/limit for/);
  await limit(project, ofProject(project), { ceilingMicros: price, managedOnly: false });
  const { held } = await holdsOf(project.organizationId);
  expect(await spendOf(project, managed.budgetId)).toEqual({ settled: 0, held });
  await expect(submit(project.ctx, { billingMode: "byok" })).rejects.toThrow(/limit for/);
});

test("a budget that was off counts the spend of that time when it prevents again", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: price * 2 });
  const first = await submit(project.ctx);
  await limit(project, ofProject(project), { ceilingMicros: price * 2, enforcement: "off" });
  await jobs.cancel(operator(project), first.jobId);
  await submitMany(project.ctx, 3);
  expect(await spendOf(project, budgetId)).toEqual({ settled: 0, held: price * 3 });
  await limit(project, ofProject(project), { ceilingMicros: price * 2 });
  expect(await spendOf(project, budgetId)).toEqual({ settled: 0, held: price * 3 });
  expect(await submitMany(project.ctx, 2)).toEqual({ admitted: [], codes: ["BudgetExceeded"] });
});

test("an ambiguous hold counts against a budget that is set later, and blocks the next job", async () => {
  const project = await makeProjectAtNoon();
  const { jobId } = await submit(project.ctx, { model: "sandbox-lost" });
  await run(project, jobId);
  const { hold } = await rowsOf(jobId);
  expect(hold.state).toBe("ambiguous");
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: hold.amount_micros });
  expect(await spendOf(project, budgetId)).toEqual({ settled: 0, held: hold.amount_micros });
  await expect(submit(project.ctx)).rejects.toThrow(/limit for/);
});

test("a charge above the ceiling is counted in full and blocks the next job", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: price * 2 });
  const { jobId } = await submit(project.ctx);
  await pool.query(
    `WITH ended AS (
       UPDATE job SET hold_state = 'settled', hold_settled_micros = $2, hold_resolved_at = now() WHERE id = $1
       RETURNING ${budgets.RESOLUTION_COLUMNS.job}
     ) SELECT ${budgets.resolved("ended", "now()")}`,
    [jobId, price * 5],
  );
  expect(await spendOf(project, budgetId)).toEqual({ settled: price * 5, held: 0 });
  expect(await submitMany(project.ctx, 2)).toEqual({ admitted: [], codes: ["BudgetExceeded"] });
});
