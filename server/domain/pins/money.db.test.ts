import { expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import { type Ctx, type Role, systemCtx } from "@/server/domain/ctx";
import { publicKeys } from "@/server/domain/signing";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { verifyDocument } from "@/server/verify";
import { makeProjectAtNoon, type TestProject } from "@/testing/world";
import * as pins from ".";

const system = (project: TestProject) => systemCtx("admin", project.clock.now);
const body = (model: string, more: Record<string, Json> = {}) => ({
  pin: { provider: "sandbox", model, api: "responses" },
  input: "How deep is the sea?",
  sampling: { maxOutputTokens: 400 },
  ...more,
});

type Refusal = { code: string; details: Record<string, Json> };
const refusalOf = (running: Promise<unknown>): Promise<Refusal> =>
  running.then(
    () => Promise.reject(new Error("it was not refused")),
    (refusal: Refusal) => refusal,
  );

function person(project: TestProject, role: Role | null): Ctx {
  return {
    ...systemCtx("test", project.clock.now),
    principal: {
      kind: "human_session",
      id: newId("user"),
      email: "someone@capstan.test",
      memberships: new Map(role ? [[project.organizationId, role]] : []),
      isOperator: false,
    },
  };
}

/** Runs a pinned execution whose charge is unknown; returns it with its hold. */
async function lose(project: TestProject) {
  const { details } = await refusalOf(pins.run(project.ctx, body("sandbox-lost")));
  const { executionId, receiptId } = details as { executionId: string; receiptId: string };
  const { rows } = await pool.query("SELECT * FROM hold WHERE execution_id = $1", [executionId]);
  expect(rows).toMatchObject([{ state: "ambiguous", billing_mode: "byok" }]);
  return {
    executionId,
    receiptId,
    holdId: rows[0].id as string,
    heldMicros: rows[0].amount_micros as number,
  };
}

const ledgerOf = async (executionId: string) =>
  (
    await pool.query(
      "SELECT account, kind, amount_micros, pricing_version FROM ledger_entry WHERE job_id = $1 ORDER BY id",
      [executionId],
    )
  ).rows;
const holdOf = async (executionId: string) =>
  (
    await pool.query("SELECT state, amount_micros, settled_micros FROM hold WHERE execution_id = $1", [
      executionId,
    ])
  ).rows[0];
const isBalanced = async (project: TestProject) => {
  const { differences } = await checkLedger(system(project), project.organizationId);
  // The opening balances of the test's own wallets are not in the ledger.
  expect(differences.filter(({ what }) => !what.endsWith("wallet: balance"))).toEqual([]);
};

test("each end of a pinned execution settles, releases or keeps its one hold, and the ledger agrees", {
  tags: "long",
}, async () => {
  const project = await makeProjectAtNoon();
  await budgets.set(system(project), {
    owner: { projectId: project.projectId },
    period: "day",
    ceilingMicros: 1e9,
    enforcement: "prevent",
  });
  const ends: Record<string, string> = {};
  for (const model of [
    "sandbox-1",
    "sandbox-refuse",
    "sandbox-fail",
    "sandbox-empty",
    "sandbox-lost",
    "sandbox-busy",
  ]) {
    const id = await pins.run(project.ctx, body(model)).then(
      (answer) => answer.executionId,
      (refusal: Refusal) => refusal.details.executionId as string,
    );
    const hold = await holdOf(id);
    ends[model] = hold.state;
    const charged = (await ledgerOf(id))
      .filter(({ account }) => account === `external:${project.organizationId}`)
      .reduce((sum, { amount_micros }) => sum - amount_micros, 0);
    expect(charged, model).toBe(hold.settled_micros ?? 0);
  }
  expect(ends).toEqual({
    "sandbox-1": "settled",
    "sandbox-refuse": "released",
    "sandbox-fail": "released",
    "sandbox-empty": "settled",
    "sandbox-lost": "ambiguous",
    "sandbox-busy": "settled",
  });
  await isBalanced(project);
});

test("an owner resolves a pin's ambiguous hold: budget and ledger change, the record does not, and a signed correction is added", {
  tags: "long",
}, async () => {
  const project = await makeProjectAtNoon();
  const { budgetId } = await budgets.set(system(project), {
    owner: { projectId: project.projectId },
    period: "month",
    ceilingMicros: 1e9,
    enforcement: "prevent",
  });
  const { executionId, receiptId, holdId, heldMicros } = await lose(project);
  const sealed = await pins.get(project.ctx, receiptId);
  expect(sealed).toMatchObject({
    status: "ambiguous",
    holdState: "ambiguous",
    corrections: [],
    safelyRetryable: false,
  });
  const owner = person(project, "owner");
  expect((await budgets.listHolds(owner, { state: "ambiguous" })).items).toMatchObject([
    { holdId, executionId, capabilityKey: "inference.pinned", status: "ambiguous", billingMode: "byok" },
  ]);
  const found = { chargedMicros: heldMicros + 5, note: "On the invoice, said Zo\u00eb." };
  for (const role of ["admin", "member", "viewer"] as const)
    await expect(budgets.resolveHold(person(project, role), holdId, found)).rejects.toMatchObject({
      code: "AuthorizationFailed",
    });
  for (const stranger of [project.ctx, person(project, null)])
    await expect(budgets.resolveHold(stranger, holdId, found)).rejects.toMatchObject({ code: "NotFound" });

  const results = await Promise.allSettled(
    Array.from({ length: 5 }, () => budgets.resolveHold(owner, holdId, found)),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(results.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "HoldNotAmbiguous" },
  });
  expect((await budgets.get(owner, budgetId)).testSpend).toMatchObject({
    settledMicros: heldMicros + 5,
    heldMicros: 0,
  });
  const entry = { pricing_version: sealed.pricingVersion };
  expect(await ledgerOf(executionId)).toEqual([
    { ...entry, account: `external:${project.organizationId}`, kind: "charge", amount_micros: -heldMicros },
    { ...entry, account: `external:${project.organizationId}`, kind: "overrun", amount_micros: -5 },
    { ...entry, account: "provider:sandbox", kind: "upstream", amount_micros: heldMicros + 5 },
  ]);
  await isBalanced(project);

  const { corrections, ...after } = await pins.get(project.ctx, receiptId);
  expect({ ...after, corrections: [] }).toEqual(sealed);
  expect(corrections).toMatchObject([
    {
      receiptId,
      kind: "charge_resolved",
      details: { holdId, holdState: "settled", chargedMicros: heldMicros + 5 },
      createdAt: expect.any(String),
    },
  ]);
  expect(JSON.stringify(corrections)).not.toContain("said Zo");
  const keys = await publicKeys();
  const whole = { ...after, corrections };
  expect(await verifyDocument(whole as never, keys)).toMatchObject({ verified: true });
  const forged = { ...corrections[0]!, details: { ...corrections[0]!.details, chargedMicros: 1 } };
  expect(await verifyDocument({ ...whole, corrections: [forged] } as never, keys)).toMatchObject({
    verified: false,
  });
});

test("an ambiguous hold resolved as not charged is released, and a correction reports the release", async () => {
  const project = await makeProjectAtNoon();
  const { executionId, receiptId, holdId } = await lose(project);
  await budgets.resolveHold(system(project), holdId, { notCharged: true, note: "Not on the bill." });
  expect(await holdOf(executionId)).toMatchObject({ state: "released", settled_micros: null });
  expect(await ledgerOf(executionId)).toEqual([]);
  expect((await pins.get(project.ctx, receiptId)).corrections).toMatchObject([
    { kind: "charge_resolved", details: { holdState: "released", chargedMicros: 0 } },
  ]);
  await isBalanced(project);
});

test("a hundred concurrent pins never exceed a preventing ceiling, and a refusal writes nothing and leaves its key free", {
  tags: "long",
}, async () => {
  const project = await makeProjectAtNoon();
  const { executionId } = await pins.run(project.ctx, body("sandbox-1"));
  const { amount_micros: each } = await holdOf(executionId);
  const { settled_micros: spent } = await holdOf(executionId);
  const { budgetId } = await budgets.set(system(project), {
    owner: { projectId: project.projectId },
    period: "total",
    ceilingMicros: spent + each * 7,
    enforcement: "prevent",
  });
  const asked = Array.from({ length: 100 }, (_, n) =>
    pins.run(project.ctx, body("sandbox-lost", { idempotencyKey: `key ${n}` })),
  );
  const codes = (await Promise.allSettled(asked)).map((end) =>
    end.status === "rejected" ? (end.reason as Refusal).code : "succeeded",
  );
  expect(codes.filter((code) => code === "TRANSPORT_AMBIGUOUS")).toHaveLength(7);
  expect(codes.filter((code) => code === "BudgetExceeded")).toHaveLength(93);
  expect((await budgets.get(system(project), budgetId)).testSpend).toMatchObject({
    settledMicros: spent,
    heldMicros: each * 7,
    availableMicros: 0,
  });
  const { rows } = await pool.query("SELECT count(*)::int AS n FROM pinned_execution WHERE project_id = $1", [
    project.projectId,
  ]);
  expect(rows[0].n).toBe(8);
  await budgets.remove(system(project), budgetId);
  const refused = codes.indexOf("BudgetExceeded");
  const again = await pins.run(project.ctx, body("sandbox-1", { idempotencyKey: `key ${refused}` }));
  expect(again.status).toBe("succeeded");
  await isBalanced(project);
});

test("a warning ceiling lets a pin run and appears on its row, in its answer and in its replay", async () => {
  const project = await makeProjectAtNoon();
  await budgets.set(system(project), {
    owner: { projectId: project.projectId },
    period: "day",
    ceilingMicros: 1,
    enforcement: "warn",
  });
  const asked = body("sandbox-1", { idempotencyKey: "once" });
  const answer = await pins.run(project.ctx, asked);
  const warning = {
    code: "BudgetExceeded",
    scope: `project:${project.projectId}`,
    enforcement: "warn",
    remaining: 0.000001,
    ceiling: 0.000001,
  };
  expect(answer.warnings).toMatchObject([warning]);
  expect((await pins.run(project.ctx, asked)).warnings).toEqual(answer.warnings);
  const { rows } = await pool.query("SELECT warnings FROM pinned_execution WHERE id = $1", [
    answer.executionId,
  ]);
  expect(rows[0].warnings).toEqual(answer.warnings);
  // The call requests stricter enforcement: the warning budget now prevents it, and its key stays free.
  const strict = { ...asked, idempotencyKey: "twice", budget: { enforcement: "prevent" } };
  expect(await refusalOf(pins.run(project.ctx, strict))).toMatchObject({
    code: "BudgetExceeded",
    details: { scope: `project:${project.projectId}` },
  });
  expect((await pins.run(project.ctx, { ...asked, idempotencyKey: "twice" })).status).toBe("succeeded");
});

test("guardrails of the organization's own accounts apply to pins, per day and per execution", async () => {
  const project = await makeProjectAtNoon();
  const { executionId } = await pins.run(project.ctx, body("sandbox-1"));
  const { amount_micros: each } = await holdOf(executionId);
  const owner = person(project, "owner");
  const { organizationId } = project;
  await budgets.changeGuardrails(owner, { organizationId, perExecutionMicros: each - 1 });
  expect(await refusalOf(pins.run(project.ctx, body("sandbox-1")))).toMatchObject({
    code: "BudgetExceeded",
    details: { field: "guardrails.perExecutionMicros", scope: `guardrail:${organizationId}` },
  });
  await budgets.changeGuardrails(owner, { organizationId, perExecutionMicros: null, dailyMicros: each });
  expect(await refusalOf(pins.run(project.ctx, body("sandbox-1")))).toMatchObject({
    code: "BudgetExceeded",
    details: { scope: `guardrail:${organizationId}`, enforcement: "prevent" },
  });
});

test("a call's own ceiling applies to the maximum cost and prevents by default", async () => {
  const project = await makeProjectAtNoon();
  const { executionId } = await pins.run(project.ctx, body("sandbox-1"));
  const { amount_micros: each } = await holdOf(executionId);
  const costing = (maxCostUsd: number) =>
    pins.run(project.ctx, body("sandbox-1", { execution: { maxCostUsd } }));
  expect((await costing(each / 1e6)).status).toBe("succeeded");
  expect(await refusalOf(costing((each - 1) / 1e6))).toMatchObject({ code: "BudgetExceeded" });
});
