import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { BudgetOwner } from "@/server/contract/budgets";
import { ResolutionRequest } from "@/server/contract/capabilities";
import { AgentContext, AgentContextProfile } from "@/server/contract/diagnostics";
import { JOB_STATUSES } from "@/server/contract/enums";
import { TERMINAL } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import * as budgets from "@/server/domain/budgets";
import { allCapabilities, describeCapability, resolve } from "@/server/domain/catalog";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { ctxOf, makeTenant } from "@/testing/tenants";
import { agentContext, index, llmsText, manifest, providerDiagnostics, readiness, session } from ".";

/** The context of a request with this key. */
async function keyCtx(apiKey: string): Promise<Ctx> {
  const principal = await access.keyPrincipal(apiKey, new Date());
  if (!principal) throw new Error("the key is not good");
  return ctxOf(principal);
}

/** The texts of a document that are a method and a path. */
function namedIn(value: Json): string[] {
  if (typeof value === "string") return /^(?:GET|POST|PUT|PATCH|DELETE) \/\S*$/.test(value) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(namedIn);
}

describe("the context for agents", () => {
  const whole = agentContext("full");

  test("every method and path in the agent context is an endpoint, and every capability is listed", () => {
    const served = new Set(endpoints.map(({ method, path }) => `${method} ${path}`));
    const named = namedIn(whole as unknown as Json);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((each) => !served.has(each))).toEqual([]);
    expect(whole.launchScope).toEqual({ capabilityKeys: allCapabilities.map(({ key }) => key).sort() });
  });

  test("the agent context describes management keys: their purpose, who creates them, and an existing page", () => {
    for (const profile of AgentContextProfile.options) {
      const { managementKeys } = agentContext(profile).authentication as { managementKeys: string };
      expect(managementKeys).toMatch(
        /^A management key creates keys, .* an owner of the organization creates it .*\.$/,
      );
      const [, page = ""] = /\/(docs\/[\w/-]+\.md)/.exec(managementKeys) ?? [];
      expect(existsSync(page)).toBe(true);
    }
  });

  test("every endpoint that the agent context calls anonymous is open to anyone", () => {
    const { anonymous } = whole.authentication as { anonymous: string[] };
    const open = endpoints.filter(({ auth }) => (auth as readonly string[]).includes("anonymous"));
    const names = open.map(({ method, path }) => `${method} ${path}`);
    expect(anonymous.filter((each) => !names.includes(each))).toEqual([]);
  });

  test.each(AgentContextProfile.options)(
    "the agent context %s fits its contract, and its hash covers everything else",
    (profile) => {
      const { contentHash, ...rest } = AgentContext.parse(agentContext(profile));
      expect(contentHash).toBe(sha256Hex(canonicalText(rest as unknown as Json)));
      for (const [name, value] of Object.entries(rest))
        if (name !== "profile") expect(value).toEqual(whole[name]);
    },
  );

  test("the agent context with the profile compact is shorter than with integration, and with full it is longest", () => {
    const [compact, integration, full] = (["compact", "integration", "full"] as const).map(
      (profile) => JSON.stringify(agentContext(profile)).length,
    );
    expect(compact!).toBeLessThan(integration!);
    expect(integration!).toBeLessThan(full!);
  });
});

test("the manifest and llms.txt name only what is served", () => {
  const served = new Set<string>(endpoints.map(({ path }) => path));
  const beside = [
    "/openapi.json",
    "/docs",
    "/docs/index.md",
    "/docs/start/first-tasks.md",
    "/mcp",
    "/llms.txt",
    "/healthz",
    "/v1",
  ]; // the server's own test covers these
  const { documents, mcp, openaiCompatible } = manifest() as Record<string, Record<string, string>>;
  const addresses = [...Object.values(documents!), mcp!.url!, openaiCompatible!.baseUrl!];
  const linked = [...llmsText().matchAll(/\]\(([^)]+)\)/g)].map(([, address]) => address!);
  expect(linked.length).toBeGreaterThan(allCapabilities.length);
  for (const address of [...addresses, ...linked]) {
    const path = new URL(address).pathname;
    const key = /^\/v1\/capabilities\/(.+)$/.exec(path)?.[1];
    if (key) expect(allCapabilities.map((capability) => capability.key)).toContain(key);
    else expect(served.has(path) || beside.includes(path), path).toBe(true);
  }
});

test("the answer of / to programs is under 1 KB, and its steps are endpoints", () => {
  const answer = index() as { documents: Record<string, string>; steps: string[] };
  expect(JSON.stringify(answer).length).toBeLessThan(1_024);
  const served = endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/{[^}]+}/g, "{}")}`);
  for (const step of answer.steps)
    expect(served).toContain(step.split(/ or |\?/)[0]!.replaceAll(/{[^}]+}/g, "{}"));
});

test("the agent context agrees with the descriptors on idempotency, and with jobs on their statuses", () => {
  const { asyncJobs } = agentContext("full") as unknown as { asyncJobs: Record<string, unknown> };
  const descriptor = describeCapability(allCapabilities[0]!, false);
  expect([asyncJobs.idempotencyKeyRequired, asyncJobs.idempotencyKeyRecommended]).toEqual([
    descriptor.idempotencyRequired,
    descriptor.idempotencyRecommended,
  ]);
  const { waiting, terminal, humanGate } = asyncJobs.jobWait as Record<string, string[]>;
  expect(terminal).toEqual([...TERMINAL]);
  expect([...waiting!, ...terminal!, ...humanGate!].sort()).toEqual([...JOB_STATUSES].sort());
});

describe("diagnostics of a key", () => {
  test("the diagnostics of a bound key show its project, environment, expiry and scopes", async () => {
    const tenant = await makeTenant();
    const expiresAt = new Date("2031-01-02T03:04:05.000Z");
    await pool.query("UPDATE api_key SET expires_at = $2 WHERE id = $1", [tenant.keyId, expiresAt]);
    const bound = await session(await keyCtx(tenant.apiKey));
    expect(bound).toMatchObject({
      principalId: tenant.keyId,
      projectId: tenant.projectId,
      environment: "development",
      expiresAt: expiresAt.toISOString(),
    });
    expect(bound.routeBundleVersion).not.toBe("");
    expect(bound.scopes).toContain("capabilities:run");
  });

  test("every spending limit that counts the key's work is listed with the amount left, and no other limit is", async () => {
    const [tenant, stranger] = [await makeTenant(), await makeTenant()];
    const { organizationId, projectId, keyId } = tenant;
    const limit = (owner: BudgetOwner, ceilingMicros: number, enforcement: "prevent" | "off") =>
      budgets.set(systemCtx("test"), { owner, period: "day", ceilingMicros, enforcement });
    await limit({ projectId }, 5_000_000, "prevent");
    await limit({ principalId: keyId, organizationId }, 1_000_000, "prevent");
    await limit({ organizationId }, 9_000_000, "off");
    await limit({ projectId: stranger.projectId }, 7_000_000, "prevent");
    const ctx = await keyCtx(tenant.apiKey);
    const left = async () =>
      (await session(ctx)).ceilings.map(({ scope, testAvailableMicros }) => [scope, testAvailableMicros]);
    expect(await left()).toEqual([
      [`project:${projectId}`, 5_000_000],
      [`principal:${keyId}`, 1_000_000],
    ]);
    const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
    const { charge } = await jobs.invoke(ctx, "text.general.fast.v1", { input });
    const spent = charge.chargedMicros ?? 0;
    expect(spent).toBeGreaterThan(0);
    expect(await left()).toEqual([
      [`project:${projectId}`, 5_000_000 - spent],
      [`principal:${keyId}`, 1_000_000 - spent],
    ]);
  });

  test("without a provider account only the sandbox is available, and the sums of the answer agree", async () => {
    const tenant = await makeTenant();
    const found = await providerDiagnostics(await keyCtx(tenant.apiKey), {});
    const of = (name: string) => found.generationProviders.find(({ provider }) => provider === name);
    expect(of("sandbox")).toMatchObject({ available: true, accounts: ["sandbox"], reason: null });
    expect(of("openai")).toMatchObject({ available: false, accounts: [], reason: "connection_required" });
    expect(found).toMatchObject({ byokBound: false, imageProviderReady: true, imageGenerationReady: true });
    expect(found.managedOperatorFundingPresent).toBe(false);
    expect(found.managedSmokeAvailable).toBe(
      found.managedExecutionFundingAvailable && found.managedExecutionCoverageDetail.covered.length > 0,
    );
    expect(found.managedExecutionFundingRemaining).toBeCloseTo(
      found.managedTrialRemaining + found.managedCreditRemaining,
      6,
    );
  });

  test("with test money spent no image can be made, while the provider is still available", async () => {
    const tenant = await makeTenant({ walletMicros: 0 });
    await pool.query(
      `INSERT INTO wallet (organization_id, is_test, allowance_micros, allowance_used_micros, created_at)
       VALUES ($1, true, 500000, 500000, $2)
       ON CONFLICT (organization_id, is_test) DO UPDATE SET allowance_micros = 500000, allowance_used_micros = 500000`,
      [tenant.organizationId, new Date()],
    );
    const ctx = await keyCtx(tenant.apiKey);
    const found = await providerDiagnostics(ctx, {});
    expect(found).toMatchObject({ imageProviderReady: true, imageGenerationReady: false });
    expect(found.imageGenerationAccess).toMatchObject({ reason: "funding_required" });
    const state = await readiness(ctx, { capabilities: ["image.generate.v1", "compute.evaluate.v1"] });
    expect(state.ready).toBe(false);
    expect(state.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["funding"]);
    expect(state.capabilities.map(({ ready }) => ready)).toEqual([false, true]);
  });

  test.each([
    ["a project", "UPDATE project SET status = 'archived' WHERE id = $1", "project_archived"],
    [
      "an environment",
      "UPDATE environment SET status = 'archived' WHERE project_id = $1 AND slug = 'development'",
      "environment_archived",
    ],
  ])("in %s that is archived nothing is ready, and the answer says why", async (_, archive, reason) => {
    const tenant = await makeTenant();
    const ctx = await keyCtx(tenant.apiKey);
    await pool.query(archive, [tenant.projectId]);
    const state = await readiness(ctx, { capabilities: ["text.general.fast.v1", "compute.evaluate.v1"] });
    expect(state.ready).toBe(false);
    expect(state.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "project", ok: false, detail: expect.stringContaining("archived") },
    ]);
    for (const { ready, accessDecision } of state.capabilities) {
      expect(ready).toBe(false);
      expect(accessDecision).toMatchObject({ allowed: false, runnable: false, reason, requiredAction: null });
    }
    expect(await providerDiagnostics(ctx, {})).toMatchObject({
      imageGenerationReady: false,
      imageGenerationAccess: { reason },
      managedSmokeAvailable: false,
    });
    const request = ResolutionRequest.parse({
      intent: "text.general.fast.v1",
      requirements: { runnableNow: true },
    });
    expect(await resolve(ctx, request)).toMatchObject({
      requirementsSatisfied: false,
      unmetRequirements: ["runnableNow"],
      matches: [{ accessDecision: { runnable: false, reason } }],
    });
  });

  test("a key without diagnostics:read is refused, and readiness reports that a key lacks capabilities:run", async () => {
    const tenant = await makeTenant();
    const ctx = await keyCtx(tenant.apiKey);
    const without = (...scopes: string[]): Ctx => {
      const { principal } = ctx;
      if (principal.kind !== "service_principal") throw new Error("a key");
      const left = [...principal.scopes].filter((scope) => !scopes.includes(scope));
      return { ...ctx, principal: { ...principal, scopes: new Set(left) } };
    };
    const asks = [
      session,
      (of: Ctx) => providerDiagnostics(of, {}),
      (of: Ctx) => readiness(of, { capabilities: [] }),
    ];
    for (const ask of asks)
      await expect(ask(without("diagnostics:read"))).rejects.toMatchObject({ code: "AuthorizationFailed" });
    const { checks, ready } = await readiness(without("capabilities:run"), { capabilities: [] });
    expect(ready).toBe(false);
    expect(checks.find(({ name }) => name === "permission")?.ok).toBe(false);
  });
});
