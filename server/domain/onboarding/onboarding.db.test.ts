import { afterAll, beforeAll, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import type { Vendor } from "@/server/providers/testing/vendor";
import { call, makeTenant, sessionHeaders } from "@/testing/api";
import { MODELS, vendorAsOpenAi } from "@/testing/vault";
import { fewest } from "./cover";

const TEXT = "text.general.fast.v1";
const VIEWS_TO_MESH = "model.generate.3d.from-image.v1";
const LOCAL = "compute.evaluate.v1";

let vendor: Vendor;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ vendor, close } = await vendorAsOpenAi());
});
afterAll(() => close());

async function makeRoom() {
  vendor.answer(MODELS);
  const tenant = await makeTenant();
  const { organizationId, projectId } = tenant;
  const headersOf = (role: "owner" | "member" | "viewer") => sessionHeaders(organizationId, role);
  const owner = await headersOf("owner");
  const ask = (method: string, target: string, body?: unknown, headers = owner) =>
    call(method, `/v1/connections${target}`, { headers, ...(body === undefined ? {} : { body }) });
  const planOf = async (capabilities: string[], more: object = { projectId }) => {
    const { status, json } = await ask("POST", "/onboarding/plan", { capabilities, ...more });
    expect(status, JSON.stringify(json)).toBe(200);
    return json;
  };
  const connect = (more: object = {}) =>
    ask("POST", "", { provider: "openai", secret: `sk-${newId("credential")}`, ...more });
  return { tenant, projectId, ask, planOf, connect, headersOf };
}

test("the smallest choice of providers is found exactly, and of equal ones the first", () => {
  const needs = [new Set(["a", "b"]), new Set(["b", "c"]), new Set(["c", "a"])];
  expect(fewest(needs, ["a", "b", "c"])).toEqual(["a", "b"]);
  expect(fewest([...needs, new Set(["d"])], ["a", "b", "c", "d"])).toEqual(["a", "b", "d"]);
  // The provider that serves the most needs is not in the best answer here, so a greedy choice would take three.
  const sets = [
    ["big", "left"],
    ["big", "left"],
    ["big", "right"],
    ["big", "right"],
    ["left"],
    ["right"],
  ].map((names) => new Set(names));
  expect(fewest(sets, ["big", "left", "right"])).toEqual(["left", "right"]);
  expect(fewest([], ["a"])).toEqual([]);
});

test("a plan states who could serve each capability, the fewest accounts, and what is connected already", async () => {
  const { planOf, connect, projectId } = await makeRoom();
  const before = await planOf([TEXT, VIEWS_TO_MESH, LOCAL, TEXT]);
  expect(before).toMatchObject({
    projectId,
    environment: "development",
    accountClass: "individual",
    unserved: [],
  });
  expect(before.status).toBe("interaction_required");
  expect(before.capabilities.map(({ key }: { key: string }) => key)).toEqual([TEXT, VIEWS_TO_MESH, LOCAL]);
  const [text, mesh, local] = before.capabilities;
  expect(local).toMatchObject({ ready: true, needs: [] });
  // The capability draws a picture first and then makes the mesh, so each is a separate need.
  expect(mesh.needs.map(({ what }: { what: string }) => what).sort()).toEqual(["image", "mesh"]);
  expect(text.needs[0].providers.map(({ provider }: { provider: string }) => provider)).toContain(
    "openai-compatible",
  );
  // No provider serves all three, so two are the fewest. An own server is not proposed if others can serve.
  expect(before.accounts).toHaveLength(2);
  const names = before.accounts.map(({ provider }: { provider: string }) => provider);
  expect(names).not.toContain("openai-compatible");
  expect(before.explanation).toContain("2 new accounts are the minimum");
  for (const { state, url, provider } of before.accounts) {
    expect(state).toBe("connect");
    expect(url).toContain(`/projects/${projectId}/connections?environment=development&provider=${provider}`);
  }
  await connect({ projectId });
  const after = await planOf([TEXT, VIEWS_TO_MESH]);
  const openai = after.accounts.find(({ provider }: { provider: string }) => provider === "openai");
  expect(openai).toMatchObject({ state: "connected", url: null, unlocks: [TEXT, VIEWS_TO_MESH] });
  expect(after.accounts.filter(({ state }: { state: string }) => state === "connect")).toHaveLength(1);
  expect(after.capabilities[0]).toMatchObject({ key: TEXT, ready: true });
  expect(await planOf([TEXT])).toMatchObject({ status: "ready", unserved: [] });
});

test("a plan proposes to bind an account that the organization uses elsewhere before a new one", async () => {
  const { planOf, connect, tenant, projectId } = await makeRoom();
  const { id } = (await connect({ projectId: tenant.otherProjectId })).json.connection;
  expect(await planOf([TEXT])).toMatchObject({
    status: "interaction_required",
    accounts: [{ provider: "openai", state: "bind", connectionId: id }],
  });
  expect(await planOf([TEXT], { projectId: tenant.otherProjectId })).toMatchObject({ status: "ready" });
  // The organization as a whole already has the account.
  expect(await planOf([TEXT], {})).toMatchObject({ projectId: null, status: "ready" });
  await pool.query("UPDATE credential SET status = 'refused' WHERE id = $1", [id]);
  expect((await planOf([TEXT], { projectId })).accounts).toMatchObject([
    { state: "connect", connectionId: null },
  ]);
});

test("unknown capabilities are refused with the nearest keys, and others' projects and unknown environments are not planned for", async () => {
  const { ask, projectId, headersOf } = await makeRoom();
  const plan = (body: object) => ask("POST", "/onboarding/plan", body);
  const unknown = await plan({ capabilities: [TEXT, "text.general.fats.v1"], projectId });
  expect([unknown.status, unknown.json.detail[0]]).toMatchObject([
    422,
    { loc: ["body", "capabilities", 1], type: "unknown_capability" },
  ]);
  expect(unknown.text).toContain(TEXT);
  expect((await plan({ capabilities: [] })).status).toBe(422);
  expect((await plan({ capabilities: [TEXT], projectId, environment: "moon" })).json.detail[0].loc).toEqual([
    "body",
    "environment",
  ]);
  const other = await makeTenant();
  expect((await plan({ capabilities: [TEXT], projectId: other.projectId })).status).toBe(403);
  const viewer = await headersOf("viewer");
  const seen = await ask("POST", "/onboarding/plan", { capabilities: [TEXT], projectId }, viewer);
  expect(seen.status).toBe(200);
});

test("a session leads a person to the page, is completed account by account, and stores no secret", async () => {
  const { ask, projectId, tenant, headersOf } = await makeRoom();
  const member = await headersOf("member");
  const wanted = { capabilities: [TEXT], projectId };
  const started = (await ask("POST", "/onboarding/sessions", wanted, member)).json;
  expect(started).toMatchObject({
    sessionId: expect.stringMatching(/^onb_/),
    status: "interaction_required",
    completedAt: null,
    plan: { accounts: [{ state: "connect" }] },
  });
  const page = `/projects/${projectId}/connections?onboarding=${started.sessionId}`;
  expect(started.action).toMatchObject({ type: "open_url", url: expect.stringContaining(page) });
  const one = `/onboarding/sessions/${started.sessionId}`;
  expect((await ask("GET", `${one}/result`)).json).toMatchObject({
    status: "interaction_required",
    result: null,
  });
  const secret = "sk-canary-of-onboarding";
  const body = { provider: "openai", secret };
  expect((await ask("POST", `${one}/complete`, body, member)).status).toBe(403);
  expect((await ask("POST", `${one}/complete`, { ...body, federationMetadata: {} })).status).toBe(422);
  expect((await ask("POST", `${one}/complete`, { provider: "sandbox" })).json.detail).toEqual([
    { loc: ["body", "provider"], msg: "There is no provider sandbox.", type: "unknown_provider" },
  ]);
  expect((await ask("POST", `${one}/complete`, { provider: "openai" })).json.detail[0].loc).toEqual([
    "body",
    "secret",
  ]);
  const done = await ask("POST", `${one}/complete`, body);
  expect(done.json).toMatchObject({ status: "ready", action: null, completedAt: expect.any(String) });
  const { result } = (await ask("GET", `${one}/result`)).json;
  expect(result).toMatchObject({ completedAt: done.json.completedAt, ready: [TEXT], unserved: [] });
  expect(result.connectionIds).toEqual([done.json.plan.accounts[0].connectionId]);
  expect((await ask("POST", `${one}/complete`, body)).status).toBe(409);
  const { rows } = await pool.query("SELECT * FROM onboarding_session WHERE organization_id = $1", [
    tenant.organizationId,
  ]);
  expect(JSON.stringify([rows, done.json])).not.toContain("canary");
  const stranger = await makeRoom();
  expect((await stranger.ask("GET", one)).status).toBe(404);
  expect((await stranger.ask("POST", `${one}/complete`, body)).status).toBe(404);
  // An account that the organization has is used without a secret, and a session whose capabilities already run is
  // ready at once.
  const again = { capabilities: [TEXT], projectId: tenant.otherProjectId };
  const second = (await ask("POST", "/onboarding/sessions", again)).json;
  const bound = await ask("POST", `/onboarding/sessions/${second.sessionId}/complete`, {
    provider: "openai",
  });
  expect(bound.json).toMatchObject({ status: "ready" });
  expect((await ask("POST", "/onboarding/sessions", wanted)).json).toMatchObject({
    status: "ready",
    action: null,
  });
});
