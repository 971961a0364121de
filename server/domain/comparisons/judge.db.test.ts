import { describe, expect, test } from "vitest";
import type { Comparison } from "@/server/contract/comparisons";
import * as audit from "@/server/domain/audit";
import { resolveHold } from "@/server/domain/budgets";
import * as comparisons from "@/server/domain/comparisons";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { campaign } from "@/testing/campaign";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";
import { ask, finished, pinned } from "./comparisons.fixture";

const entryOf = (comparison: Comparison, status: string) =>
  comparison.entries.find((entry) => entry.status === status)?.entryId ?? "";

/** Fields of an entry before the judgement. */
const BLIND = ["artifacts", "charge", "entryId", "error", "jobId", "status", "typedOutput"];

/** Facts that identify a competitor, its cost or its times. */
const OF_MAKERS =
  /sandbox[-/]|"(competitor|provider|providerPin|model|cost|costMicros|startedAt|completedAt|receiptId)"/;

const sumOf = (amounts: (number | null)[]): number | null =>
  amounts.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);

describe("the status of a comparison", () => {
  const CASES = [
    [["1", "2", "slow", "busy"], "completed", { succeeded: 4 }],
    [["1", "2"], "completed", { succeeded: 2 }],
    [["1", "refuse"], "partial", { succeeded: 1, failed: 1 }],
    [["fail", "refuse"], "failed", { failed: 2 }],
    [["1", "lost"], "partial", { succeeded: 1, failed: 1 }],
    [["1", "2", "slow"], "completed", { succeeded: 3 }],
    [["1", "fail", "slow"], "partial", { succeeded: 2, failed: 1 }],
    [["lost", "refuse", "empty"], "failed", { failed: 3 }],
    [["1", "refuse", "fail", "lost"], "partial", { succeeded: 1, failed: 3 }],
  ] as const;
  const chosen = campaign.sample(CASES, ([models, status]) => [...models, status]);
  test.each(chosen)("a comparison of %j ends as %s", async (models, status, counts) => {
    const project = await makeProject();
    const made = await ask(project, pinned(...models));
    const run = (jobId: string) => jobs.run(project.ctx, jobId, inlineStep(project.clock));
    for (const [position, { jobId }] of made.entries.entries()) {
      const before = await comparisons.get(project.ctx, made.comparisonId);
      expect(before).toMatchObject({ status: "running", cost: null, nextAction: "poll" });
      expect(before.entries.slice(position).every((entry) => entry.status === "queued")).toBe(true);
      await run(jobId);
    }
    const done = await comparisons.get(project.ctx, made.comparisonId);
    expect(done).toMatchObject({ status, nextAction: "judge", pollAfterSeconds: null, judgement: null });
    for (const [each, count] of Object.entries(counts))
      expect(done.entries.filter((entry) => entry.status === each)).toHaveLength(count);
    for (const entry of done.entries) {
      expect(Object.keys(entry).sort()).toEqual(BLIND);
      expect(entry.charge).toBeNull();
    }
    expect(JSON.stringify(done.entries)).not.toMatch(OF_MAKERS);

    const all = await Promise.all(done.entries.map(({ jobId }) => rowsOf(jobId)));
    const costs = all.map(({ job }) => job.actual_micros as number | null);
    expect(done.cost === null).toBe(costs.includes(null));
    expect(done).toMatchObject({ providerCostMicros: sumOf(costs), chargedMicros: null });
    expect([done.chargeEstimatedMicros, done.chargeMaximumMicros]).toEqual([
      sumOf(all.map(({ job }) => job.estimated_micros)),
      sumOf(all.map(({ hold }) => hold.amount_micros)),
    ]);
    const { length: lines } = (await comparisons.list(project.ctx, project.projectId, { limit: 5 })).items;
    expect(lines).toBe(1);

    const judged = await comparisons.judge(project.ctx, made.comparisonId, { decision: "none" });
    expect(judged).toMatchObject({ status, nextAction: "stop", judgement: { decision: "none" } });
    expect(judged.chargedMicros).toBe(sumOf(judged.entries.map(({ charge }) => charge!.chargedMicros))); // known since the judgement
    for (const [position, entry] of judged.entries.entries()) {
      const { job } = all[position]!; // rows were read for each entry
      expect(entry).toMatchObject({
        providerPin: `sandbox/${job.model}`,
        competitor: { axis: "provider", providerPin: `sandbox/${job.model}` },
        provider: "sandbox",
        model: job.model,
        costMicros: costs[position],
        providerCostMicros: costs[position],
        startedAt: job.started_at.toISOString(),
        completedAt: job.completed_at.toISOString(),
        receiptId: job.receipt_id,
      });
      expect((await jobs.receipt(project.ctx, entry.jobId)).receiptId).toBe(entry.receiptId);
    }
    if (done.cost !== null)
      expect(done.cost).toBeCloseTo(
        judged.entries.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
        9,
      );
  });

  test("a canceled entry has ended, and one that waits for a person has not", { tags: "long" }, async () => {
    const project = await makeProject();
    const made = await ask(project, pinned("1", "2", "slow"));
    const [canceled, attended, run] = made.entries.map(({ jobId }) => jobId) as [string, string, string];
    await jobs.cancel(project.ctx, canceled);
    await jobs.run(project.ctx, run, inlineStep(project.clock));
    await pool.query("UPDATE job SET status = 'needs_attention' WHERE id = $1", [attended]);
    const waiting = await comparisons.get(project.ctx, made.comparisonId);
    expect(waiting).toMatchObject({ status: "running", nextAction: "poll", cost: null });
    await expect(
      comparisons.judge(project.ctx, made.comparisonId, { decision: "none" }),
    ).rejects.toMatchObject({ code: "JobNotFinished", details: { status: "running" } });
    await jobs.cancel(project.ctx, attended);
    const done = await comparisons.get(project.ctx, made.comparisonId);
    expect(done).toMatchObject({ status: "partial", nextAction: "judge" });
    expect(done.entries.map(({ status }) => status).sort()).toEqual(["canceled", "canceled", "succeeded"]);
  });

  test("an ambiguous charge leaves the cost unknown until the comparison is judged and an operator resolves it", async () => {
    const project = await makeProject();
    const { comparisonId, cost } = await finished(project, await ask(project, pinned("1", "lost")));
    expect(cost).toBeNull();
    const { rows } = await pool.query("SELECT id FROM hold WHERE project_id = $1 AND state = 'ambiguous'", [
      project.projectId,
    ]);
    await comparisons.judge(project.ctx, comparisonId, { decision: "none" });
    expect((await comparisons.get(project.ctx, comparisonId)).cost).toBeNull();
    const looked = { notCharged: true, note: "Looked." } as const;
    await resolveHold(systemCtx("test", project.clock.now), rows[0].id, looked);
    const known = await comparisons.get(project.ctx, comparisonId);
    expect(known.entries.map(({ costMicros }) => costMicros)).toContain(0);
    expect(known.cost).toBeGreaterThan(0);
  });
});

describe("judgement", () => {
  async function ended(project: TestProject, ...models: string[]) {
    return finished(project, await ask(project, pinned(...models)));
  }

  test("a judgement unblinds all jobs of its comparison, and is in the audit log", async () => {
    const project = await makeProject();
    const { comparisonId, ...done } = await ended(project, "1", "2");
    const [best, other] = done.entries.map(({ entryId }) => entryId) as [string, string];
    const verdict = { decision: "winner", overallWinnerEntryId: best, valueWinnerEntryId: other } as const;
    const judged = await comparisons.judge(project.ctx, comparisonId, verdict);
    expect(judged.judgement).toEqual({
      ...verdict,
      judgedBy: project.ctx.principal.id,
      judgedAt: expect.any(String),
    });
    for (const { jobId } of judged.entries) {
      expect((await rowsOf(jobId)).job.is_blind).toBe(false);
      expect((await jobs.get(project.ctx, jobId)).actualCost).not.toBeNull();
    }
    const { items } = await audit.entries(systemCtx("test"), { subjects: [comparisonId], limit: 5 });
    expect(items).toMatchObject([{ action: "comparison.judged", actorId: project.ctx.principal.id }]);
  });

  test("the winner is also the best value by default, a repeated judgement returns the same, and another is refused", async () => {
    const project = await makeProject();
    const { comparisonId, entries } = await ended(project, "1", "2");
    const [best, other] = entries.map(({ entryId }) => entryId) as [string, string];
    const verdict = { decision: "winner", overallWinnerEntryId: best } as const;
    const judged = await comparisons.judge(project.ctx, comparisonId, verdict);
    expect(judged.judgement).toMatchObject({ overallWinnerEntryId: best, valueWinnerEntryId: best });
    expect(
      await comparisons.judge(project.ctx, comparisonId, { ...verdict, valueWinnerEntryId: best }),
    ).toEqual(judged);
    for (const another of [
      { decision: "tie" },
      { decision: "winner", overallWinnerEntryId: other },
      { ...verdict, valueWinnerEntryId: other },
    ] as const)
      await expect(comparisons.judge(project.ctx, comparisonId, another)).rejects.toMatchObject({
        code: "ComparisonJudged",
        details: { comparisonId, decision: "winner" },
      });
    const { items } = await audit.entries(systemCtx("test"), { subjects: [comparisonId], limit: 5 });
    expect(items).toHaveLength(1);
  });

  test("only one of sixteen concurrent judgements counts; equal ones return it, and the others are refused", async () => {
    const project = await makeProject();
    const { comparisonId } = await ended(project, "1", "2");
    const decisions = Array.from({ length: 16 }, (_, at) => (at % 2 ? "tie" : "none"));
    const outcomes = await Promise.allSettled(
      decisions.map((decision) => comparisons.judge(project.ctx, comparisonId, { decision })),
    );
    const { judgement } = await comparisons.get(project.ctx, comparisonId);
    for (const [at, outcome] of outcomes.entries()) {
      if (decisions[at] === judgement?.decision)
        expect(outcome).toMatchObject({ status: "fulfilled", value: { judgement } });
      else expect(outcome).toMatchObject({ status: "rejected", reason: { code: "ComparisonJudged" } });
    }
    const { items } = await audit.entries(systemCtx("test"), { subjects: [comparisonId], limit: 5 });
    expect(items).toHaveLength(1);
  });

  test("a failed entry, an entry of another comparison and a job's id cannot win", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const done = await ended(project, "1", "refuse");
    const elsewhere = await ended(project, "1", "2");
    for (const overallWinnerEntryId of [
      entryOf(done, "failed"),
      entryOf(elsewhere, "succeeded"),
      done.entries[0]?.jobId,
      newId("comparisonEntry"),
    ])
      await expect(
        comparisons.judge(project.ctx, done.comparisonId, { decision: "winner", overallWinnerEntryId }),
      ).rejects.toMatchObject({
        issues: [expect.objectContaining({ loc: ["body", "overallWinnerEntryId"] })],
      });
    expect((await comparisons.get(project.ctx, done.comparisonId)).judgement).toBeNull();
    const winner = { decision: "winner", overallWinnerEntryId: entryOf(done, "succeeded") } as const;
    await comparisons.judge(project.ctx, done.comparisonId, winner);
  });

  test("the database refuses changes of a judgement and of the compared entries", async () => {
    const project = await makeProject();
    const { comparisonId } = await ended(project, "1", "2");
    await comparisons.judge(project.ctx, comparisonId, { decision: "tie" });
    for (const statement of [
      "UPDATE comparison SET decision = 'none' WHERE id = $1",
      "UPDATE comparison SET decision = NULL WHERE id = $1",
      "UPDATE comparison SET seed = 1 WHERE id = $1",
      "DELETE FROM comparison WHERE id = $1",
      "UPDATE comparison_entry SET position = 9 WHERE comparison_id = $1",
      "DELETE FROM comparison_entry WHERE comparison_id = $1",
    ])
      await expect(pool.query(statement, [comparisonId])).rejects.toThrow();
  });

  test("a member can judge a comparison, a viewer only read it, and a stranger gets NotFound", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const { comparisonId } = await ended(project, "1", "2");
    const viewer = await makePerson(project.organizationId, "viewer");
    const member = await makePerson(project.organizationId, "member");
    const { ctx: stranger } = await makeProject();
    const judge = (ctx: typeof stranger) => comparisons.judge(ctx, comparisonId, { decision: "tie" });
    expect((await comparisons.get(viewer.ctx, comparisonId)).comparisonId).toBe(comparisonId);
    // A viewer gets the reason why they may not judge.
    await expect(judge(viewer.ctx)).rejects.toMatchObject({ code: "AuthorizationFailed" });
    for (const ctx of [stranger]) await expect(judge(ctx)).rejects.toMatchObject({ code: "NotFound" });
    expect((await judge(member.ctx)).judgement).toMatchObject({ judgedBy: member.userId });
  });
});

test("the list of comparisons has a line for each, newest first, in pages, and reveals no competitor", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const made = [];
  for (const models of [
    ["1", "2"],
    ["1", "refuse"],
    ["1", "2", "slow"],
  ])
    made.unshift(await ask(project, pinned(...models)));
  await finished(project, made[1]!); // three comparisons were created
  const { projectId, ctx } = project;
  const first = await comparisons.list(ctx, projectId, { limit: 2 });
  const rest = await comparisons.list(ctx, projectId, { limit: 2, cursor: first.nextCursor ?? "" });
  const lines = [...first.items, ...rest.items];
  expect(lines.map(({ comparisonId, status, entryCount }) => [comparisonId, status, entryCount])).toEqual([
    [made[0]?.comparisonId, "running", 3],
    [made[1]?.comparisonId, "partial", 2],
    [made[2]?.comparisonId, "running", 2],
  ]);
  expect(rest.nextCursor).toBeNull();
  expect(JSON.stringify(lines)).not.toMatch(OF_MAKERS);
  await expect(comparisons.list(ctx, projectId, { limit: 2, cursor: newId("job") })).rejects.toMatchObject({
    issues: [expect.objectContaining({ loc: ["query", "cursor"] })],
  });
});
