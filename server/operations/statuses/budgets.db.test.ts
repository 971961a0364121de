import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import type { SetBudget } from "@/server/contract/budgets";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, input, loseHold, openTenant, owner, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A hold that was ambiguous and has been resolved. */
let resolvedHold: string;
let budget: SetBudget;
let budgetId: string;
beforeAll(async () => {
  budget = {
    owner: { projectId: tenant.projectId },
    period: "total",
    ceilingMicros: 1e12,
    enforcement: "warn",
  };
  ({ budgetId } = await budgets.set(systemCtx("test"), budget));
  resolvedHold = await loseHold(tenant);
  await budgets.resolveHold(systemCtx("test"), resolvedHold, { notCharged: true, note: "Looked." });
}, 60_000);

/** A request for each endpoint that succeeds, or ends as it does for a resolved hold. */
function sample({ method, path }: Endpoint): Request {
  const target = path
    .replace("{project_id}", tenant.projectId)
    .replace("{hold_id}", resolvedHold)
    .replace("{budget_id}", budgetId);
  if (path === "/v1/budgets" && method === "PUT") return { method, target, body: budget };
  if (method === "GET" || method === "DELETE") return { method, target };
  if (method === "PUT") return { method, target, body: { enforcement: "off" } };
  if (path === "/v1/billing/guardrails") return { method, target, body: { dailyMicros: null } };
  return { method, target, body: { notCharged: true, note: "Looked." } };
}

everyEndpoint("budgets", { sample });

describe("budgets and holds", () => {
  test("budgets of an unknown project are 404", async () => {
    const { headers } = owner;
    await ask([404, "NotFound"], "GET", `/v1/budgets?projectId=${newId("project")}`, { headers });
    await ask([422, "list"], "GET", `/v1/budgets?projectId=${"x".repeat(65)}`, { headers });
    const body = { ...budget, owner: { projectId: newId("project") } };
    await ask([404, "NotFound"], "PUT", "/v1/budgets", { headers, body });
  });

  const asOwner = (wanted: ExpectedStatus, method: string, target: string, body?: unknown) =>
    ask(wanted, method, target, { ...owner, body });
  const roled = async (of: Tenant, role: "owner" | "member") => ({
    headers: await sessionHeaders(of.organizationId, role),
  });

  test("an owner sets a policy in its short or long form, and the project's keys and members read the policy with its usage", async () => {
    const own = await makeTenant();
    const target = `/v1/projects/${own.projectId}/budget-policy`;
    const put = async (wanted: ExpectedStatus, body: unknown) =>
      ask(wanted, "PUT", target, { ...(await roled(own, "owner")), body });
    expect((await ask(200, "GET", target, { key: own.key })).json).toEqual({
      projectId: own.projectId,
      enforcement: "off",
      budgets: [],
    });
    await put(200, { enforcement: "prevent", ceilingMicros: 1_000_000, period: "day" });
    await ask(200, "POST", at(TEXT, "jobs"), { key: own.key, body: { input } });
    const { json } = await ask(200, "GET", target, { key: own.key });
    const [budget] = json.budgets;
    expect(json).toMatchObject({ enforcement: "prevent", budgets: [{ period: "day", ceilingUsd: 1 }] });
    expect(budget.testSpend.heldMicros).toBeGreaterThan(0);
    expect(budget.testSpend.availableMicros).toBe(1_000_000 - budget.testSpend.heldMicros);
    const until = new Date(Date.now() + 60_000).toISOString();
    const temporaryIncrease = { amountMicros: 7, until, reason: "Launch" };
    const long = { budgets: [{ period: "total", ceilingUsd: 0, enforcement: "prevent", temporaryIncrease }] };
    expect((await put(200, long)).json.budgets).toMatchObject([
      { period: "day", enforcement: "off" },
      { period: "total", effectiveCeilingMicros: 7, temporaryIncrease },
    ]);
    await ask([402, "BudgetExceeded"], "POST", at(TEXT, "jobs"), { key: own.key, body: { input } });
    for (const wrong of [
      {},
      { enforcement: "maybe" },
      { period: "week", ceilingMicros: 1 },
      { ceilingMicros: -1 },
      { ceilingMicros: 1.5 },
      { ceilingMicros: 1, more: true },
      { ceilingMicros: 1, temporaryIncrease: { ...temporaryIncrease, until: "2020-01-01T00:00:00Z" } },
    ])
      await put([422, "list"], wrong);
    const member = await roled(own, "member");
    await ask([403, "AuthorizationFailed"], "PUT", target, { ...member, body: { enforcement: "off" } });
    await ask(200, "GET", target, member);
  });

  test("a policy, guardrails, holds and a hold of another tenant are 404", async () => {
    const other = await makeTenant();
    const theirs = `/v1/projects/${other.projectId}/budget-policy`;
    await get([404, "NotFound"], theirs);
    await asOwner([404, "NotFound"], "GET", theirs);
    await asOwner([404, "NotFound"], "PUT", theirs, { enforcement: "off" });
    const named = `organizationId=${other.organizationId}`;
    for (const path of ["guardrails", "holds"]) {
      await get([404, "NotFound"], `/v1/billing/${path}?${named}`);
      await asOwner([404, "NotFound"], "GET", `/v1/billing/${path}?${named}`);
      await get([422, "list"], `/v1/billing/${path}?organizationId=${"x".repeat(65)}`);
    }
    const body = { organizationId: other.organizationId, dailyMicros: 1 };
    await asOwner([404, "NotFound"], "PATCH", "/v1/billing/guardrails", body);
    const holdId = await loseHold(other);
    const resolve = { notCharged: true, note: "Mine?" };
    await asOwner([404, "NotFound"], "POST", `/v1/billing/holds/${holdId}/resolve`, resolve);
    await get([403, "AuthorizationFailed"], `/v1/billing/holds?projectId=${other.projectId}`);
  });

  test("guardrails change field by field, and a person of several organizations must name one", async () => {
    const target = "/v1/billing/guardrails";
    const set = (body: unknown) => asOwner(200, "PATCH", target, body);
    expect((await set({ dailyMicros: 5 })).json).toMatchObject({ dailyMicros: 5, perExecutionMicros: null });
    expect((await set({ perExecutionMicros: 3 })).json).toMatchObject({
      dailyMicros: 5,
      perExecutionMicros: 3,
    });
    expect((await get(200, target)).json.spend).toMatchObject({ settledMicros: 0, availableMicros: 5 });
    await set({ dailyMicros: null, perExecutionMicros: null });
    for (const wrong of [{ dailyMicros: -1 }, { dailyMicros: 0.5 }, { daily: 1 }])
      await asOwner([422, "list"], "PATCH", target, wrong);
    const { headers } = await roled(tenant, "owner");
    const other = await makeTenant();
    const { rows } = await pool.query(
      "SELECT user_id FROM membership WHERE organization_id = $1 ORDER BY user_id DESC LIMIT 1",
      [tenant.organizationId],
    );
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'owner')", [
      rows[0].user_id,
      other.organizationId,
    ]);
    await ask([422, "InvalidInput"], "GET", target, { headers });
    await ask([422, "InvalidInput"], "PATCH", target, { headers, body: { dailyMicros: 1 } });
    await ask(200, "GET", `${target}?organizationId=${other.organizationId}`, { headers });
  });

  test("a hold is listed until an owner resolves it, which works once", async () => {
    const own = await makeTenant();
    const holdId = await loseHold(own);
    const holds = async (query = "") =>
      (await ask(200, "GET", `/v1/billing/holds${query}`, { key: own.key })).json.items;
    expect(await holds("?state=ambiguous")).toMatchObject([{ holdId, state: "ambiguous" }]);
    expect(await holds("?state=open")).toEqual([]);
    expect(await holds("?test=true")).toMatchObject([{ holdId }]);
    expect(await holds("?test=false")).toEqual([]);
    for (const wrong of ["", "maybe", "2", "true&test=false"])
      await ask([422, "list"], "GET", `/v1/billing/holds?test=${wrong}`, { key: own.key });
    const target = `/v1/billing/holds/${holdId}/resolve`;
    const byOwner = await roled(own, "owner");
    for (const wrong of [
      { note: "x" },
      { notCharged: true },
      { notCharged: true, chargedMicros: 1, note: "x" },
      { chargedMicros: -1, note: "x" },
      { notCharged: false, note: "x" },
    ])
      await ask([422, "list"], "POST", target, { ...byOwner, body: wrong });
    const body = { chargedMicros: 21, note: "On the invoice." };
    const blind = (is: boolean) =>
      pool.query(
        "UPDATE job SET is_blind = $2, comparison_id = $3 WHERE id = (SELECT execution_id FROM hold WHERE id = $1)",
        [holdId, is, is ? "cmp_1" : null],
      );
    await blind(true);
    const unjudged = await ask([409, "ComparisonUnjudged"], "POST", target, { ...byOwner, body });
    expect(unjudged.json.detail.details).toEqual({ comparisonId: "cmp_1" });
    await blind(false);
    await ask([403, "AuthorizationFailed"], "POST", target, { ...(await roled(own, "member")), body });
    const { json } = await ask(200, "POST", target, { ...byOwner, body });
    expect(json).toMatchObject({ state: "settled", settledMicros: 21, note: "On the invoice." });
    expect(await holds()).toEqual([]);
    const again = await ask([409, "HoldNotAmbiguous"], "POST", target, { ...byOwner, body });
    expect(again.json.detail.details).toEqual({ state: "settled" });
    const job = await ask(200, "GET", `/v1/jobs/${json.executionId}`, { key: own.key });
    expect(job.json.chargeResolution).toMatchObject({ outcome: "charged", chargedMicros: 21 });
  });
});

everyStatusHasACase("budgets");
