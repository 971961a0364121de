import { expect, test } from "vitest";
import { pool } from "@/server/db";
import { checkLedger } from "@/server/domain/billing";
import { type Ctx, type Role, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { createEndpoint } from "@/server/domain/webhooks";
import { newId } from "@/server/ids";
import type { Json } from "@/server/step";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProjectAtNoon, rowsOf, type TestProject } from "@/testing/world";
import * as budgets from ".";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const operator = (project: TestProject) => systemCtx("admin", project.clock.now);

/** A signed-in person of the project's organization, or of none. */
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

const submit = (project: TestProject, execution: Record<string, Json> = {}) =>
  jobs.submit(project.ctx, TEXT, { input, execution });

/** A job that nobody knows the charge of, and its hold. */
async function lose(project: TestProject) {
  const { jobId } = await submit(project, { executionConstraints: { preferredModel: "sandbox-lost" } });
  await jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));
  const { hold } = await rowsOf(jobId);
  expect(hold.state).toBe("ambiguous");
  return { jobId, holdId: hold.id as string, heldMicros: hold.amount_micros as number };
}

/** A live hold on the operator's account, which a test project cannot make itself. */
async function liveHoldLike({ holdId }: { holdId: string }): Promise<string> {
  const id = newId("hold");
  await pool.query(
    `WITH made AS (
       INSERT INTO hold (id, organization_id, project_id, execution_id, principal_id, billing_mode, is_test, funding, amount_micros,
         state, created_at)
       SELECT $2, organization_id, project_id, $2, principal_id, 'managed', false, funding, amount_micros, 'ambiguous', created_at
       FROM hold WHERE id = $1 RETURNING *
     )
     UPDATE wallet SET held_micros = held_micros + made.amount_micros FROM made
     WHERE wallet.organization_id = made.organization_id AND NOT wallet.is_test`,
    [holdId, id],
  );
  return id;
}

const walletOf = async (project: TestProject) => {
  const { rows } = await pool.query(
    "SELECT balance_micros, held_micros FROM wallet WHERE organization_id = $1 AND is_test",
    [project.organizationId],
  );
  return rows[0] as { balance_micros: number; held_micros: number };
};
const acts = async (project: TestProject) => {
  const { rows } = await pool.query<{ action: string }>(
    "SELECT action FROM audit_entry WHERE organization_id = $1 ORDER BY id",
    [project.organizationId],
  );
  return rows.map((row) => row.action);
};

test("budgets are set by admins and operators, read by members, and nothing to strangers and keys", async () => {
  const project = await makeProjectAtNoon();
  const set = (ctx: Ctx) =>
    budgets.set(ctx, {
      owner: { projectId: project.projectId },
      period: "day",
      ceilingMicros: 5,
      enforcement: "warn",
    });
  const { budgetId } = await set(person(project, "admin"));
  expect(await set(operator(project))).toMatchObject({ budgetId, ceilingUsd: 0.000005 });
  for (const role of ["member", "viewer"] as const) {
    await expect(set(person(project, role))).rejects.toMatchObject({ code: "AuthorizationFailed" });
    await expect(budgets.remove(person(project, role), budgetId)).rejects.toMatchObject({
      code: "AuthorizationFailed",
    });
    expect((await budgets.list(person(project, role), {})).items).toMatchObject([{ budgetId }]);
  }
  for (const ctx of [person(project, null), project.ctx]) {
    await expect(set(ctx)).rejects.toMatchObject({ code: "NotFound" });
    await expect(budgets.get(ctx, budgetId)).rejects.toMatchObject({ code: "NotFound" });
    expect((await budgets.list(ctx, {})).items).toEqual([]);
  }
  expect(await budgets.remove(person(project, "owner"), budgetId)).toMatchObject({ enforcement: "off" });
  expect(await acts(project)).toEqual(["budget.set", "budget.set", "budget.removed"]);
});

test("whatever a stranger does with a budget is answered as if there were none", async () => {
  const project = await makeProjectAtNoon();
  const { budgetId } = await budgets.set(person(project, "owner"), {
    owner: { projectId: project.projectId },
    period: "day",
    ceilingMicros: 5,
    enforcement: "warn",
  });
  const stranger = person(project, null);
  const answers = async (id: string) => {
    const more = { budgetId: id, amountMicros: 1, until: "2099-01-01T00:00:00Z", reason: "A launch." };
    const asked = [
      budgets.get(stranger, id),
      budgets.course(stranger, { budgetId: id, isTest: true }),
      budgets.increase(stranger, more),
      budgets.clearIncrease(stranger, id),
      budgets.remove(stranger, id),
    ];
    return (await Promise.allSettled(asked)).map((each) => each.status === "rejected" && each.reason);
  };
  const none = await answers(newId("budget"));
  expect(none.map(({ code, message }) => ({ code, message }))).toEqual(
    Array(5).fill({
      code: "NotFound",
      message: "There is no such budget. Check the id or name, and that you have access to it.",
    }),
  );
  expect(await answers(budgetId)).toEqual(none);
});

test("a ceiling of a principal is of a key or a member of the organization, and of nobody else", async () => {
  const [project, other] = [await makeProjectAtNoon(), await makeProjectAtNoon()];
  const set = (principalId: string, organizationId?: string) =>
    budgets.set(person(project, "owner"), {
      owner: { principalId, ...(organizationId ? { organizationId } : {}) },
      period: "month",
      ceilingMicros: 1,
      enforcement: "prevent",
    });
  await expect(set(newId("key"))).rejects.toMatchObject({ code: "NotFound" });
  const { userId } = await makePerson(project.organizationId, "member");
  await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'member')", [
    userId,
    other.organizationId,
  ]);
  expect(await set(userId)).toMatchObject({
    organizationId: project.organizationId,
    scope: `principal:${userId}`,
  });
  await expect(set(userId, other.organizationId)).rejects.toMatchObject({ code: "NotFound" });
  const asked = {
    owner: { principalId: userId },
    period: "day",
    ceilingMicros: 1,
    enforcement: "warn",
  } as const;
  await expect(budgets.set(operator(project), asked)).rejects.toMatchObject({
    issues: [{ loc: ["body", "organizationId"] }],
  });
});

test("a policy is the whole: what is not in it is off, and a mode alone changes what stands", async () => {
  const project = await makeProjectAtNoon();
  const admin = person(project, "admin");
  const put = (body: Parameters<typeof budgets.putPolicy>[2]) =>
    budgets.putPolicy(admin, project.projectId, body);
  const modes = async () =>
    Object.fromEntries(
      (await budgets.policy(admin, project.projectId)).budgets.map(({ period, enforcement }) => [
        period,
        enforcement,
      ]),
    );
  expect(await put({ enforcement: "prevent", ceilingMicros: 7, period: "day" })).toMatchObject({
    projectId: project.projectId,
    enforcement: "prevent",
    budgets: [{ period: "day", ceilingMicros: 7, spend: { availableMicros: 7 } }],
  });
  await put({
    enforcement: "warn",
    budgets: [
      { period: "month", ceilingUsd: 2 },
      { period: "total", ceilingMicros: 9, enforcement: "prevent" },
    ],
  });
  expect(await modes()).toEqual({ day: "off", month: "warn", total: "prevent" });
  expect(await put({ enforcement: "off" })).toMatchObject({ enforcement: "off" });
  expect(await modes()).toEqual({ day: "off", month: "off", total: "off" });
  for (const [body, loc] of [
    [{}, ["body", "enforcement"]],
    [{ enforcement: "warn", budgets: [{ period: "day" }] }, ["body", "budgets", 0, "ceilingMicros"]],
    [{ period: "day", ceilingMicros: 1, ceilingUsd: 1 }, ["body", "ceilingUsd"]],
    [{ budgets: [], ceilingMicros: 1 }, ["body", "budgets"]],
    [
      {
        budgets: [
          { period: "day", ceilingMicros: 1 },
          { period: "day", ceilingMicros: 2 },
        ],
      },
      ["body", "budgets", 1, "period"],
    ],
  ] as const)
    await expect(put(body as Parameters<typeof put>[0])).rejects.toMatchObject({ issues: [{ loc }] });
  const fresh = await makeProjectAtNoon();
  await expect(
    budgets.putPolicy(operator(fresh), fresh.projectId, { enforcement: "warn" }),
  ).rejects.toMatchObject({ issues: [{ loc: ["body", "ceilingMicros"] }] });
});

test("an ambiguous hold that was charged settles: budget, wallet, ledger and job say so, and its receipt stays", async () => {
  const project = await makeProjectAtNoon();
  const { budgetId } = await budgets.set(operator(project), {
    owner: { projectId: project.projectId },
    period: "month",
    ceilingMicros: 1e9,
    enforcement: "prevent",
  });
  const before = await walletOf(project);
  const { jobId, holdId, heldMicros } = await lose(project);
  const receipt = await jobs.receipt(project.ctx, jobId);
  const owner = person(project, "owner");
  expect((await budgets.listHolds(owner, { state: "ambiguous" })).items).toMatchObject([
    { holdId, executionId: jobId, capabilityKey: TEXT, principalId: project.ctx.principal.id },
  ]);
  const chargedMicros = heldMicros - 3;
  const done = await budgets.resolveHold(owner, holdId, { chargedMicros, note: "On the invoice." });
  expect(done).toMatchObject({
    state: "settled",
    settledMicros: chargedMicros,
    resolvedBy: owner.principal.id,
    note: "On the invoice.",
  });
  expect((await budgets.get(owner, budgetId)).testSpend).toMatchObject({
    settledMicros: chargedMicros,
    heldMicros: 0,
  });
  expect(await walletOf(project)).toEqual({
    balance_micros: before.balance_micros - chargedMicros,
    held_micros: 0,
  });
  const { ledger } = await rowsOf(jobId);
  const byKind = Object.fromEntries(
    (ledger as unknown as { kind: string; account: string; amount_micros: number }[]).map((entry) => [
      entry.kind,
      [entry.account, entry.amount_micros],
    ]),
  );
  const fee = byKind.fee?.[1] as number;
  expect(byKind).toEqual({
    charge: [`wallet:${project.organizationId}`, -chargedMicros],
    upstream: ["provider:sandbox", chargedMicros - fee],
    fee: ["service_fee", fee],
  });
  // 600 bps on the provider's part.
  expect(Math.abs(fee - (chargedMicros - fee) * 0.06)).toBeLessThanOrEqual(1);
  expect((await jobs.get(project.ctx, jobId)).chargeResolution).toMatchObject({
    outcome: "charged",
    chargedMicros,
    charged: chargedMicros / 1e6,
  });
  expect(await jobs.receipt(project.ctx, jobId)).toEqual(receipt);
  expect((await budgets.listHolds(owner, {})).items).toEqual([]);
  expect(await acts(project)).toContain("hold.resolved");
});

test("one that was not charged is released; of more than was held the rest is the operator's; of many who resolve, one does", async () => {
  const project = await makeProjectAtNoon();
  const owner = person(project, "owner");
  const before = await walletOf(project);
  const released = await lose(project);
  const answers = await Promise.allSettled(
    Array.from({ length: 6 }, () =>
      budgets.resolveHold(owner, released.holdId, { notCharged: true, note: "Not on the invoice." }),
    ),
  );
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const answer of answers)
    if (answer.status === "rejected")
      expect(answer.reason).toMatchObject({ code: "HoldNotAmbiguous", details: { state: "released" } });
  expect(await walletOf(project)).toEqual(before);
  expect((await jobs.get(project.ctx, released.jobId)).chargeResolution).toMatchObject({
    outcome: "not_charged",
    chargedMicros: 0,
  });
  const over = await lose(project);
  await budgets.resolveHold(owner, over.holdId, { chargedMicros: 2 * over.heldMicros, note: "More." });
  const { ledger } = await rowsOf(over.jobId);
  expect(ledger).toContainEqual(expect.objectContaining({ kind: "excess", account: "operator" }));
  expect((await rowsOf(over.jobId)).hold.settled_micros).toBe(over.heldMicros);
  expect(ledger.reduce((sum, { amount_micros }) => sum + amount_micros, 0)).toBe(0);
});

test("a hold is resolved by owners and operators, not by admins, strangers or keys, and not while its job runs", async () => {
  const project = await makeProjectAtNoon();
  const { holdId } = await lose(project);
  const resolve = (ctx: Ctx, id = holdId) =>
    budgets.resolveHold(ctx, id, { notCharged: true, note: "Looked." });
  await expect(resolve(person(project, "admin"))).rejects.toMatchObject({ code: "AuthorizationFailed" });
  for (const ctx of [person(project, null), project.ctx])
    await expect(resolve(ctx)).rejects.toMatchObject({ code: "NotFound" });
  await expect(resolve(operator(project), newId("hold"))).rejects.toMatchObject({ code: "NotFound" });
  const { jobId } = await submit(project);
  const { hold } = await rowsOf(jobId);
  await expect(resolve(operator(project), hold.id)).rejects.toMatchObject({
    code: "HoldNotAmbiguous",
    details: { state: "open" },
  });
  expect((await resolve(operator(project))).state).toBe("released");
});

test("a live hold on the operator's account is resolved below its amount by an operator alone", async () => {
  const project = await makeProjectAtNoon();
  const lost = await lose(project);
  const { heldMicros } = lost;
  const owner = person(project, "owner");
  const [first, second] = [await liveHoldLike(lost), await liveHoldLike(lost)];
  for (const found of [{ notCharged: true as const }, { chargedMicros: heldMicros - 1 }])
    await expect(budgets.resolveHold(owner, first, { ...found, note: "Looked." })).rejects.toMatchObject({
      code: "AuthorizationFailed",
    });
  expect(
    await budgets.resolveHold(owner, first, { chargedMicros: heldMicros, note: "On the invoice." }),
  ).toMatchObject({ state: "settled", settledMicros: heldMicros, resolution: "person" });
  expect(
    await budgets.resolveHold(operator(project), second, { notCharged: true, note: "Not on ours." }),
  ).toMatchObject({ state: "released", resolution: "person" });
});

test("many holds are resolved at once by owners of the organization that is named, and of a live managed one the amount alone", async () => {
  const project = await makeProjectAtNoon();
  const other = await makeProjectAtNoon();
  await lose(project);
  const mine = await lose(project);
  await lose(other);
  const resolve = (ctx: Ctx, more: object = {}) =>
    budgets.resolveHolds(ctx, {
      filter: { organizationId: project.organizationId, ...more },
      outcome: "not_charged",
      note: "Not on the invoice.",
      dryRun: false,
    });
  const owner = person(project, "owner");
  await expect(resolve(person(project, "admin"))).rejects.toMatchObject({ code: "AuthorizationFailed" });
  await expect(resolve(owner, { organizationId: undefined })).rejects.toMatchObject({
    code: "AuthorizationFailed",
  });
  for (const ctx of [person(project, null), project.ctx])
    await expect(resolve(ctx)).rejects.toMatchObject({ code: "NotFound" });
  await liveHoldLike(mine);
  expect(await resolve(owner)).toMatchObject({
    matched: 3,
    resolved: 2,
    refused: 1,
    reservedMicros: 2 * mine.heldMicros,
    chargedMicros: 0,
  });
  expect((await acts(project)).filter((action) => action === "hold.resolved")).toHaveLength(2);
  expect((await budgets.listHolds(person(other, "owner"), { state: "ambiguous" })).items).toHaveLength(1);
  expect(await resolve(operator(project))).toMatchObject({ matched: 1, resolved: 1, refused: 0 });
});

test("holds are listed page by page to who may read billing, a key those of its project", async () => {
  const [project, other] = [await makeProjectAtNoon(), await makeProjectAtNoon()];
  for (let made = 0; made < 3; made++) await submit(project);
  await submit(other);
  const first = await budgets.listHolds(project.ctx, { limit: 2 });
  const second = await budgets.listHolds(project.ctx, { limit: 2, cursor: first.nextCursor });
  expect(first.items).toHaveLength(2);
  expect(second).toEqual({
    items: [expect.objectContaining({ state: "open", projectId: project.projectId })],
  });
  expect((await budgets.listHolds(person(other, "viewer"), {})).items).toHaveLength(1);
  const foreign = { projectId: other.projectId };
  await expect(budgets.listHolds(project.ctx, foreign)).rejects.toMatchObject({
    code: "AuthorizationFailed",
  });
  await expect(
    budgets.listHolds(person(project, "owner"), { organizationId: other.organizationId }),
  ).rejects.toMatchObject({ code: "NotFound" });
});

test("guardrails hold what runs on the organization's own accounts by the day and by the execution, and nothing else", async () => {
  const project = await makeProjectAtNoon();
  const admin = person(project, "admin");
  const scope = `guardrail:${project.organizationId}`;
  const byok = { billingMode: "byok" };
  const { jobId } = await submit(project, byok);
  const { hold } = await rowsOf(jobId);
  const price = hold.amount_micros as number;
  expect(await budgets.changeGuardrails(admin, { dailyMicros: price * 2 })).toMatchObject({
    dailyMicros: price * 2,
    perExecutionMicros: null,
  });
  await submit(project, byok);
  await expect(submit(project, byok)).rejects.toMatchObject({
    code: "BudgetExceeded",
    details: { scope, period: "day" },
  });
  await submit(project, { billingMode: "managed" });
  const { differences } = await checkLedger(operator(project), project.organizationId);
  expect(differences.filter(({ what }) => what.startsWith("budget"))).toEqual([]);
  await budgets.changeGuardrails(admin, { dailyMicros: null, perExecutionMicros: price - 1 });
  await expect(submit(project, byok)).rejects.toMatchObject({
    code: "BudgetExceeded",
    details: { scope, field: "guardrails.perExecutionMicros", ceiling: (price - 1) / 1e6 },
  });
  await submit(project, { billingMode: "managed" });
  expect(await budgets.guardrails(person(project, "viewer"))).toMatchObject({
    dailyMicros: null,
    perExecutionMicros: price - 1,
  });
  await budgets.changeGuardrails(admin, { perExecutionMicros: null });
  await submit(project, byok);
  await expect(budgets.changeGuardrails(person(project, "member"), { dailyMicros: 1 })).rejects.toMatchObject(
    {
      code: "AuthorizationFailed",
    },
  );
  await expect(budgets.guardrails(operator(project))).rejects.toMatchObject({ code: "NotFound" });
});

test("each alert is delivered once to the endpoints that want it, and shown to the organization's people", async () => {
  const project = await makeProjectAtNoon();
  const owner = person(project, "owner");
  const make = (eventTypes: ("budget.alert" | "job.queued")[], projectId: string | null) =>
    createEndpoint(owner, {
      url: "https://hooks.example/in",
      secret: "s3cret",
      eventTypes,
      enabled: true,
      ...(projectId ? { projectId } : { organizationId: project.organizationId }),
    });
  const ofProject = await make(["budget.alert"], project.projectId);
  const ofAll = await make([], null);
  const elsewhere = await make(["job.queued"], null);
  const { jobId } = await submit(project);
  const { hold } = await rowsOf(jobId);
  for (const owned of [{ projectId: project.projectId }, { organizationId: project.organizationId }])
    await budgets.set(operator(project), {
      owner: owned,
      period: "day",
      ceilingMicros: hold.amount_micros * 2,
      enforcement: "warn",
    });
  for (let pass = 0; pass < 2; pass++) await jobs.announce(project.ctx, project);
  const deliveries = async (endpointId: string) => {
    const { rows } = await pool.query<{ event_id: string; body: string; project_id: string | null }>(
      "SELECT event_id, body, project_id FROM delivery WHERE endpoint_id = $1 AND type = 'budget.alert' ORDER BY event_id",
      [endpointId],
    );
    return rows;
  };
  expect(await deliveries(elsewhere.endpointId)).toEqual([]);
  expect(await deliveries(ofAll.endpointId)).toHaveLength(2);
  const [told, ...more] = await deliveries(ofProject.endpointId);
  expect(more).toEqual([]);
  const body = JSON.parse(told?.body ?? "");
  expect(body).toMatchObject({
    id: told?.event_id,
    type: "budget.alert",
    organizationId: project.organizationId,
    projectId: project.projectId,
    payload: {
      scope: `project:${project.projectId}`,
      period: "day",
      percent: 50,
      spentMicros: 0,
      reservedMicros: hold.amount_micros,
      ceilingMicros: hold.amount_micros * 2,
      enforcement: "warn",
      isTest: true,
    },
  });
  expect(told?.event_id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(await budgets.alerts(person(project, "viewer"))).toContainEqual(
    expect.objectContaining({ alertId: told?.event_id, percent: 50 }),
  );
  expect(await budgets.alerts(person(project, null))).toEqual([]);
});

test("the course of a period is cumulated and ends with what counts now", async () => {
  const project = await makeProjectAtNoon();
  const { jobId } = await submit(project);
  await jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));
  await submit(project);
  const { budgetId, testSpend } = await budgets.set(operator(project), {
    owner: { projectId: project.projectId },
    period: "month",
    ceilingMicros: 1e9,
    enforcement: "warn",
  });
  const { points } = await budgets.course(person(project, "viewer"), { budgetId, isTest: true });
  expect(points.at(-1)).toMatchObject({
    settledMicros: testSpend.settledMicros,
    heldMicros: testSpend.heldMicros,
  });
  expect(points).toHaveLength(project.clock.now().getUTCDate());
  expect(testSpend.settledMicros).toBeGreaterThan(0);
});
