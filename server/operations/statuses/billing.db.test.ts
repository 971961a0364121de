import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import type { SetBudget } from "@/server/contract/budgets";
import { credit } from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import * as organizations from "@/server/domain/organizations";
import { receiveStripeMessage } from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { newId, ulid } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { finish, makeTenant, sessionHeaders, sessionOf, type Tenant } from "@/testing/api";
import { cookieOf } from "@/testing/sessions";
import { setSettings } from "@/testing/settings";
import { messagesOf, signed, startStripe } from "@/testing/stripe";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, input, loseHold, MATH, openTenant, owner, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A finished job and one that waits. */
let done: string;
let queued: string;
/** A hold that was ambiguous, and resolved. */
let resolvedHold: string;
let budget: SetBudget;
let budgetId: string;
beforeAll(async () => {
  const submit = async () => (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  queued = await submit();
  for (let n = 0; n < 6; n++) done = (await finish(await submit())).jobId;
  await tenant.post(at(MATH, "invoke"), { input: { expression: "6 * 7" } });
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

/** For every endpoint a request that succeeds, or ends as it does without a payment provider. */
function sample({ method, path }: Endpoint): Request {
  const target = path
    .replace("{project_id}", tenant.projectId)
    .replace("{hold_id}", resolvedHold)
    .replace("{budget_id}", budgetId);
  if (path === "/v1/budgets" && method === "PUT") return { method, target, body: budget };
  if (path === "/v1/budgets/{budget_id}") return { method, target };
  if (path.endsWith("/usage-export")) return { method, target: `${target}?from=2026-01-01&to=2026-01-02` };
  if (method === "GET" || path === "/v1/billing/portal-session") return { method, target };
  if (method === "PUT") return { method, target, body: { enforcement: "off" } };
  if (path === "/v1/billing/guardrails") return { method, target, body: { dailyMicros: null } };
  if (path === "/v1/billing/currency") return { method, target, body: { billingCurrency: "USD" } };
  if (path === "/v1/billing/checkout-session") return { method, target, body: { planKey: "builder" } };
  if (path.endsWith("/resolve")) return { method, target, body: { notCharged: true, note: "Looked." } };
  return { method, target, body: { amountMicros: 10_000_000 } };
}

everyEndpoint("billing", { sample });

describe("budgets and holds", () => {
  test("budgets of a project or organization that is not there", async () => {
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

  test("a policy is put by an admin in its short or its long form, and read by the project's keys with what counts", async () => {
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

  test("404 for a policy, guardrails, holds and a hold of somebody else", async () => {
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

  test("guardrails are changed field by field; a person of several organizations names one", async () => {
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

  test("a hold is listed until an owner resolves it, once", async () => {
    const own = await makeTenant();
    const holdId = await loseHold(own);
    const holds = async (query = "") =>
      (await ask(200, "GET", `/v1/billing/holds${query}`, { key: own.key })).json.items;
    expect(await holds("?state=ambiguous")).toMatchObject([{ holdId, state: "ambiguous" }]);
    expect(await holds("?state=open")).toEqual([]);
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

describe("billing", () => {
  const asOwner = (wanted: ExpectedStatus, method: string, path: string, body?: unknown) =>
    ask(wanted, method, `/v1/billing/${path}`, { ...owner, body });
  const unset = { ...env };
  afterEach(() => {
    setSettings(unset);
  });

  test("the wallet and its transactions are those of the key's organization, whichever it names", async () => {
    const other = await makeTenant();
    for (const path of ["wallet", "wallet/transactions"]) {
      await get(200, `/v1/billing/${path}?organizationId=${tenant.organizationId}`);
      const foreign = await get(
        [404, "NotFound"],
        `/v1/billing/${path}?organizationId=${other.organizationId}`,
      );
      const absent = await get(
        [404, "NotFound"],
        `/v1/billing/${path}?organizationId=${newId("organization")}`,
      );
      expect(foreign.json.detail).toEqual(absent.json.detail);
      await get([422, "list"], `/v1/billing/${path}?organizationId=${"x".repeat(65)}`);
    }
    const { json } = await get(200, "/v1/billing/wallet");
    expect(json).toMatchObject({ organizationId: tenant.organizationId, billingCurrency: "USD" });
  });

  test("transactions come by pages that do not change, of wallet and allowance, without other projects' for a bound key", async () => {
    const own = await makeTenant({ walletMicros: 0 });
    const system = systemCtx("test");
    for (const isTest of [true, false])
      for (const amountMicros of [5_000_000, -1_000_000])
        await credit(system, { organizationId: own.organizationId, amountMicros, isTest, reason: "test" });
    for (const projectId of [own.projectId, own.otherProjectId]) {
      const { json } = await own.post(
        at(TEXT, "jobs"),
        { input, context: { projectId } },
        { key: own.unboundKey },
      );
      await finish(json.jobId);
    }
    const pages = async (key: string, query = "") => {
      const items: { entryId: string; projectId: string | null; amount: { amountMicros: number } }[] = [];
      for (let cursor = ""; ; ) {
        const { json } = await ask(200, "GET", `/v1/billing/wallet/transactions?limit=2${query}${cursor}`, {
          key,
        });
        items.push(...json.items);
        if (!json.nextCursor) return items;
        cursor = `&cursor=${json.nextCursor}`;
      }
    };
    const all = await pages(own.unboundKey);
    expect(all).toHaveLength(6);
    expect(all.map((each) => Number(each.entryId))).toEqual(
      all.map((each) => Number(each.entryId)).sort((a, b) => b - a),
    );
    const bound = await pages(own.key);
    expect(bound.map((each) => each.projectId)).toEqual(
      all.map((each) => each.projectId).filter((id) => id !== own.otherProjectId),
    );
    expect(await pages(own.unboundKey, "&test=true")).toHaveLength(4);
    const live = await pages(own.unboundKey, "&test=false");
    expect(live.map((each) => each.amount.amountMicros)).toEqual([-1_000_000, 5_000_000]);
    for (const wrong of [
      "cursor=x",
      "cursor=-1",
      "cursor=0",
      `cursor=${newId("job")}`,
      "limit=0",
      "limit=201",
      "test=maybe",
    ])
      await get([422, "list"], `/v1/billing/wallet/transactions?${wrong}`);
  });

  test("a person of several organizations names one", async () => {
    const other = await makeTenant();
    const { userId } = await organizations.createUser(systemCtx("test"), {
      email: `${ulid()}@capstan.test`,
      organizationId: tenant.organizationId,
      role: "admin",
      password: "a password of this test",
    });
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'owner')", [
      userId,
      other.organizationId,
    ]);
    const headers = { ...owner.headers, cookie: await cookieOf(userId) };
    const top = { headers, body: { amountMicros: 10_000_000 } };
    const refused = await ask([422, "InvalidInput"], "GET", "/v1/billing/wallet", { headers });
    expect(refused.json.detail.details.organizationIds.sort()).toEqual(
      [tenant.organizationId, other.organizationId].sort(),
    );
    await ask([422, "InvalidInput"], "GET", "/v1/billing/plans", { headers });
    await ask([404, "NotFound"], "GET", `/v1/billing/plans?organizationId=${newId("organization")}`, {
      headers,
    });
    await ask([422, "InvalidInput"], "POST", "/v1/billing/wallet/top-up-session", top);
    const target = `organizationId=${other.organizationId}`;
    await ask(200, "GET", `/v1/billing/wallet?${target}`, { headers });
    await ask(200, "POST", `/v1/billing/wallet/top-up-session?${target}`, top);
  });

  test("a top-up answers texts only: where to pay, the session and the payment", async () => {
    const { json } = await asOwner(200, "POST", "wallet/top-up-session", {
      amountMicros: 25_000_000,
      presetKey: "usd_25",
    });
    expect(Object.values(json).every((value) => typeof value === "string")).toBe(true);
    expect(json.paymentId).toMatch(/^pmt_/);
    for (const body of [
      {},
      { amountMicros: 0 },
      { amountMicros: -1 },
      { amountMicros: 1.5 },
      { amountMicros: "1" },
      { amountMicros: 10_000_000, isTest: false },
      { amountMicros: 12_345 },
    ])
      await asOwner([422, "list"], "POST", "wallet/top-up-session", body);
    const wrong = await asOwner([422, "list"], "POST", "wallet/top-up-session", {
      amountMicros: 1_000_000,
      presetKey: "usd_25",
    });
    expect(wrong.json.detail[0].loc).toEqual(["body", "presetKey"]);
  });

  test("people who are no admins change nothing, and no one finds another organization", async () => {
    const cookie = await sessionOf(tenant.organizationId);
    const other = await makeTenant();
    for (const [method, path, body] of [
      ["POST", "wallet/top-up-session", { amountMicros: 10_000_000 }],
      ["PATCH", "currency", { billingCurrency: "USD" }],
      ["POST", "checkout-session", { planKey: "builder" }],
      ["POST", "portal-session", undefined],
    ] as const) {
      await ask([403, "AuthorizationFailed"], method, `/v1/billing/${path}`, {
        headers: { ...owner.headers, cookie },
        body,
      });
      for (const id of [other.organizationId, newId("organization")])
        await asOwner([404, "NotFound"], method, `${path}?organizationId=${id}`, body);
      await asOwner([422, "list"], method, `${path}?organizationId=${"x".repeat(65)}`, body);
    }
  });

  test("the currency is USD or CAD and answers texts only", async () => {
    const body = { billingCurrency: "CAD", billingCountry: "CA", billingLocale: "en-CA" };
    const { json } = await asOwner(200, "PATCH", "currency", body);
    expect(json).toEqual({ ...body, organizationId: tenant.organizationId });
    expect((await get(200, "/v1/billing/wallet")).json).toMatchObject({
      billingCurrency: "CAD",
      available: { currency: "USD" },
      fx: { baseCurrency: "USD", quoteCurrency: "CAD", source: "development" },
    });
    for (const wrong of [
      {},
      { billingCurrency: "EUR" },
      { billingCurrency: "usd" },
      { ...body, billingCountry: "Canada" },
      { ...body, billingLocale: "no locale" },
    ])
      await asOwner([422, "list"], "PATCH", "currency", wrong);
    await asOwner(200, "PATCH", "currency", { billingCurrency: "USD" });
  });

  test("402 in production where no one can pay, or not in that currency", async () => {
    setSettings({ CAPSTAN_ENV: "production" });
    for (const [method, path, body] of [
      ["POST", "wallet/top-up-session", { amountMicros: 10_000_000 }],
      ["PATCH", "currency", { billingCurrency: "CAD" }],
    ] as const)
      await asOwner([402, "billing_not_configured"], method, path, body);
  });

  test("with Stripe the portal opens after the first payment, and no plan is for sale", async () => {
    const stripe = await startStripe();
    try {
      await asOwner([404, "NotFound"], "POST", "portal-session");
      await asOwner([422, "InvalidInput"], "POST", "checkout-session", { planKey: "builder" });
      const { json } = await asOwner(200, "POST", "wallet/top-up-session", { amountMicros: 10_000_000 });
      const { organizationId } = tenant;
      const { raw, signature } = signed(messagesOf({ ...json, organizationId, cents: 1000 }).completed());
      expect(await receiveStripeMessage(raw, signature)).toBe("applied");
      expect((await asOwner(200, "POST", "portal-session")).json.url).toContain("portal.stripe.test");
    } finally {
      await stripe.stop();
    }
  });
});

describe("usage", () => {
  const summary = "/v1/billing/summary";
  const file = "/v1/billing/usage-export";

  test("the last 7 to 90 days are summed up, live and test apart; 422 outside", async () => {
    const { json } = await get(200, summary);
    expect(json).toMatchObject({ days: 30, projectId: tenant.projectId, currency: "USD" });
    expect(json.live.totals.executions).toBeGreaterThan(0); // what runs here, free
    expect(json.test.totals.executions).toBeGreaterThan(5);
    expect(json.test.byDay.length).toBe(30);
    for (const days of ["7", "90"]) expect((await get(200, `${summary}?days=${days}`)).json.days).toBe(+days);
    for (const days of ["6", "91", "many", "7.5", ""]) {
      const refused = await get([422, "list"], `${summary}?days=${days}`);
      expect(refused.json.detail[0].loc).toEqual(["query", "days"]);
    }
  });

  test("403 for a project or an organization of somebody else", async () => {
    for (const target of [summary, `${file}?from=2026-01-01&to=2026-01-02`]) {
      const more = target.includes("?") ? "&" : "?";
      await get([403, "AuthorizationFailed"], `${target}${more}projectId=${newId("project")}`);
      await get([403, "AuthorizationFailed"], `${target}${more}projectId=${tenant.otherProjectId}`);
      await get([403, "AuthorizationFailed"], `${target}${more}organizationId=${newId("organization")}`);
    }
  });

  test("an export is a file of lines that end as RFC 4180 says; 422 for days it cannot be of", async () => {
    const from = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    const to = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
    const { headers, text } = await get(200, `${file}?from=${from}&to=${to}`);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="usage-${from}-${to}.csv"`,
    });
    expect(text).toMatch(/^BilledCost,EffectiveCost,.*\r\n/);
    expect(text).toContain(done);
    expect(text).not.toContain(queued);
    for (const [query, field] of [
      ["", "from"],
      ["from=2026-01-01", "to"],
      ["from=2026-01-01&to=2026-01-01", "to"],
      ["from=2026-01-02&to=2026-01-01", "to"],
      ["from=2026-01-01&to=2026-12-31", "to"],
      ["from=2026-02-30&to=2026-03-01", "from"],
      ["from=yesterday&to=2026-03-01", "from"],
    ]) {
      const { json } = await get([422, "list"], `${file}?${query}`);
      expect(json.detail[0].loc).toEqual(["query", field]);
    }
  });
});

everyStatusHasACase("billing");
