import { expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { createEndpoint } from "@/server/domain/webhooks";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { makePerson } from "@/testing/tenants";
import { makeProjectAtNoon, rowsOf } from "@/testing/world";
import * as budgets from ".";
import { acts, operator, person, submit } from "./callers.fixture";

test("admins and operators set budgets, members read them, and strangers and keys find none", async () => {
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

test("a stranger gets the same answers for an existing budget as for a missing one", async () => {
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
      budgets.increase(stranger, more),
      budgets.clearIncrease(stranger, id),
      budgets.remove(stranger, id),
    ];
    return (await Promise.allSettled(asked)).map((each) => each.status === "rejected" && each.reason);
  };
  const none = await answers(newId("budget"));
  expect(none.map(({ code, message }) => ({ code, message }))).toEqual(
    Array(4).fill({
      code: "NotFound",
      message: "There is no such budget. Check the id or name, and that you have access to it.",
    }),
  );
  expect(await answers(budgetId)).toEqual(none);
});

test("a principal's ceiling belongs to a key or a member of the organization only", async () => {
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

test("a policy replaces all ceilings, and a mode alone changes the current ones", async () => {
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

test("guardrails limit only executions on the organization's own accounts, per day and per execution", async () => {
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

test("each alert is delivered once to its endpoints, and shown to the organization's people", async () => {
  const project = await makeProjectAtNoon();
  const owner = person(project, "owner");
  const make = (eventTypes: ("budget.alert" | "job.queued")[], projectId: string | null) =>
    createEndpoint(owner, {
      url: "https://hooks.example/in",
      secret: "a secret of this test alone",
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
  const [delivered, ...more] = await deliveries(ofProject.endpointId);
  expect(more).toEqual([]);
  const body = JSON.parse(delivered?.body ?? "");
  expect(body).toMatchObject({
    id: delivered?.event_id,
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
  expect(delivered?.event_id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(await budgets.alerts(person(project, "viewer"))).toContainEqual(
    expect.objectContaining({ alertId: delivered?.event_id, percent: 50 }),
  );
  expect(await budgets.alerts(person(project, null))).toEqual([]);
});

test("the latest alert of a budget is shown, however many newer alerts other budgets and modes have", async () => {
  const { organizationId, projectId, ...project } = await makeProjectAtNoon();
  const alert = async (scope: string, isTest: boolean, percent: number, count = 1) => {
    const ids = Array.from({ length: count }, () => newId("event"));
    await pool.query(
      `INSERT INTO budget_alert (id, budget_id, organization_id, scope, period, period_start, is_test, percent, spent_micros,
         held_micros, ceiling_micros, enforcement, created_at)
       SELECT id, CASE WHEN $5 = 1 THEN $3 ELSE id END, $2, $3, 'day', now(), $4, $6, 0, 0, 1, 'warn', now()
       FROM unnest($1::text[]) AS id`,
      [ids, organizationId, scope, isTest, count, percent],
    );
  };
  const own = `project:${projectId}`;
  for (const percent of [50, 80]) await alert(own, false, percent);
  await alert(own, true, 100);
  await alert("organization", false, 50);
  await alert("project:cpr_other", false, 100, 60);
  await alert("organization", true, 100, 60);
  const shown = await budgets.alerts(person({ organizationId, projectId, ...project }, "viewer"), {
    organizationId,
    projectId,
    test: false,
  });
  expect(shown.map(({ scope, isTest, percent }) => [scope, isTest, percent])).toEqual([
    [own, false, 80],
    ["organization", false, 50],
  ]);
});
