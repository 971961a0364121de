/** @module-tag long */
import { expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";
import * as billing from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { compareDrawings } from "@/server/domain/jobs/reading/blind.fixture";
import * as usage from "@/server/domain/usage";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { inlineStep, makeProject } from "@/testing/world";

/** Three models of the sandbox: the second costs half, and the third returns one picture too few. */
const MODELS = ["sandbox-1", "sandbox-2", "sandbox-partial"];
const WANTED = { models: MODELS, input: { prompt: "A kite", variantCount: 2 } };

async function makeCompared() {
  const world = await makeProject();
  const { principal } = world.ctx;
  if (principal.kind !== "service_principal") throw new Error("a project's context is a key's");
  const ctx = { ...world.ctx, principal: { ...principal, scopes: new Set(SCOPES) } };
  const system = systemCtx("test", world.clock.now);
  for (const [period, enforcement] of [
    ["day", "prevent"],
    ["month", "warn"],
    ["total", "off"],
  ] as const)
    await budgets.set(system, {
      owner: { projectId: world.projectId },
      period,
      ceilingMicros: 5_000_000,
      enforcement,
    });
  const compared = await compareDrawings({ ...world, ctx }, WANTED);
  const run = async (jobId: string) => {
    await jobs.run(ctx, jobId, inlineStep(world.clock));
    return jobs.get(ctx, jobId);
  };
  return { ...world, ctx, system, ...compared, run };
}

/** Returns everything that shows money to the organization as text, without update times. */
async function shownOf({
  ctx,
  system,
  projectId,
  organizationId,
  clock,
  jobIds,
}: Awaited<ReturnType<typeof makeCompared>>) {
  const today = clock.now().toISOString().slice(0, 10);
  const tomorrow = new Date(clock.now().getTime() + DAY_MS).toISOString().slice(0, 10);
  const file = await usage.usageFile(ctx, { from: today, to: tomorrow, projectId });
  const pieces: Uint8Array[] = [];
  for await (const piece of file.content) pieces.push(piece);
  const { items } = await budgets.list(system, { projectId });
  const shown = {
    wallet: await billing.wallet(ctx),
    funds: await billing.fundsOf(organizationId, true),
    transactions: (await billing.walletTransactions(ctx, { limit: 50 })).items,
    holds: (await budgets.listHolds(ctx, {})).items,
    budgets: items.map(({ updatedAt: _, ...budget }) => budget),
    summary: (await usage.summary(ctx, { days: 7, projectId })).test,
    days: (await usage.days(ctx, projectId, 7)).rows,
    benchmarks: (await usage.benchmarks(ctx, "image.generate.v1", projectId)).coverage.executions,
    costs: await Promise.all(jobIds.map((jobId) => usage.cost(ctx, jobId))),
    file: Buffer.concat(pieces).toString("utf8"),
  };
  return JSON.stringify(shown);
}

const reveal = (comparisonId: string) =>
  pool.query("UPDATE job SET is_blind = false WHERE comparison_id = $1", [comparisonId]);

test("totals are exact after every end, and a comparison is one line until it is judged, then one per entry", async () => {
  const world = await makeCompared();
  const [first, second, third] = world.jobIds as [string, string, string];
  await world.run(first);
  const { rows: held } = await pool.query<{ held: number; settled: number }>(
    `SELECT coalesce(sum(amount_micros) FILTER (WHERE state = 'open'), 0)::bigint AS held, sum(settled_micros)::bigint AS settled
     FROM hold JOIN job ON job.id = execution_id WHERE job.comparison_id = $1`,
    [world.comparisonId],
  );
  const halfway = JSON.parse(await shownOf(world));
  for (const { testSpend } of halfway.budgets)
    expect(testSpend).toMatchObject({ heldMicros: held[0]?.held, settledMicros: held[0]?.settled });
  expect(halfway.holds).toMatchObject([
    { executionId: world.comparisonId, amountMicros: held[0]?.held, state: "open" },
  ]);
  expect(halfway.transactions).toMatchObject([
    { jobId: null, comparisonId: world.comparisonId, amount: { amountMicros: -(held[0]?.settled ?? 0) } },
  ]);
  expect(halfway.summary.totals).toMatchObject({
    executions: 3,
    unfinished: 2,
    unjudged: 1,
    chargedMicros: held[0]?.settled,
  });
  expect(JSON.stringify(halfway)).not.toMatch(/sandbox|job_[0-9A-Z]{26}/);
  await world.run(second);
  expect((await world.run(third)).status).toBe("succeeded");

  const { rows } = await pool.query<{ settled: number; actual: number }>(
    "SELECT settled_micros AS settled, actual_micros AS actual FROM hold JOIN job ON job.id = execution_id WHERE job.comparison_id = $1",
    [world.comparisonId],
  );
  const sum = (of: (row: { settled: number; actual: number }) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const [charged, cost] = [sum(({ settled }) => settled), sum(({ actual }) => actual)];
  expect(new Set(rows.map(({ settled }) => settled)).size).toBeGreaterThan(1);
  const after = await shownOf(world);
  for (const { settled, actual } of rows) {
    expect(after).not.toMatch(new RegExp(`(?<![\\d.])(${settled}|${actual})(?!\\d)`));
    expect(after).not.toContain(`${settled / 1_000_000}`);
  }
  expect(after).not.toMatch(/sandbox|succeeded":[1-9]/);
  const shown = JSON.parse(after);
  expect(shown.transactions).toMatchObject([
    {
      jobId: null,
      comparisonId: world.comparisonId,
      pricingVersion: null,
      amount: { amountMicros: -charged },
    },
  ]);
  expect(shown.summary.totals).toMatchObject({
    executions: 3,
    unfinished: 0,
    unjudged: 3,
    providerCostMicros: cost,
    chargedMicros: charged,
  });
  expect(shown.summary.byProvider).toMatchObject([{ provider: null, chargedMicros: charged }]);
  for (const { testSpend } of shown.budgets)
    expect(testSpend).toMatchObject({ settledMicros: charged, heldMicros: 0 });
  expect(shown.holds).toEqual([]);
  const lines = shown.file.trim().split("\r\n");
  expect(lines).toHaveLength(2);
  // Test money is never billed: the charge is in the list price and in the export's own column.
  expect(lines[1]).toMatch(new RegExp(`^0,0,${charged / 1_000_000},.*${world.comparisonId}.*unjudged`));

  await reveal(world.comparisonId);
  const judged = JSON.parse(await shownOf(world));
  expect(judged.transactions.map((each: { jobId: string }) => each.jobId).toSorted()).toEqual(
    world.jobIds.toSorted(),
  );
  expect(judged.summary.totals).toMatchObject({
    succeeded: 3,
    unfinished: 0,
    unjudged: 0,
    chargedMicros: charged,
  });
  expect(judged.summary.byModel).toHaveLength(3);
  expect(judged.file.trim().split("\r\n")).toHaveLength(4);
});

test("a counted day with a blind comparison is counted again after the judgement", async () => {
  const world = await makeCompared();
  for (const jobId of world.jobIds) await world.run(jobId);
  world.clock.advance(2 * DAY_MS);
  const totals = async () => (await usage.summary(world.ctx, { days: 7, projectId: world.projectId })).test;
  await usage.rollUp(world.system);
  expect((await totals()).byProvider).toMatchObject([
    { provider: null, executions: 3, succeeded: 0, unfinished: 0, unjudged: 3 },
  ]);
  await reveal(world.comparisonId);
  expect((await totals()).byProvider).toMatchObject([{ provider: "sandbox", executions: 3, succeeded: 3 }]);
  await usage.rollUp(world.system);
  expect((await totals()).byProvider).toMatchObject([{ provider: "sandbox", executions: 3, succeeded: 3 }]);
});

test("an unconfirmed charge is on the hold of its comparison, and is resolved after the judgement", async () => {
  const world = await makeCompared();
  const [first, ...others] = world.jobIds;
  for (const jobId of others) await world.run(jobId);
  await pool.query(
    "UPDATE job SET status = 'failed', completed_at = now(), hold_state = 'ambiguous' WHERE id = $1",
    [first],
  );
  const { totals } = (await usage.summary(world.ctx, { days: 7, projectId: world.projectId })).test;
  const { rows: settled } = await pool.query<{ sum: number }>(
    "SELECT sum(settled_micros)::bigint AS sum FROM hold JOIN job ON job.id = execution_id WHERE comparison_id = $1",
    [world.comparisonId],
  );
  expect(totals).toMatchObject({ unfinished: 0, unjudged: 3, chargedMicros: settled[0]?.sum });
  const [hold] = (await budgets.listHolds(world.ctx, {})).items;
  const { rows } = await pool.query<{ sum: number }>(
    "SELECT sum(amount_micros)::bigint AS sum FROM hold WHERE execution_id = $1",
    [first],
  );
  expect(hold).toMatchObject({
    executionId: world.comparisonId,
    amountMicros: rows[0]?.sum,
    state: "ambiguous",
  });
  const resolve = (holdId: string) =>
    budgets.resolveHold(world.system, holdId, { notCharged: true, note: "x" }).catch(({ code }) => code);
  for (const id of [hold!.holdId, ...world.jobIds.map((jobId) => `hold_${jobId.slice(-26)}`)])
    expect(await resolve(id), id).toBe("ComparisonUnjudged");
  await reveal(world.comparisonId);
  const [own] = (await budgets.listHolds(world.ctx, {})).items;
  expect(own).toMatchObject({ executionId: first });
  expect(await resolve(own!.holdId)).toMatchObject({ state: "released" });
});
