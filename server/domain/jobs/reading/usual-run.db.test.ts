import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";

const submit = ({ ctx }: TestProject, text: string) =>
  jobs.submit(ctx, "text.general.fast.v1", { input: { messages: [{ role: "user", content: text }] } });

/** Makes a job whose run took this many milliseconds. */
async function ran(world: TestProject, ms: number) {
  const { jobId } = await submit(world, `Takes ${ms}`);
  await jobs.run(world.ctx, jobId, inlineStep(world.clock));
  await pool.query(
    "UPDATE job SET completed_at = started_at + $3 * interval '1 millisecond' WHERE project_id = $1 AND id = $2",
    [world.projectId, jobId, ms],
  );
  return jobId;
}

test("a job is compared with the median of at least three earlier runs in its project on the same route", async () => {
  const world = await makeProject();
  const other = await makeProject();
  await ran(world, 100);
  await ran(world, 900);
  for (const ms of [1, 2, 3]) await ran(other, ms);
  const second = await submit(world, "How long will it take?");
  expect(await jobs.usualRun(world.ctx, second.jobId)).toBeNull();

  await ran(world, 300);
  const elsewhere = await ran(world, 5);
  await pool.query("UPDATE job SET model = 'another' WHERE project_id = $1 AND id = $2", [
    world.projectId,
    elsewhere,
  ]);
  const last = await submit(world, "And now?");
  expect(await jobs.usualRun(world.ctx, last.jobId)).toEqual({ medianMs: 300, runs: 3 });
  // A job is not compared with later runs.
  expect(await jobs.usualRun(world.ctx, second.jobId)).toBeNull();
});

test("a blind job is compared with none, and no other is compared with it", async () => {
  const world = await makeProject();
  const mine = [await ran(world, 100), await ran(world, 200), await ran(world, 300)];
  const { jobId } = await submit(world, "Blind");
  const blind = (ids: string[]) =>
    pool.query("UPDATE job SET is_blind = true WHERE project_id = $1 AND id = ANY($2)", [
      world.projectId,
      ids,
    ]);
  expect(await jobs.usualRun(world.ctx, jobId)).toMatchObject({ runs: 3 });
  await blind(mine.slice(0, 1));
  expect(await jobs.usualRun(world.ctx, jobId)).toBeNull();
  await ran(world, 400);
  const after = await submit(world, "Blind too");
  expect(await jobs.usualRun(world.ctx, after.jobId)).toMatchObject({ runs: 3 });
  await blind([after.jobId]);
  expect(await jobs.usualRun(world.ctx, after.jobId)).toBeNull();
});
