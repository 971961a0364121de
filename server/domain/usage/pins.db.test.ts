import { expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";
import * as usage from ".";
import { exported, ledgerOf, pin, resolve, total } from "./usage.fixture";

const PINNED = "inference.pinned";
const TEXT = "text.general.fast.v1";
const OWED_NOTHING = { chargedMicros: 0, state: "byok" };

/** Runs one job, and pinned executions with each kind of ending. */
async function executeAll(project: TestProject) {
  const { jobId } = await jobs.submit(project.ctx, TEXT, {
    input: { messages: [{ role: "user", content: "How high is the sky?" }] },
  } as never);
  await jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));
  return {
    job: jobId,
    done: await pin(project, "sandbox-1"),
    other: await pin(project, "sandbox-2"),
    refused: await pin(project, "sandbox-refuse"),
    unknown: await pin(project, "sandbox-fail"),
    empty: await pin(project, "sandbox-empty"),
    lost: await pin(project, "sandbox-lost"),
  };
}

const sandboxOf = async (project: TestProject) => (await usage.summary(project.ctx, { days: 7 })).test;

test("usage counts pinned executions and jobs, and its totals match both and the ledger", async () => {
  const project = await makeProject();
  const { job, done } = await executeAll(project);
  const side = await sandboxOf(project);
  expect(side.totals).toMatchObject({
    executions: 7,
    succeeded: 3,
    failed: 4,
    canceled: 0,
    unfinished: 0,
    unknownCosts: 2,
  });
  const figures = (capabilityKey: string) =>
    side.byCapability.find((each) => each.capabilityKey === capabilityKey);
  const [pinned, text] = [figures(PINNED), figures(TEXT)];
  expect(pinned).toMatchObject({ executions: 6, succeeded: 2, failed: 4, unknownCosts: 2, feeMicros: 0 });
  for (const name of Object.keys(side.totals) as (keyof typeof side.totals)[])
    expect(side.totals[name], name).toBe((pinned?.[name] ?? Number.NaN) + (text?.[name] ?? Number.NaN));

  const ledger = await ledgerOf(project.projectId);
  expect(side.totals).toMatchObject({ chargedMicros: ledger.charged, feeMicros: ledger.fee });
  const own = await pool.query(
    `SELECT sum(actual_micros)::bigint AS known FROM pinned_execution WHERE project_id = $1`,
    [project.projectId],
  );
  const { known } = own.rows[0];
  expect(pinned?.providerCostMicros).toBe(known);
  expect(pinned?.chargedMicros).toBe(0);
  expect(known).toBe(ledger.own);
  expect(known).toBeGreaterThan(0);
  expect(side.byBillingMode.find(({ billingMode }) => billingMode === "byok")?.executions).toBe(6);
  expect(side.byModel.map(({ model }) => model)).toContain("sandbox-refuse");

  const { usage: counted } = await recordOf(project, done);
  expect(counted?.outputTokens).toBeGreaterThan(0);
  const { rows } = await pool.query(
    "SELECT sum((usage->>'outputTokens')::bigint)::bigint AS of_job FROM attempt WHERE job_id = $1",
    [job],
  );
  const ofPins = await pool.query(
    "SELECT sum((body::jsonb->'usage'->>'outputTokens')::bigint)::bigint AS n FROM pinned_record WHERE project_id = $1",
    [project.projectId],
  );
  expect(side.totals.outputTokens).toBe(rows[0].of_job + ofPins.rows[0].n);
});

const recordOf = (project: TestProject, pinnedId: string) =>
  pins.get(project.ctx, pinnedId.replace("pin_", "rcpt_")) as Promise<{
    usage: Record<string, number> | null;
  }>;

test("the export has a line per pinned execution, and another if its charge was resolved later", async () => {
  const project = await makeProject();
  const { job, done, lost, unknown } = await executeAll(project);
  const first = await exported(project.ctx);
  expect(first.lines.length).toBe(7);
  expect(first.lines.map((line) => line.ResourceId)).toContain(job);
  const ledger = await ledgerOf(project.projectId);
  expect(total(first.lines, "x_Charge")).toBe(BigInt(ledger.charged));
  // Test money is never billed, but has a list price.
  expect(total(first.lines, "BilledCost") + total(first.lines, "EffectiveCost")).toBe(0n);
  const jobLine = first.lines.find((line) => line.ResourceId === job);
  expect(jobLine).toMatchObject({ ListCost: jobLine?.x_Charge, ContractedCost: jobLine?.x_Charge });
  const lineOf = (id: string) => first.lines.find((line) => line.ResourceId === id);
  expect(lineOf(done)).toMatchObject({
    ServiceName: PINNED,
    SkuId: "sandbox/sandbox-1",
    ResourceName: "of sandbox-1",
    Tags: '{"deep":true}',
    ConsumedUnit: "Tokens",
    x_ExecutionMode: "pinned",
    x_BillingMode: "byok",
    x_FundingSource: "own_account",
    x_Status: "succeeded",
    x_IsTest: "true",
    x_Fee: "0",
    x_ReceiptId: done.replace("pin_", "rcpt_"),
  });
  expect(lineOf(done)?.SkuPriceId).toMatch(/^price_/);
  expect(total([lineOf(done) ?? {}], "x_ProviderCost")).toBeGreaterThan(0n);
  expect(lineOf(done)).toMatchObject({ x_Charge: "0", ContractedCost: "0" });
  expect(lineOf(done)?.ListCost).toBe(lineOf(done)?.x_ProviderCost);
  expect(lineOf(unknown)).toMatchObject({
    ListCost: "0",
    x_ProviderCost: "",
    x_ProviderCostStatus: "unknown",
  });
  expect(lineOf(unknown)).toMatchObject({ x_HoldState: "released" });
  expect(lineOf(lost)).toMatchObject({ BilledCost: "0", x_HoldState: "ambiguous", x_Status: "ambiguous" });

  await resolve(project, lost, 1_234);
  const second = await exported(project.ctx);
  expect(total(second.lines, "x_Charge")).toBe(BigInt((await ledgerOf(project.projectId)).charged));
  expect(second.lines.filter((line) => line.ChargeClass === "Correction")).toEqual([
    expect.objectContaining({
      ResourceId: lost,
      ListCost: "0.001234",
      x_Charge: "0",
      x_ProviderCost: "0.001234",
    }),
  ]);
  // The charges on own accounts equal the export's cost of these providers.
  const ofPins = second.lines.filter((line) => line.ServiceName === PINNED);
  for (const column of ["x_ProviderCost", "ListCost"])
    expect(total(ofPins, column)).toBe(BigInt((await ledgerOf(project.projectId)).own));
  expect(second.lines.filter((line) => line.ChargeClass === "")).toEqual(first.lines);
});

test("the cost of a pinned execution is paid by the customer's own account, and strangers cannot see it", async () => {
  const project = await makeProject();
  const { done, refused, unknown, lost } = await executeAll(project);
  const of = (id: string) => usage.cost(project.ctx, id);
  const settled = await of(done);
  expect(settled).toMatchObject({
    paidBy: "own_account",
    holdState: "settled",
    feeMicros: 0,
    corrected: false,
  });
  expect(settled?.providerCostMicros).toBeGreaterThan(0);
  expect(settled?.charge).toMatchObject(OWED_NOTHING);
  expect(await of(refused)).toMatchObject({ charge: OWED_NOTHING, holdState: "released" });
  expect(await of(unknown)).toMatchObject({
    providerCostMicros: null,
    holdState: "released",
    charge: OWED_NOTHING,
  });
  expect(await of(lost)).toMatchObject({
    charge: OWED_NOTHING,
    providerCostMicros: null,
    holdState: "ambiguous",
  });
  await resolve(project, lost, 55);
  expect(await of(lost)).toMatchObject({
    charge: OWED_NOTHING,
    providerCostMicros: 55,
    corrected: true,
    holdState: "settled",
  });
  const stranger = await makeProject();
  await expect(usage.cost(stranger.ctx, done)).rejects.toMatchObject({ code: "NotFound" });
});
