import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { HOUR_MS } from "@/server/platform/time/units";
import { makeProjectAtNoon } from "@/testing/world";
import * as budgets from ".";
import { input, limit, ofProject, operator, priceIn, run, submit, submitMany, TEXT } from "./attack.fixture";

test("under a full budget a replay returns the first job, free work runs, and a refusal writes nothing", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  await limit(project, ofProject(project), { ceilingMicros: price });
  const first = await submit(project.ctx, { key: "once" });
  expect((await submit(project.ctx, { key: "once" })).jobId).toBe(first.jobId);
  const count = async () => {
    const { rows } = await pool.query(
      `SELECT (SELECT count(*) FROM job WHERE project_id = $1) AS jobs,
         (SELECT count(*) FROM payload WHERE project_id = $1) AS payloads,
         (SELECT count(*) FROM hold WHERE project_id = $1) AS holds,
         (SELECT count(*) FROM job_event WHERE project_id = $1) AS events,
         (SELECT held_micros + settled_micros FROM budget_window w JOIN budget b ON b.id = w.budget_id
          WHERE b.project_id = $1 AND is_test) AS counted,
         (SELECT held_micros FROM wallet WHERE organization_id = $2 AND is_test) AS wallet`,
      [project.projectId, project.organizationId],
    );
    return rows[0];
  };
  const before = await count();
  await expect(submit(project.ctx, { key: "twice" })).rejects.toMatchObject({
    code: "BudgetExceeded",
    details: { scope: `project:${project.projectId}`, enforcement: "prevent", available: 0 },
  });
  expect(await count()).toEqual(before);
  const free = await jobs.invoke(project.ctx, "compute.evaluate.v1", { input: { expression: "1 + 1" } });
  expect(free.status).toBe("succeeded");
});

test("a budget that warns or is off never blocks, and exceeding one that warns is reported on the job and by an event", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  await limit(project, ofProject(project), { ceilingMicros: price * 2, enforcement: "warn" });
  await limit(project, ofProject(project), { ceilingMicros: 0, enforcement: "off", period: "month" });
  const { admitted, codes } = await submitMany(project.ctx, 5);
  expect([admitted.length, codes]).toEqual([5, []]);
  const shown = await Promise.all(admitted.map((jobId) => jobs.get(project.ctx, jobId)));
  expect(shown.filter(({ warnings }) => warnings.length > 0)).toHaveLength(3);
  const next = await submit(project.ctx);
  const warning = {
    code: "BudgetExceeded",
    scope: `project:${project.projectId}`,
    period: "day",
    enforcement: "warn",
    estimatedCost: price / 1e6,
    remaining: 0,
    ceiling: (price * 2) / 1e6,
  };
  expect(next.warnings).toEqual([warning]);
  expect((await jobs.get(project.ctx, next.jobId)).warnings).toEqual([warning]);
  const { events } = await jobs.events(project.ctx, next.jobId, { limit: 10 });
  expect(events.map(({ id, type }) => [id, type])).toEqual([
    ["1", "job.queued"],
    ["2", "job.budget_warning"],
  ]);
  expect(events[1]?.payload).toEqual(warning);
  const result = await jobs.invoke(project.ctx, TEXT, { input });
  expect(result.warnings).toMatchObject([{ scope: `project:${project.projectId}`, enforcement: "warn" }]);
  await run(project, next.jobId);
  expect((await jobs.get(project.ctx, next.jobId)).status).toBe("succeeded");
});

test("a request can turn a warning ceiling into a preventing one, but not the reverse", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  await limit(project, ofProject(project), { ceilingMicros: price, enforcement: "warn" });
  await submit(project.ctx);
  await expect(submit(project.ctx, { enforcement: "prevent" })).rejects.toMatchObject({
    code: "BudgetExceeded",
    details: { scope: `project:${project.projectId}`, enforcement: "prevent" },
  });
  // The strict request is refused even if it shares a statement with a mild one.
  const [strict, mild] = await Promise.allSettled([
    submit(project.ctx, { enforcement: "prevent" }),
    submit(project.ctx, { enforcement: "warn" }),
  ]);
  expect([strict.status, mild.status]).toEqual(["rejected", "fulfilled"]);
  await limit(project, ofProject(project), { ceilingMicros: price });
  for (const enforcement of ["warn", "off"])
    await expect(submit(project.ctx, { enforcement })).rejects.toMatchObject({ code: "BudgetExceeded" });
});

test("a temporary increase makes room until it expires, and the jobs that it admitted stay counted", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const ctx = operator(project);
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: price, period: "total" });
  await submit(project.ctx);
  await expect(submit(project.ctx)).rejects.toThrow(/limit for/);
  const until = new Date(project.clock.now().getTime() + HOUR_MS).toISOString();
  const raised = await budgets.increase(ctx, { budgetId, amountMicros: price, until, reason: "launch" });
  expect(raised).toMatchObject({
    effectiveCeilingMicros: price * 2,
    temporaryIncrease: { reason: "launch" },
  });
  await submit(project.ctx);
  await expect(submit(project.ctx)).rejects.toThrow(/limit for/);
  project.clock.advance(3_600_001);
  const later = await budgets.get(operator(project), budgetId);
  expect(later).toMatchObject({ effectiveCeilingMicros: price, temporaryIncrease: null });
  expect(later.testSpend).toMatchObject({ heldMicros: price * 2, availableMicros: 0 });
  await expect(submit(project.ctx)).rejects.toThrow(/limit for/);
  await expect(
    budgets.increase(ctx, { budgetId, amountMicros: 1, until, reason: "too late" }),
  ).rejects.toMatchObject({ issues: [{ loc: ["body", "until"] }] });
});

test("each step of 50, 80 and 100 % is reported once, and again only after another ceiling is set", async () => {
  const project = await makeProjectAtNoon();
  const price = await priceIn(project);
  const { budgetId } = await limit(project, ofProject(project), { ceilingMicros: price * 10 });
  const percents = async () => {
    const { rows } = await pool.query<{ percent: number }>(
      // The clock does not move in this test, so the ids have no meaningful order.
      "SELECT percent FROM budget_alert WHERE budget_id = $1 ORDER BY percent",
      [budgetId],
    );
    return rows.map((row) => row.percent);
  };
  await submitMany(project.ctx, 4);
  expect(await percents()).toEqual([]);
  await submitMany(project.ctx, 1);
  expect(await percents()).toEqual([50]);
  const { admitted } = await submitMany(project.ctx, 6);
  expect(await percents()).toEqual([50, 80, 100]);
  await jobs.cancel(operator(project), admitted[0]!);
  await submitMany(project.ctx, 1);
  await limit(project, ofProject(project), { ceilingMicros: price * 10 });
  expect(await percents()).toEqual([50, 80, 100]);
  await limit(project, ofProject(project), { ceilingMicros: price * 18 });
  expect(await percents()).toEqual([50, 80, 100]);
  await submitMany(project.ctx, 5);
  expect(await percents()).toEqual([50, 80, 80, 100]);
  await limit(project, ofProject(project), { ceilingMicros: price });
  expect(await percents()).toEqual([50, 80, 80, 100, 100]);
});
