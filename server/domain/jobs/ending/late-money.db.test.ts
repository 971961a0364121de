import fc from "fast-check";
import { expect, test } from "vitest";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import { ending, unseen } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { HOUR_MS } from "@/server/platform/time/units";
import { campaign } from "@/testing/campaign";
import { inlineStep, makeProjectAtNoon, type TestProject } from "@/testing/world";
import { lastAttemptOf } from "../rows";
import { QUESTION } from "../running/recovery.fixture";
import { readJob } from "../running/work";
import { settleLateAnswer } from "./after-end";

/*
 * Random histories of managed jobs and of everything that may end their holds late, under a budget that
 * prevents overspending. After each step the settled, open and ambiguous amounts stay within the ceiling, and
 * the budget has counted exactly those amounts.
 */

const FITS = 4;

type World = { project: TestProject; budgetId: string; ceiling: number; at: number };
const operator = ({ project }: World) => systemCtx("admin", project.clock.now);

/** Submits a job and runs it if `hasEnded`. A job that the budget refuses is a valid step as well. */
const runs = (model: string, hasEnded: boolean) => async (world: World) => {
  const { project } = world;
  const submitted = jobs.submit(project.ctx, "text.general.fast.v1", {
    input: QUESTION,
    execution: { executionConstraints: { preferredModel: model } },
  });
  const job = await submitted.catch((cause) => {
    if (cause instanceof Fault && cause.code === "BudgetExceeded") return null;
    throw cause;
  });
  if (job && hasEnded)
    await jobs.run(systemCtx("worker", project.clock.now), job.jobId, inlineStep(project.clock));
};

/** One hold in this state, chosen by `at`; null if there is none. */
async function someHold({ project, at }: World, state: string) {
  const { rows } = await pool.query<{ id: string; execution_id: string; amount_micros: number }>(
    "SELECT id, execution_id, amount_micros FROM hold WHERE project_id = $1 AND state = $2 ORDER BY id",
    [project.projectId, state],
  );
  return rows[at % Math.max(1, rows.length)] ?? null;
}

const answersLate = (share: number) => async (world: World) => {
  const hold = await someHold(world, "ambiguous");
  if (!hold) return;
  const job = (await readJob(hold.execution_id))!;
  const costMicros = Math.round(hold.amount_micros * share);
  const late = ending("result", { ...unseen("attempted"), costMicros });
  await settleLateAnswer(job, (await lastAttemptOf(job))!, late, world.project.clock.now());
};

const resolves = (share: number) => async (world: World) => {
  const hold = await someHold(world, "ambiguous");
  const chargedMicros = Math.round((hold?.amount_micros ?? 0) * share);
  if (hold) await budgets.resolveHold(operator(world), hold.id, { chargedMicros, note: "Looked." });
};

const writesOff = (world: World) =>
  jobs.writeOff(operator(world), { afterHours: 1, projectId: world.project.projectId });

const STEPS: Record<string, (world: World) => Promise<unknown>> = {
  "an answer": runs("sandbox-1", true),
  "a loss": runs("sandbox-lost", true),
  "a refusal": runs("sandbox-refuse", true),
  "an error": runs("sandbox-fail", true),
  "a job that waits": runs("sandbox-1", false),
  "a cancel": async (world) => {
    const hold = await someHold(world, "open");
    if (hold) await jobs.cancel(operator(world), hold.execution_id);
  },
  "a late answer": answersLate(0.4),
  "a late answer above the hold": answersLate(3),
  "a person": resolves(0.5),
  "a person who found more than the hold": resolves(2),
  "write-offs two hours later": async (world) => {
    world.project.clock.advance(2 * HOUR_MS);
    await writesOff(world);
  },
};

async function check({ project, budgetId, ceiling }: World, step: string) {
  const { rows } = await pool.query<{ settled: number; held: number }>(
    `SELECT coalesce(sum(settled_micros), 0)::bigint AS settled,
       coalesce(sum(amount_micros) FILTER (WHERE state IN ('open', 'ambiguous')), 0)::bigint AS held
     FROM hold WHERE project_id = $1`,
    [project.projectId],
  );
  const { settled, held } = rows[0]!;
  expect(settled + held, step).toBeLessThanOrEqual(ceiling);
  const { testSpend } = await budgets.get(systemCtx("test", project.clock.now), budgetId);
  expect({ settled: testSpend.settledMicros, held: testSpend.heldMicros }, step).toEqual({ settled, held });
  const wallet = await pool.query<{ held_micros: number }>(
    "SELECT held_micros FROM wallet WHERE organization_id = $1 AND is_test",
    [project.organizationId],
  );
  expect(wallet.rows[0]?.held_micros, step).toBe(held);
  const ledger = await pool.query<{ sum: number; charged: number }>(
    `SELECT coalesce(sum(amount_micros), 0)::bigint AS sum,
       coalesce(-sum(amount_micros) FILTER (WHERE kind = 'charge'), 0)::bigint AS charged
     FROM ledger_entry WHERE project_id = $1`,
    [project.projectId],
  );
  expect(ledger.rows[0], step).toEqual({ sum: 0, charged: settled });
}

async function makeWorld(): Promise<World> {
  const project = await makeProjectAtNoon();
  const probe = await jobs.submit(project.ctx, "text.general.fast.v1", { input: QUESTION });
  const { rows } = await pool.query<{ amount_micros: number }>(
    "SELECT amount_micros FROM hold WHERE execution_id = $1",
    [probe.jobId],
  );
  const ceiling = FITS * (rows[0]?.amount_micros ?? 0) + 1;
  const { budgetId } = await budgets.set(systemCtx("admin", project.clock.now), {
    owner: { projectId: project.projectId },
    period: "total",
    ceilingMicros: ceiling,
    enforcement: "prevent",
    managedOnly: true,
  });
  return { project, budgetId, ceiling, at: 0 };
}

test("settled, open and ambiguous amounts stay within the ceiling after every step, late answers and write-offs included", async () => {
  const met = new Set<string>();
  const history = fc.array(fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat(9)), {
    minLength: 24,
    maxLength: 24,
  });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const world = await makeWorld();
      for (const [name, at] of steps) {
        await STEPS[name]!({ ...world, at });
        await check(world, name);
        met.add(name);
      }
      const { rows } = await pool.query<{ resolution: string }>(
        "SELECT DISTINCT resolution FROM hold WHERE project_id = $1 AND resolution IS NOT NULL",
        [world.project.projectId],
      );
      for (const { resolution } of rows) met.add(resolution);
    }),
    { ...campaign.runs({ small: 5, full: 150 }), endOnFailure: true },
  );
  for (const what of [...Object.keys(STEPS), "person", "late_answer", "written_off"])
    expect(met).toContain(what);
}, 300_000);

test("when a person, a late answer and write-offs act at once, one of them ends the hold", async () => {
  const world = await makeWorld();
  for (let round = 0; round < 5; round++) {
    await STEPS["a loss"]!(world);
    world.project.clock.advance(2 * HOUR_MS);
    const late = [answersLate(0.4), resolves(0.5), writesOff, writesOff].map((end) => end(world));
    for (const outcome of await Promise.allSettled(late))
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "HoldNotAmbiguous" });
    expect(await someHold(world, "ambiguous")).toBeNull();
    await check(world, `round ${round}`);
  }
});
