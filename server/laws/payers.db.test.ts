import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { TRPCError } from "@trpc/server";
import { expect, test } from "vitest";
import { openImports } from "@/scripts/test/imports";
import { SCOPES } from "@/server/contract/enums";
import { type Ctx, type Scope, systemCtx } from "@/server/domain/ctx";
import { createKey } from "@/server/domain/organizations";
import * as payments from "@/server/domain/payments";
import * as requests from "@/server/domain/requests";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { appRouter } from "@/server/trpc";
import { call } from "@/testing/api";
import { OPEN_TERMS } from "@/testing/embeds";
import { makePayable, type Payable } from "@/testing/payable";

const system = systemCtx("test");

/** Every kind of caller that is not a signed-in person, by name. */
function nobodys({ ctx, organizationId, projectId }: Payable): [string, Ctx][] {
  const key = (scopes: readonly Scope[], boundTo: string | null): Ctx => {
    const principal = {
      kind: "service_principal" as const,
      id: newId("key"),
      organizationId,
      environment: "development",
    };
    return {
      ...ctx,
      principal: { ...principal, projectId: boundTo, scopes: new Set(scopes), userId: newId("user") },
    };
  };
  const panel = {
    kind: "panel_session" as const,
    id: "pan_1",
    organizationId,
    projectId,
    givenBy: "human_session" as const,
  };
  return [
    ...SCOPES.map((scope): [string, Ctx] => [`a key of ${scope}`, key([scope], projectId)]),
    ["a key of every scope", key(SCOPES, projectId)],
    ["a key of every scope and project", key(SCOPES, null)],
    [
      "a panel session",
      {
        ...ctx,
        principal: {
          ...panel,
          environment: "development",
          origins: ["https://app.test"],
          userId: null,
          terms: OPEN_TERMS,
        },
      },
    ],
    ["the system", { ...system, now: ctx.now }],
    ["the engine", { ...systemCtx("refund-payment"), now: ctx.now }],
    ["nobody", { ...ctx, principal: { kind: "anonymous", id: "anonymous", address: "127.0.0.1" } }],
  ];
}

/** Rows that a payment would change. */
async function moneyOf({ organizationId, requestId }: Payable) {
  const [payment, quote, request, ledger] = await Promise.all([
    pool.query("SELECT id, state FROM payment WHERE organization_id = $1 ORDER BY id", [organizationId]),
    pool.query("SELECT id, state, payment_id FROM commission_quote WHERE organization_id = $1 ORDER BY id", [
      organizationId,
    ]),
    pool.query("SELECT status FROM capability_request WHERE id = $1", [requestId]),
    pool.query("SELECT count(*)::int AS entries FROM ledger_entry WHERE organization_id = $1", [
      organizationId,
    ]),
  ]);
  return [payment, quote, request, ledger].map(({ rows }) => rows);
}

test("no key of any scope, no panel session and no internal process starts or finishes a payment", async () => {
  const world = await makePayable();
  const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
  const topUp = await payments.startTopUp(
    { ...world.member, principal: { ...personWithRole(world, "admin") } },
    world.organizationId,
    { amountMicros: 10_000_000 },
  );
  const before = await moneyOf(world);
  for (const [who, ctx] of nobodys(world)) {
    const tries = [
      () => requests.startCommissionCheckout(ctx, world.quoteId),
      () => payments.decideTestPayment(ctx, paymentId, "pay"),
      () => payments.decideTestPayment(ctx, paymentId, "cancel"),
      () => payments.decideTestPayment(ctx, topUp.paymentId, "pay"),
      () => payments.startTopUp(ctx, world.organizationId, { amountMicros: 10_000_000 }),
      () => payments.startTopUp(ctx, undefined, { amountMicros: 10_000_000 }),
    ];
    for (const [index, attempt] of tries.entries()) {
      const refused = await attempt().then(
        () => null,
        (error) => error,
      );
      expect(refused, `${who}, ${index}`).toBeInstanceOf(Fault);
      expect([who, index, refused.code]).toEqual([who, index, "AuthorizationFailed"]);
    }
  }
  expect(await moneyOf(world)).toEqual(before);
  // The same calls succeed for a person, so the others are refused for who they are.
  expect(await payments.decideTestPayment(world.member, paymentId, "pay")).toMatchObject({ state: "paid" });
});

function personWithRole(world: Payable, role: "admin") {
  const { principal } = world.member;
  if (principal.kind !== "human_session") throw new Error("no person");
  return { ...principal, memberships: new Map([[world.organizationId, role]]) };
}

/** Procedures for people without an account: holders of an invitation's token. */
const OPENED_BY_TOKEN = ["organizations.lookAtInvitation", "organizations.acceptInvitation"];

test("every procedure of the panel, except those for invitations, refuses all but signed-in people before it parses its input", {
  tags: "long",
}, async () => {
  const world = await makePayable();
  const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
  const before = await moneyOf(world);
  const names = Object.keys(appRouter._def.procedures);
  expect(names).toEqual(
    expect.arrayContaining([
      "requests.pay",
      "requests.commission",
      "billing.decideTestPayment",
      "billing.topUp",
    ]),
  );
  const input = {
    quoteId: world.quoteId,
    paymentId,
    decision: "pay",
    organizationId: world.organizationId,
    amountMicros: 10_000_000,
    request_id: world.requestId,
    requestId: world.requestId,
    project_id: world.projectId,
  };
  for (const [who, ctx] of nobodys(world)) {
    const caller = appRouter.createCaller(ctx) as unknown as Record<
      string,
      Record<string, (input: unknown) => Promise<unknown>>
    >; // procedures by name
    for (const name of names) {
      const [noun = "", verb = ""] = name.split(".");
      const refused = await caller[noun]![verb]!(input).then(
        () => null,
        (error: unknown) => error,
      );
      expect(refused, `${who} ${name}`).toBeInstanceOf(TRPCError);
      // A procedure that an invitation's link opens is refused for lack of its token; no other looks at its input.
      const code = OPENED_BY_TOKEN.includes(name) ? "BAD_REQUEST" : "UNAUTHORIZED";
      expect([who, name, (refused as TRPCError).code]).toEqual([who, name, code]);
    }
  }
  expect(await moneyOf(world)).toEqual(before);
});

const ABOUT_MONEY = /billing|payment|checkout|commission|capability-requests|quote|approve|approval/i;

test("no endpoint of the API that is about payments or commissions pays for a key of any scope", {
  tags: "long",
}, async () => {
  const world = await makePayable();
  await requests.startCommissionCheckout(world.member, world.quoteId);
  const about = endpoints.filter((each) =>
    ABOUT_MONEY.test(`${each.path} ${each.summary} ${each.description ?? ""}`),
  );
  expect(about.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      "/v1/billing/wallet/top-up-session",
      "/v1/capability-requests/{request_id}/quote",
    ]),
  );
  const isOpening = (path: string) => /top-up-session|checkout-session|portal-session/.test(path);
  for (const { path, auth } of about.filter(({ path }) => isOpening(path)))
    expect([path, auth]).toEqual([path, ["human_session"]]);
  const keys = [...SCOPES.map((scope) => [scope] as Scope[]), [...SCOPES]];
  const before = await moneyOf(world);
  for (const scopes of keys) {
    const { apiKey } = await createKey(system, {
      name: "agent",
      projectId: world.projectId,
      environment: "development",
      scopes,
    });
    for (const { method, path, body } of about) {
      if (path.startsWith("/v1/capability-requests") && method === "POST") continue; // rewording a request is not a payment
      const target = path
        .replace("{request_id}", world.requestId)
        .replace("{quote_id}", world.quoteId)
        .replaceAll(/\{[^}]*\}/g, world.quoteId);
      const sent = { quoteId: world.quoteId, amountMicros: 10_000_000, planKey: "x", decision: "pay" };
      const answer = await call(method, target, { key: apiKey, ...(body ? { body: sent } : {}) });
      expect(answer.status, `${method} ${path}`).toBeLessThan(500);
      if (isOpening(path)) expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.text).not.toContain("/checkout/test/");
    }
    // Paths where someone may look for a way to accept a quote do not exist.
    for (const path of ["accept", "pay", "approve", "checkout", "quote/accept", "quote/pay"]) {
      const target = `/v1/capability-requests/${world.requestId}/${path}`;
      expect((await call("POST", target, { key: apiKey, body: {} })).status).toBe(404);
    }
  }
  expect(await moneyOf(world)).toEqual(before);
});

const ROOT = resolve(import.meta.dirname, "../..");
const { importedBy } = openImports(ROOT);

test("every entry point that can book a payment imports commissions", { tags: "long" }, () => {
  const routes = readdirSync(join(ROOT, "app"), { recursive: true, encoding: "utf8" })
    .filter((file) => /(^|\/)(route\.ts|page\.tsx|layout\.tsx)$/.test(file))
    .map((file) => `app/${file}`);
  const entries = [
    ...routes,
    "server/web.ts",
    "server/worker.ts",
    "scripts/admin.ts",
    "inngest/functions/registry.gen.ts",
  ];
  const books = entries.filter((entry) => importedBy(entry).has("server/domain/payments/kinds.ts"));
  expect(books).toEqual(
    expect.arrayContaining([
      "app/api/webhooks/stripe/route.ts",
      "app/api/trpc/[trpc]/route.ts",
      "server/worker.ts",
      "server/web.ts",
    ]),
  );
  expect(books.filter((entry) => !importedBy(entry).has("server/domain/requests/commission.ts"))).toEqual([]);
  expect(importedBy("server/domain/payments/index.ts").has("server/domain/requests/commission.ts")).toBe(
    false,
  ); // the law sees imports
});
