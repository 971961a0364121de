/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { ComparisonEstimateRequest } from "@/server/contract/comparisons";
import * as budgets from "@/server/domain/budgets";
import * as comparisons from "@/server/domain/comparisons";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { createComparisonKilledAt } from "@/testing/processes";
import { makeProject, rowsOf } from "@/testing/world";
import { ask, finished, NOTHING, pinned, QUESTION, TEXT, written } from "./comparisons.fixture";
import { shuffled } from "./create";

/** Returns the places of the entries' competitors in the request. */
async function placesOf(comparisonId: string, asked: string[]): Promise<number[]> {
  const { rows } = await pool.query<{ model: string }>(
    `SELECT model FROM comparison_entry entry JOIN job ON job.id = entry.job_id
     WHERE entry.comparison_id = $1 ORDER BY position`,
    [comparisonId],
  );
  return rows.map(({ model }) => asked.indexOf(model.replace("sandbox-", "")));
}

describe("admission", () => {
  const MODELS = ["1", "2", "slow", "fail"];

  test("a budget warning for one competitor appears in no event, and the hold is listed for the comparison only", async () => {
    const project = await makeProject();
    const asked = { competitors: pinned("1", "2"), input: QUESTION };
    const { total, competitors } = await comparisons.estimate(project.ctx, TEXT, asked);
    const least = Math.min(...competitors.map(({ maximumCostMicros }) => maximumCostMicros));
    expect(least).toBeLessThan(total.maximumCostMicros - least);
    await budgets.set(systemCtx("test"), {
      owner: { projectId: project.projectId },
      period: "month",
      ceilingMicros: total.maximumCostMicros - 1,
      enforcement: "warn",
    });
    const made = await ask(project, pinned("1", "2"));
    const all = await Promise.all(made.entries.map(({ jobId }) => rowsOf(jobId)));
    const warned = all.filter(({ job }) => job.warnings.length > 0);
    expect(warned).toHaveLength(1);
    const shown = await Promise.all(
      made.entries.map(({ jobId }) => jobs.events(project.ctx, jobId, { limit: 10 })),
    );
    expect(shown.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ["job.queued"],
      ["job.queued"],
    ]);
    const { rows } = await pool.query("SELECT id, execution_id FROM hold_line WHERE project_id = $1", [
      project.projectId,
    ]);
    const { comparisonId } = made;
    expect(rows).toEqual([{ id: `hold_${comparisonId.slice(-26)}`, execution_id: comparisonId }]);
  });

  test("every competitor is a queued blind job with a hold, in the order that the stored seed draws", async () => {
    const project = await makeProject();
    const made = await ask(project, pinned(...MODELS), {
      workloadTags: { run: 7 },
      tags: ["bake-off"],
      intent: "golden_regression",
    });
    expect(made).toMatchObject({
      status: "running",
      intent: "golden_regression",
      workloadTags: { run: 7 },
      tags: ["bake-off"],
      idempotencyKey: null,
      judgement: null,
      cost: null,
      nextAction: "poll",
    });
    expect(await written(project)).toEqual({
      comparison: 1,
      comparison_entry: 4,
      job: 4,
      hold: 4,
      payload: 4,
      job_event: 4,
    });
    const { rows } = await pool.query("SELECT * FROM comparison WHERE id = $1", [made.comparisonId]);
    expect(await placesOf(made.comparisonId, MODELS)).toEqual(shuffled(4, rows[0].seed));
    const all = await Promise.all(made.entries.map(({ jobId }) => rowsOf(jobId)));
    expect(rows[0]).toMatchObject({
      estimated_micros: all.reduce((sum, { job }) => sum + job.estimated_micros, 0),
      maximum_micros: all.reduce((sum, { hold }) => sum + hold.amount_micros, 0),
    });
    for (const [position, { job, events }] of all.entries()) {
      expect(job).toMatchObject({
        is_blind: true,
        comparison_id: made.comparisonId,
        tags: ["bake-off"],
        status: "queued",
        dispatch_state: "pending",
        idempotency_key: made.entries[position]?.entryId,
      });
      expect(job.created_at).toEqual(rows[0].created_at);
      expect(events.map(({ type }) => type)).toEqual(["job.queued"]);
    }
    // Ids are created in the order of the entries, at one moment.
    for (const ids of [made.entries.map(({ jobId }) => jobId), made.entries.map(({ entryId }) => entryId)])
      expect(ids).toEqual([...ids].sort());
  });

  test("seeds draw each order about equally often, and one seed always draws the same", () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 6_000; seed++) {
      const order = shuffled(3, seed);
      expect(shuffled(3, seed)).toEqual(order);
      counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  test("over twelve comparisons of the same two models, each is first in some", async () => {
    const project = await makeProject();
    const firsts = new Set<number | undefined>();
    for (let at = 0; at < 12; at++) {
      const { comparisonId } = await ask(project, pinned("1", "2"));
      firsts.add((await placesOf(comparisonId, ["1", "2"]))[0]);
    }
    expect(firsts.size).toBe(2); // both are first, except once in two thousand runs
  });

  test("if one job needs approval all wait for it, and no job reveals more than another", async () => {
    const project = await makeProject();
    const models = pinned("1", "2");
    const { competitors } = await comparisons.estimate(project.ctx, TEXT, {
      competitors: models,
      input: QUESTION,
    });
    const [cheap = 0, dear = 0] = competitors
      .map(({ estimatedCostMicros }) => estimatedCostMicros)
      .sort((a, b) => a - b);
    expect(cheap).toBeLessThan(dear);
    await pool.query("UPDATE project SET approval_threshold_micros = $2 WHERE id = $1", [
      project.projectId,
      cheap,
    ]);
    const made = await ask(project, models);
    expect(made.entries.map(({ status }) => status)).toEqual(["awaiting_approval", "awaiting_approval"]);
    expect(made).toMatchObject({ status: "running", nextAction: "poll" });
    const all = await Promise.all(made.entries.map(({ jobId }) => rowsOf(jobId)));
    expect(all[0]?.job.approval).toEqual(all[1]?.job.approval);
    expect(all[0]?.job.approval).toMatchObject({ estimatedMicros: dear });
    for (const { events, job, hold } of all) {
      expect(events.map(({ type }) => type)).toEqual(["job.awaiting_approval"]);
      expect(job.dispatch_state).toBe("none");
      expect(hold.state).toBe("open");
    }
    const [first, second] = made.entries.map(({ jobId }) => jobId);
    await jobs.approve(systemCtx("person", project.clock.now), first ?? "");
    await jobs.reject(systemCtx("person", project.clock.now), second ?? "");
    expect((await finished(project, made)).status).toBe("partial");
  });

  test("if a process dies before it wakes a comparison's jobs, the sweeper dispatches all of them", async () => {
    const project = await makeProject();
    const request = {
      projectId: project.projectId,
      capability: TEXT,
      competitors: pinned("1", "2"),
      input: QUESTION,
    };
    expect(await createComparisonKilledAt(request, "after-admission")).toBe("SIGKILL");
    const [line] = (await comparisons.list(project.ctx, project.projectId, { limit: 10 })).items;
    const made = await comparisons.get(project.ctx, line?.comparisonId ?? "");
    expect(made.entries.map(({ status }) => status)).toEqual(["queued", "queued"]);
    project.clock.advance(11_000);
    await jobs.sweep(project.ctx, project);
    for (const { jobId } of made.entries)
      expect((await rowsOf(jobId)).job).toMatchObject({ dispatch_state: "pending", dispatch_number: 2 });
    expect((await finished(project, made)).status).toBe("completed");
  });
});

describe("idempotency", () => {
  test("concurrent requests under one key create one comparison, and all get it", async () => {
    const project = await makeProject();
    const again = () => ask(project, pinned("1", "2"), { idempotencyKey: "once" });
    const answers = await Promise.all(Array.from({ length: 12 }, again));
    expect(new Set(answers.map(({ comparisonId }) => comparisonId)).size).toBe(1);
    expect(await written(project)).toMatchObject({ comparison: 1, comparison_entry: 2, job: 2, hold: 2 });
    expect(await again()).toEqual(answers[0]);
  });

  test("different concurrent requests under one key create one comparison, and the others are conflicts", async () => {
    const project = await makeProject();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        ask(project, pinned("1", "2"), { idempotencyKey: "once", workloadTags: { n } }),
      ),
    );
    const made = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value.comparisonId] : []));
    expect(made).toHaveLength(1);
    for (const each of outcomes)
      if (each.status === "rejected")
        expect(each.reason).toMatchObject({ code: "IdempotencyConflict", details: { jobId: made[0] } });
    expect(await written(project)).toMatchObject({ comparison: 1, job: 2, hold: 2 });
  });

  test("an idempotency key is unique among a project's comparisons, and a job may use the same key", async () => {
    const [project, other] = [await makeProject(), await makeProject()];
    const key = { idempotencyKey: "shared" };
    const job = await jobs.submit(project.ctx, TEXT, { input: QUESTION, ...key });
    const one = await ask(project, pinned("1", "2"), key);
    const two = await ask(other, pinned("1", "2"), key);
    expect(new Set([job.jobId, one.comparisonId, two.comparisonId]).size).toBe(3);
  });

  test("a replay returns the current comparison, even if it could no longer be created", async () => {
    const project = await makeProject();
    const key = { idempotencyKey: "later" };
    const done = await finished(project, await ask(project, pinned("1", "2"), key));
    await pool.query("UPDATE wallet SET balance_micros = 0 WHERE organization_id = $1", [
      project.organizationId,
    ]);
    expect(await ask(project, pinned("1", "2"), key)).toEqual(done);
  });
});

describe("money", () => {
  let maximum: number;
  beforeAll(async () => {
    const { ctx } = await makeProject();
    const asked = { competitors: pinned("1", "2"), input: QUESTION };
    maximum = (await comparisons.estimate(ctx, TEXT, asked)).total.maximumCostMicros;
  });

  test("a budget with room for three admits three whole comparisons of twenty, and the counts agree", async () => {
    const project = await makeProject();
    const { projectId } = project;
    const limits = {
      period: "total",
      ceilingMicros: 3 * maximum + maximum / 2,
      enforcement: "prevent",
    } as const;
    await budgets.set(systemCtx("test"), {
      owner: { projectId },
      ...limits,
      ceilingMicros: Math.floor(limits.ceilingMicros),
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => ask(project, pinned("1", "2"))),
    );
    const made = outcomes.filter(({ status }) => status === "fulfilled");
    for (const each of outcomes)
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "BudgetExceeded" });
    expect(made).toHaveLength(3);
    expect(await written(project)).toMatchObject({
      comparison: 3,
      comparison_entry: 6,
      job: 6,
      hold: 6,
      payload: 6,
    });
    const { rows } = await pool.query(
      `SELECT sum(held_micros)::bigint AS held_micros, (SELECT sum(amount_micros)::bigint FROM hold WHERE project_id = $1) AS holds
       FROM budget_window w JOIN budget b ON b.id = w.budget_id WHERE b.project_id = $1`,
      [projectId],
    );
    expect(rows).toEqual([{ held_micros: 3 * maximum, holds: 3 * maximum }]);
  });

  test("funds for only one competitor create no comparison and reserve nothing", async () => {
    const project = await makeProject({ walletMicros: maximum - 1 });
    await expect(ask(project, pinned("1", "2"))).rejects.toMatchObject({ code: "funding_required" });
    expect(await written(project)).toEqual(NOTHING);
    const other = await makeProject({ walletMicros: maximum });
    await ask(other, pinned("1", "2"));
    expect(await written(other)).toMatchObject({ comparison: 1, hold: 2 });
  });

  test("a competitor that cannot be planned refuses the comparison, with its place in the request", async () => {
    const project = await makeProject();
    await expect(ask(project, pinned("1", "2", "gone"))).rejects.toMatchObject({
      code: "ROUTE_UNAVAILABLE",
      details: { competitor: 2, field: "competitors.2.providerPin" },
    });
    expect(await written(project)).toEqual(NOTHING);
  });

  test("an estimate equals the costs of the comparison and writes nothing, and no id of the comparison can be used as a quote", async () => {
    const project = await makeProject();
    const asked = ComparisonEstimateRequest.parse({ competitors: pinned("1", "2"), input: QUESTION });
    const estimate = await comparisons.estimate(project.ctx, TEXT, asked);
    expect(JSON.stringify(estimate)).not.toMatch(/quote_|cmp_|cent_|"id"/);
    expect(await written(project)).toEqual(NOTHING);
    const { rows } = await pool.query("SELECT FROM retail_quote WHERE project_id = $1", [project.projectId]);
    expect(rows).toEqual([]);
    const made = await ask(project, pinned("1", "2"));
    expect([made.estimatedCost, made.maximumCost]).toEqual([
      estimate.total.estimatedCost,
      estimate.total.maximumCost,
    ]);
    for (const quoteId of [made.comparisonId, made.entries[0]?.entryId])
      await expect(
        jobs.submit(project.ctx, TEXT, { input: QUESTION, execution: { quoteId: quoteId ?? "" } }),
      ).rejects.toMatchObject({ code: "QUOTE_MISMATCH", details: { reason: "comparison_estimate" } });
  });
});
