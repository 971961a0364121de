import { expect, test } from "vitest";
import type { UsageFigures } from "@/server/contract/usage";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { makePerson, makeTenant } from "@/testing/tenants";
import { copyJob, inlineStep, makeProject, type TestProject } from "@/testing/world";
import * as usage from ".";
import { FOCUS_COLUMNS } from "./focus";
import { exported, ledgerOf, pin, resolve, total } from "./usage.fixture";

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
// The answer is long enough that the fee on half of the token rates does not round to zero.
const text = {
  messages: [{ role: "user", content: "How deep is the sea? Say it in 40 sentences, please." }],
};
const model = (preferredModel: string) => ({ execution: { executionConstraints: { preferredModel } } });

/** Submits a job and runs it to its end unless `ends` is false. */
async function execute(project: TestProject, key: string, envelope: Record<string, unknown>, ends = true) {
  const { jobId } = await jobs.submit(project.ctx, key, envelope as never);
  if (ends) await jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));
  return jobId;
}

/** Runs one execution with each kind of ending, and leaves one waiting. */
async function executeAll(project: TestProject) {
  const done = await execute(project, TEXT, { input: text });
  const drawn = await execute(project, IMAGE, { input: { prompt: "A kite", variantCount: 2 } });
  const refused = await execute(project, TEXT, { input: text, ...model("sandbox-refuse") });
  const unknown = await execute(project, TEXT, { input: text, ...model("sandbox-fail") });
  const lost = await execute(project, TEXT, { input: text, ...model("sandbox-lost") });
  const canceled = await execute(project, TEXT, { input: text }, false);
  await jobs.cancel(project.ctx, canceled);
  const waiting = await execute(project, TEXT, { input: text }, false);
  return { done, drawn, refused, unknown, lost, canceled, waiting };
}

const summarize = (ctx: Ctx, days = 7) => usage.summary(ctx, { days });

test("a summary counts every execution by its ending, and its charge matches the ledger", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  await executeAll(project);
  const { live, test: sandbox } = await summarize(project.ctx);
  expect(live.totals.executions).toBe(0);
  const { totals } = sandbox;
  expect(totals).toMatchObject({
    executions: 7,
    succeeded: 2,
    failed: 3,
    canceled: 1,
    unfinished: 1,
    unknownCosts: 2,
    images: 2,
  });
  const ledger = await ledgerOf(project.projectId);
  expect(ledger.charged).toBeGreaterThan(0);
  expect(totals.chargedMicros).toBe(ledger.charged);
  expect(totals.feeMicros).toBe(ledger.fee);
  expect(totals.inputTokens).toBeGreaterThan(0);
  const { rows } = await pool.query(
    "SELECT sum(actual_micros)::bigint AS known FROM job WHERE project_id = $1 AND status IN ('succeeded', 'failed', 'canceled')",
    [project.projectId],
  );
  expect(totals.providerCostMicros).toBe(rows[0].known);
});

test("every way to group a summary adds up to its totals", { tags: "long" }, async () => {
  const project = await makeProject();
  await executeAll(project);
  const { test: side } = await summarize(project.ctx);
  const groups = [
    side.byDay,
    side.byProject,
    side.byCapability,
    side.byProvider,
    side.byModel,
    side.byPrincipal,
    side.byBillingMode,
  ];
  for (const group of groups) {
    for (const name of Object.keys(side.totals) as (keyof UsageFigures)[]) {
      expect(
        group.reduce((sum, each) => sum + each[name], 0),
        name,
      ).toBe(side.totals[name]);
    }
  }
  expect(side.byDay.length).toBe(7);
  expect(side.byCapability.map(({ capabilityKey }) => capabilityKey).sort()).toEqual([IMAGE, TEXT]);
});

test("a summary has the remaining wallet and allowance, live and test apart", async () => {
  const project = await makeProject({ walletMicros: 5_000_000 });
  const held = await execute(project, TEXT, { input: text }, false);
  const { rows } = await pool.query("SELECT amount_micros FROM hold WHERE execution_id = $1", [held]);
  const { live, test: sandbox } = await summarize(project.ctx);
  expect(live.funds.available.amountMicros).toBe(5_000_000);
  expect(sandbox.funds.reserved.amountMicros).toBe(rows[0].amount_micros);
  expect(sandbox.funds.available.amountMicros).toBe(5_000_000 - rows[0].amount_micros);
  expect(sandbox.funds.allowance.granted.amountMicros).toBe(0);
});

test("counting an ended day does not change the summary, and late endings and resolutions are shown at once", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { waiting, lost } = await executeAll(project);
  await pin(project, "sandbox-1");
  const lostPin = await pin(project, "sandbox-lost");
  const before = await summarize(project.ctx);
  project.clock.advance(DAY_MS + HOUR_MS);
  const later = systemCtx("roll-up", project.clock.now);
  const counted = async () => {
    const { rows } = await pool.query(
      `SELECT bool_and(is_closed) AS is_closed,
         (SELECT sum(executions) FROM usage_day WHERE project_id = $1)::int AS executions
       FROM usage_counted WHERE project_id = $1`,
      [project.projectId],
    );
    return rows;
  };
  await usage.rollUp(later);
  expect(await counted()).toEqual([{ is_closed: false, executions: 9 }]);
  const side = async () => (await summarize(project.ctx)).test;
  expect((await side()).totals).toEqual(before.test.totals);

  // The job ends a day late: the summary shows this at once, and the day is counted again.
  await jobs.cancel(project.ctx, waiting);
  expect((await side()).totals).toMatchObject({ canceled: 2, unfinished: 0 });
  await usage.rollUp(later);
  expect(await counted()).toEqual([{ is_closed: true, executions: 9 }]);
  expect((await side()).totals).toMatchObject({ canceled: 2, unfinished: 0 });

  // The summary reads the counted rows instead of the executions, which makes a long one fast.
  await pool.query(
    "UPDATE usage_day SET images = images + 40 WHERE project_id = $1 AND capability_key = $2",
    [project.projectId, IMAGE],
  );
  expect((await side()).totals.images).toBe(42);

  // The resolution is shown at once, and counted by the next call.
  project.clock.advance(HOUR_MS);
  await resolve(project, lost, 1_060);
  await resolve(project, lostPin, 777);
  const ledger = await ledgerOf(project.projectId);
  expect((await side()).totals).toMatchObject({
    chargedMicros: ledger.charged,
    feeMicros: ledger.fee,
    images: 2,
  });
  await usage.rollUp(systemCtx("roll-up", project.clock.now));
  expect((await side()).totals).toMatchObject({
    chargedMicros: ledger.charged,
    feeMicros: ledger.fee,
    images: 2,
  });
});

test("a day that cannot be counted does not block those of other organizations", {
  tags: "long",
}, async () => {
  const [odd, other] = [await makeProject(), await makeProject()];
  const jobId = await execute(odd, TEXT, { input: text });
  await copyJob(jobId, 1);
  await execute(other, TEXT, { input: text });
  const projectIds = [odd.projectId, other.projectId];
  await pool.query(
    `INSERT INTO usage_counted (organization_id, project_id, day, is_closed, computed_at)
     SELECT DISTINCT organization_id, project_id, (created_at AT TIME ZONE 'UTC')::date, false, now() FROM job
     WHERE project_id = ANY($1)`,
    [projectIds],
  );
  const costs = (micros: string) =>
    pool.query("UPDATE job SET actual_micros = $2 WHERE project_id = $1", [odd.projectId, micros]);
  // Two of these costs overflow the sum.
  await costs("9000000000000000000");
  await usage.rollUp(systemCtx("roll-up"));
  const { rows } = await pool.query(
    "SELECT project_id FROM usage_counted WHERE project_id = ANY($1) AND is_closed",
    [projectIds],
  );
  expect(rows).toEqual([{ project_id: other.projectId }]);
  await costs("0");
});

test("a bound key sees its project, an open one its organization, and neither sees another customer's", async () => {
  const project = await makeProject();
  await execute(project, TEXT, { input: text });
  const { principal } = project.ctx;
  if (principal.kind !== "service_principal") throw new Error("the test's principal is a key");
  const sister = await makeProject();
  const open: Ctx = { ...project.ctx, principal: { ...principal, projectId: null } };
  expect((await summarize(project.ctx)).projectId).toBe(project.projectId);
  const whole = await summarize(open);
  expect(whole).toMatchObject({ organizationId: project.organizationId, projectId: null });
  expect(whole.test.totals.executions).toBe(1);
  const denied = { code: "AuthorizationFailed" };
  for (const ctx of [project.ctx, open]) {
    for (const named of [{ projectId: sister.projectId }, { organizationId: sister.organizationId }]) {
      await expect(usage.summary(ctx, { days: 7, ...named })).rejects.toMatchObject(denied);
    }
  }
  const poor: Ctx = { ...project.ctx, principal: { ...principal, scopes: new Set(["jobs:read"]) } };
  await expect(summarize(poor)).rejects.toMatchObject(denied);
});

test("a person sees their only organization, and must name one of several", {
  tags: "long",
}, async () => {
  const [one, two] = [await makeTenant(), await makeTenant()];
  const { ctx } = await makePerson(one.organizationId, "viewer");
  expect((await summarize(ctx)).organizationId).toBe(one.organizationId);
  if (ctx.principal.kind !== "human_session") throw new Error("the test's principal is a person");
  const memberships = new Map([...ctx.principal.memberships, [two.organizationId, "viewer" as const]]);
  const both: Ctx = { ...ctx, principal: { ...ctx.principal, memberships } };
  await expect(summarize(both)).rejects.toMatchObject({
    issues: [{ loc: ["query", "organizationId"], msg: expect.stringContaining("several") }],
  });
  const named = await usage.summary(both, { days: 7, organizationId: two.organizationId });
  expect(named.organizationId).toBe(two.organizationId);
});

test("the lines of an export add up to the ledger to the micro, even after a person resolved a charge", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { lost, unknown } = await executeAll(project);
  const first = await exported(project.ctx);
  const ledger = await ledgerOf(project.projectId);
  expect(first.lines.length).toBe(6); // unfinished executions are not exported
  expect(total(first.lines, "x_Charge")).toBe(BigInt(ledger.charged));
  expect(total(first.lines, "x_Fee")).toBe(BigInt(ledger.fee));
  const lineOf = (jobId: string) => first.lines.find((line) => line.ResourceId === jobId);
  expect(lineOf(unknown)).toMatchObject({ x_ProviderCost: "", x_ProviderCostStatus: "unknown" });
  expect(lineOf(lost)).toMatchObject({ x_Charge: "0", x_HoldState: "ambiguous", ChargeClass: "" });

  await resolve(project, lost, 1_234);
  const second = await exported(project.ctx);
  const after = await ledgerOf(project.projectId);
  expect(after.charged).toBe(ledger.charged + 1_234);
  expect(total(second.lines, "x_Charge")).toBe(BigInt(after.charged));
  expect(total(second.lines, "x_Fee")).toBe(BigInt(after.fee));
  const corrections = second.lines.filter((line) => line.ChargeClass === "Correction");
  expect(corrections).toEqual([
    expect.objectContaining({ ResourceId: lost, x_Charge: "0.001234", x_HoldState: "settled" }),
  ]);
  // Exported lines never change.
  expect(second.lines.filter((line) => line.ChargeClass === "")).toEqual(first.lines);
});

test("hostile tags, names and references stay text in a spreadsheet and are read back unchanged", async () => {
  const project = await makeProject();
  const evil = '=HYPERLINK("http://evil.test","pay"),\n2';
  await pool.query("UPDATE project SET display_name = $2 WHERE id = $1", [
    project.projectId,
    "+cmd|' /C calc'!A0",
  ]);
  await pool.query("UPDATE organization SET display_name = $2 WHERE id = $1", [
    project.organizationId,
    "@SUM(1+1)",
  ]);
  const signs = ["-1+2", "\tTab", "\rReturn", "\n=1+1", "＝1+1", "＋1", "－1", "＠SUM(1)"];
  const refs = [evil, ...signs, 'He said "no", twice'];
  for (const externalRef of refs)
    await execute(project, TEXT, { input: text, externalRef, tags: [evil, "=1", "plain"] });
  const { csv, lines } = await exported(project.ctx);
  expect(lines.map((line) => line.ResourceName)).toEqual([
    `'${evil}`,
    ...signs.map((sign) => `'${sign}`),
    'He said "no", twice',
  ]);
  for (const line of lines) {
    expect(line).toMatchObject({ SubAccountName: "'+cmd|' /C calc'!A0", BillingAccountName: "'@SUM(1+1)" });
    expect(JSON.parse(line.Tags ?? "")).toEqual({ [evil]: true, "=1": true, plain: true });
    for (const [name, cell] of Object.entries(line)) {
      if (/^[=+@\t\r\n＝＋－＠-]/.test(cell)) expect(cell, name).toMatch(/^-?\d+(\.\d+)?$/);
    }
  }
  expect(csv.split("\r\n")[0]).toBe(FOCUS_COLUMNS.map(([name]) => name).join(","));
});

test("an export reads all pages, has each execution once, and uses the terms of FOCUS", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const jobId = await execute(project, TEXT, { input: text });
  // Copies fill more than one page without running each job.
  await copyJob(jobId, 2_100, { provider: "''", actual_micros: "0" });
  const { lines } = await exported(project.ctx);
  expect(lines.length).toBe(2101);
  expect(new Set(lines.map((line) => line.ResourceId)).size).toBe(2101);
  const line = lines.find((each) => each.ResourceId === jobId);
  expect(line).toMatchObject({
    BillingCurrency: "USD",
    ChargeCategory: "Usage",
    ChargeFrequency: "Usage-Based",
    ChargePeriodStart: `${line?.x_SubmittedAt?.slice(0, 10)}T00:00:00Z`,
    ConsumedUnit: "Tokens",
    PricingCategory: "Standard",
    ServiceCategory: "AI and Machine Learning",
    ServiceSubcategory: "Generative AI",
    BilledCost: "0",
    EffectiveCost: "0",
    x_FundingSource: "wallet",
    x_IsTest: "true",
  });
  const local = lines.find((each) => each.ResourceId !== jobId);
  expect(local).toMatchObject({
    ServiceCategory: "Compute",
    ConsumedUnit: "Executions",
    ConsumedQuantity: "1",
  });
});

test("the cost of an execution is null while unknown, and names the payer", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { done, unknown, lost, refused, waiting } = await executeAll(project);
  const of = (jobId: string) => usage.cost(project.ctx, jobId);
  const settled = await of(done);
  expect(settled).toMatchObject({ paidBy: "wallet", holdState: "settled", test: true, corrected: false });
  expect(settled?.charge).toMatchObject({
    chargedMicros: (settled?.providerCostMicros ?? Number.NaN) + (settled?.feeMicros ?? Number.NaN),
    state: "covered",
  });
  const free = { chargedMicros: 0, state: "not_charged" };
  expect(await of(unknown)).toMatchObject({ providerCostMicros: null, holdState: "released", charge: free });
  const open = { feeMicros: null, providerCostMicros: null };
  const [unsettled, reserved] = [
    { chargedMicros: null, state: "unsettled" },
    { chargedMicros: null, state: "reserved" },
  ];
  expect(await of(lost)).toMatchObject({ ...open, holdState: "ambiguous", charge: unsettled });
  expect(await of(waiting)).toMatchObject({ ...open, holdState: "open", charge: reserved });
  expect(await of(refused)).toMatchObject({ charge: free, providerCostMicros: 0, holdState: "released" });
  await resolve(project, lost, 0);
  expect(await of(lost)).toMatchObject({
    charge: free,
    providerCostMicros: 0,
    feeMicros: 0,
    corrected: true,
    holdState: "released",
  });
  const stranger = await makeProject();
  await expect(usage.cost(stranger.ctx, done)).rejects.toMatchObject({ code: "NotFound" });
});

test("actualCost of a job is the provider's cost: null while unknown, never the charge or a made-up zero", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { done, unknown, lost, refused, waiting } = await executeAll(project);
  const of = (jobId: string) => jobs.get(project.ctx, jobId);
  const job = await of(done);
  const money = await usage.cost(project.ctx, done);
  expect(job.actualCost).toBe((money?.providerCostMicros ?? 0) / 1_000_000);
  expect(money?.feeMicros).toBeGreaterThan(0);
  expect(job.actualCost).not.toBe((money?.charge.chargedMicros ?? 0) / 1_000_000);
  expect(job.estimatedCost).toBeGreaterThan(0);
  expect(job.pricing?.providerCost).toMatchObject({ amount: { amountMicros: money?.providerCostMicros } });
  for (const jobId of [unknown, lost]) {
    const failed = await of(jobId);
    expect(failed.actualCost).toBeNull();
    expect(failed.pricing?.providerCost).toMatchObject({ amount: null, status: "unknown" });
  }
  expect(await of(refused)).toMatchObject({ actualCost: 0, currency: "USD" });
  expect(await of(waiting)).toMatchObject({ actualCost: null, pricing: null });
});
