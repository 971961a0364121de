import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { credit } from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import * as organizations from "@/server/domain/organizations";
import { receiveStripeMessage } from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { newId, ulid } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { finish, makeTenant, sessionOf } from "@/testing/api";
import { cookieOf } from "@/testing/sessions";
import { setSettings } from "@/testing/settings";
import { messagesOf, signed, startStripe } from "@/testing/stripe";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, input, MATH, openTenant, owner, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A succeeded job and one that waits. */
let done: string;
let queued: string;
beforeAll(async () => {
  const submit = async () => (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  queued = await submit();
  for (let n = 0; n < 6; n++) done = (await finish(await submit())).jobId;
  await tenant.post(at(MATH, "invoke"), { input: { expression: "6 * 7" } });
}, 60_000);

/** A request for each endpoint that succeeds, or ends as it does without a payment provider. */
function sample({ method, path: target }: Endpoint): Request {
  if (target.endsWith("/usage-export")) return { method, target: `${target}?from=2026-01-01&to=2026-01-02` };
  if (method === "GET" || target === "/v1/billing/portal-session") return { method, target };
  if (target === "/v1/billing/currency") return { method, target, body: { billingCurrency: "USD" } };
  if (target === "/v1/billing/checkout-session") return { method, target, body: { planKey: "builder" } };
  return { method, target, body: { amountMicros: 10_000_000 } };
}

everyEndpoint("billing", { sample });

describe("billing", () => {
  const asOwner = (wanted: ExpectedStatus, method: string, path: string, body?: unknown) =>
    ask(wanted, method, `/v1/billing/${path}`, { ...owner, body });
  const unset = { ...env };
  afterEach(() => {
    setSettings(unset);
  });

  test("the wallet and its transactions are those of the key's organization, and any other organization is 404", async () => {
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

  test("transactions come latest first in pages, live or test money alone, and without other projects' for a bound key", async () => {
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

  test("a person of several organizations must name one", async () => {
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

  test("a top-up returns the checkout URL, the session and the payment as texts", async () => {
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

  test("people who are not admins change nothing, and unknown organizations are not found", async () => {
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

  test("the currency is USD or CAD, and the answer has only texts", async () => {
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

  test("a payment is 402 in production without a payment provider, or in another currency", async () => {
    setSettings({ CAPSTAN_ENV: "production" });
    for (const [method, path, body] of [
      ["POST", "wallet/top-up-session", { amountMicros: 10_000_000 }],
      ["PATCH", "currency", { billingCurrency: "CAD" }],
    ] as const)
      await asOwner([402, "billing_not_configured"], method, path, body);
  });

  test("the Stripe portal opens after the first payment, and no plan is for sale", async () => {
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

  test("the last 7 to 90 days are totaled, live and test apart, and other ranges are 422", async () => {
    const { json } = await get(200, summary);
    expect(json).toMatchObject({ days: 30, projectId: tenant.projectId, currency: "USD" });
    expect(json.live.totals.executions).toBeGreaterThan(0); // sandbox runs count, and cost nothing
    expect(json.test.totals.executions).toBeGreaterThan(5);
    expect(json.test.byDay.length).toBe(30);
    for (const days of ["7", "90"]) expect((await get(200, `${summary}?days=${days}`)).json.days).toBe(+days);
    for (const days of ["6", "91", "many", "7.5", ""]) {
      const refused = await get([422, "list"], `${summary}?days=${days}`);
      expect(refused.json.detail[0].loc).toEqual(["query", "days"]);
    }
  });

  test("another organization or its project is 403", async () => {
    for (const target of [summary, `${file}?from=2026-01-01&to=2026-01-02`]) {
      const more = target.includes("?") ? "&" : "?";
      await get([403, "AuthorizationFailed"], `${target}${more}projectId=${newId("project")}`);
      await get([403, "AuthorizationFailed"], `${target}${more}projectId=${tenant.otherProjectId}`);
      await get([403, "AuthorizationFailed"], `${target}${more}organizationId=${newId("organization")}`);
    }
  });

  test("an export has lines that end as RFC 4180 requires, and invalid days are 422", async () => {
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
