import { expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { bulkOf, plain, runBulk, submitBulk } from "@/testing/bulks";
import { makeProject, makeProjectAtNoon } from "@/testing/world";

const bulksOf = async (projectId: string) =>
  (await pool.query("SELECT FROM pinned_bulk WHERE project_id = $1", [projectId])).rowCount;

test("the shared bytes that thousands of items would hash are limited, and the limit is checked before any hashing", async () => {
  const project = await makeProject();
  const body = bulkOf(plain(10_000), { instructions: "x".repeat(500_000) });
  const ends: string[] = [];
  const smaller = bulkOf(plain(1_000), { instructions: "x".repeat(300_000) });
  const hashed = pins.submitBulk(project.ctx, smaller).then(() => ends.push("hashed"));
  await expect(pins.submitBulk(project.ctx, body)).rejects.toMatchObject({
    issues: [{ loc: ["body", "items"], type: "too_much_repeated", ctx: { maxItems: expect.any(Number) } }],
  });
  ends.push("refused");
  await hashed;
  expect(ends).toEqual(["refused", "hashed"]);
  expect(await bulksOf(project.projectId)).toBe(1);
});

test("other work gets turns while a large bulk is read", { tags: "long" }, async () => {
  const project = await makeProject();
  let [turns, hasEnded] = [0, false];
  const turn = () => {
    turns++;
    if (!hasEnded) setImmediate(turn);
  };
  turn();
  const body = bulkOf(plain(3_000), { instructions: "x".repeat(300_000) });
  const before = turns;
  const bulk = await pins.submitBulk(project.ctx, body);
  hasEnded = true;
  expect(bulk.itemCount).toBe(3_000);
  // About a gigabyte is hashed, which takes many turns of ten milliseconds on any machine.
  expect(turns - before).toBeGreaterThan(20);
});

test("instructions that leave no room for an input are refused as too long, alone and in a bulk", async () => {
  const project = await makeProject();
  const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
  const instructions = "x".repeat(1_000_000);
  const { items: _, ...shared } = bulkOf([], { pin, instructions });
  const refusal = { code: "PromptTooLong", details: { overflow: "reject", maxTokens: 128_000 } };
  await expect(pins.run(project.ctx, { ...shared, input: "short" } as never)).rejects.toMatchObject(refusal);
  await expect(pins.submitBulk(project.ctx, bulkOf(plain(2), { pin, instructions }))).rejects.toMatchObject(
    refusal,
  );
  expect(await bulksOf(project.projectId)).toBe(0);
});

test("concurrent bulks never exceed a preventing ceiling; items beyond it fail unsent, and the ledger agrees", async () => {
  const project = await makeProjectAtNoon();
  const operator = systemCtx("admin", project.clock.now);
  const single = await submitBulk(project, plain(1));
  await runBulk(project, single);
  const { rows: held } = await pool.query(
    "SELECT hold.amount_micros AS most, hold.settled_micros AS spent FROM hold JOIN pinned_execution pin ON pin.id = execution_id WHERE bulk_id = $1",
    [single],
  );
  const [{ most, spent }] = held;
  const ceilingMicros = spent + most * 4;
  const { budgetId } = await budgets.set(operator, {
    owner: { projectId: project.projectId },
    period: "total",
    ceilingMicros,
    enforcement: "prevent",
  });
  // Each item is lost, so its hold stays open.
  const inputs = Array.from({ length: 10 }, (_, n) => `[lost] ${n}`);
  const ids = await Promise.all([submitBulk(project, inputs), submitBulk(project, inputs)]);
  await Promise.all(ids.map((id) => runBulk(project, id)));
  const { testSpend } = await budgets.get(operator, budgetId);
  expect(testSpend.settledMicros + testSpend.heldMicros).toBeLessThanOrEqual(ceilingMicros);
  const { rows } = await pool.query<{ status: string; error_code: string; n: number; sent: number }>(
    `SELECT pin.status, pin.error_code, count(*)::int AS n, count(DISTINCT attempt.pinned_id)::int AS sent FROM pinned_execution pin
     LEFT JOIN pinned_attempt attempt ON attempt.pinned_id = pin.id WHERE bulk_id = ANY($1) GROUP BY 1, 2 ORDER BY 1`,
    [ids],
  );
  expect(rows).toMatchObject([
    { status: "ambiguous", error_code: "TRANSPORT_AMBIGUOUS", n: 4, sent: 4 },
    { status: "failed", error_code: "BudgetExceeded", n: 16, sent: 0 },
  ]);
  const { differences } = await checkLedger(operator, project.organizationId);
  expect(differences.filter(({ what }) => !what.endsWith("wallet: balance"))).toEqual([]);
});
