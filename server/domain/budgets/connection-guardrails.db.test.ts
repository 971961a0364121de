import { afterAll, beforeAll, expect, test } from "vitest";
import { checkLedger } from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import type { Vendor } from "@/server/providers/testing/vendor";
import { call, finish, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { ANSWER, MODELS, vendorAsOpenAi } from "@/testing/vault";

const TEXT = "text.general.fast.v1";
const at = (what: string) => `/v1/capabilities/${TEXT}/${what}`;
const input = { messages: [{ role: "user", content: "How deep is the sea?" }], maxOutputTokens: 100 };

let vendor: Vendor;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ vendor, close } = await vendorAsOpenAi());
});
afterAll(() => close());

/**
 * Creates a tenant with its own connection, the amount that one of its jobs reserves, and functions to set
 * and read the guardrails.
 */
async function makeRoom() {
  vendor.answer(MODELS);
  const tenant = await makeTenant();
  const headers = await sessionHeaders(tenant.organizationId, "owner");
  const { projectId } = tenant;
  const body = { provider: "openai", secret: `sk-${newId("credential")}`, projectId };
  const { id } = (await call("POST", "/v1/connections", { headers, body })).json.connection;
  vendor.answer(ANSWER);
  const guard = async (userGuardrails: object) => {
    vendor.answer(MODELS);
    const wanted = { provider: "openai", secret: body.secret, userGuardrails };
    const { status, json } = await call("POST", `/v1/connections/${id}/rotate`, { headers, body: wanted });
    expect(status, JSON.stringify(json)).toBe(200);
    vendor.answer(ANSWER);
    return json.connection;
  };
  const read = async () => (await call("GET", `/v1/connections/${id}`, { headers })).json;
  return { tenant, id, scope: `connection:${id}`, guard, read, price: await priceOf(tenant) };
}

const submit = (tenant: Tenant) => tenant.post(at("jobs"), { input });

async function priceOf(tenant: Tenant): Promise<number> {
  const { jobId } = (await submit(tenant)).json;
  const { rows } = await pool.query(
    "SELECT amount_micros, credential_ids FROM hold WHERE execution_id = $1",
    [jobId],
  );
  expect(rows[0].credential_ids).toHaveLength(1);
  await tenant.post(`/v1/jobs/${jobId}/cancel`);
  return rows[0].amount_micros;
}

/** Returns the number of admitted jobs, and the refusals of the others. */
function sorted(answers: { status: number; json: { detail?: { code: string; details: unknown } } }[]) {
  const refused = answers.filter(({ status }) => status === 402);
  return { admitted: answers.length - refused.length, refused: refused.map(({ json }) => json.detail) };
}

test("a daily limit with room for 3 admits exactly 3 of 20 concurrent jobs, and a canceled job makes room again", {
  tags: "long",
}, async () => {
  const { tenant, scope, guard, read, price } = await makeRoom();
  await guard({ dailyMicros: price * 3 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(tenant)));
  const { admitted, refused } = sorted(answers);
  expect(admitted).toBe(3);
  for (const detail of refused)
    expect(detail).toMatchObject({
      code: "BudgetExceeded",
      details: { scope, period: "day", enforcement: "prevent" },
    });
  expect((await read()).spend).toMatchObject({ heldMicros: price * 3, settledMicros: 0, availableMicros: 0 });
  const [first] = answers.filter(({ status }) => status === 200);
  await tenant.post(`/v1/jobs/${first?.json.jobId}/cancel`);
  expect(sorted(await Promise.all(Array.from({ length: 4 }, () => submit(tenant)))).admitted).toBe(1);
  for (const { json } of answers.filter(({ status }) => status === 200).slice(1)) await finish(json.jobId);
  const { spend } = await read();
  expect(spend.settledMicros).toBeGreaterThan(0);
  expect(spend.settledMicros + spend.heldMicros).toBeLessThanOrEqual(price * 3);
  const { differences } = await checkLedger(systemCtx("admin"), tenant.organizationId);
  // A test fills its wallet without a posting.
  expect(differences.filter(({ what }) => !what.endsWith("balance"))).toEqual([]);
});

test("a new daily ceiling counts earlier jobs of the day, null removes it, and the audit log has both changes", {
  tags: "long",
}, async () => {
  const { tenant, scope, guard, price } = await makeRoom();
  await submit(tenant);
  expect(await guard({ dailyMicros: price * 2 - 1 })).toMatchObject({
    userGuardrails: { dailyMicros: price * 2 - 1, perExecutionMicros: null },
    spend: { heldMicros: price },
  });
  expect((await submit(tenant)).json.detail.details.scope).toBe(scope);
  expect(await guard({ dailyMicros: null })).toMatchObject({
    userGuardrails: { dailyMicros: null },
    spend: null,
  });
  expect((await submit(tenant)).status).toBe(200);
  const { rows } = await pool.query(
    "SELECT details FROM audit_entry WHERE organization_id = $1 AND action = 'connection.guardrails_changed' ORDER BY id",
    [tenant.organizationId],
  );
  expect(rows.map(({ details }) => details)).toEqual([{ dailyMicros: price * 2 - 1 }, { dailyMicros: null }]);
});

const PIN = {
  pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" },
  input: "How deep is the sea?",
  sampling: { maxOutputTokens: 100 },
};
const COMPARED = {
  context: {},
  input,
  competitors: ["gpt-5.6-luna", "gpt-5.6-sol"].map((model) => ({
    axis: "provider",
    providerPin: `openai/${model}`,
  })),
};

test.each([
  ["a job", (tenant: Tenant) => submit(tenant)],
  ["an invoke", (tenant: Tenant) => tenant.post(at("invoke"), { input })],
  ["a pinned execution", (tenant: Tenant) => tenant.post("/v1/inference/pinned", PIN)],
  ["a comparison", (tenant: Tenant) => tenant.post(at("comparisons"), COMPARED)],
])("%s obeys the guardrails per execution and per day", async (_what, run) => {
  const { tenant, scope, guard } = await makeRoom();
  await guard({ perExecutionMicros: 1 });
  const alone = await run(tenant);
  expect([alone.status, alone.json.detail.code]).toEqual([402, "BudgetExceeded"]);
  expect(alone.json.detail.details).toMatchObject({ scope, field: "userGuardrails.perExecutionMicros" });
  await guard({ perExecutionMicros: null, dailyMicros: 1 });
  const daily = await run(tenant);
  expect([daily.status, daily.json.detail.details]).toMatchObject([402, { scope, period: "day" }]);
  await guard({ dailyMicros: 1_000_000_000 });
  expect((await run(tenant)).status).toBe(200);
});

test("twenty concurrent pinned executions never exceed the ceiling of their connection", {
  tags: "long",
}, async () => {
  const { tenant, guard, read, price } = await makeRoom();
  await guard({ dailyMicros: price * 3 });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => tenant.post("/v1/inference/pinned", PIN)),
  );
  const { admitted, refused } = sorted(answers);
  expect(refused.length).toBeGreaterThan(0);
  expect(admitted).toBeGreaterThan(0);
  const { spend } = await read();
  expect(spend.settledMicros + spend.heldMicros).toBeLessThanOrEqual(price * 3);
});

test("a guardrail blocks its own connection only, not other connections or the sandbox", {
  tags: "long",
}, async () => {
  const { tenant, guard } = await makeRoom();
  await guard({ dailyMicros: 0, perExecutionMicros: 0 });
  expect((await submit(tenant)).status).toBe(402);
  const named = { execution: { executionConstraints: { preferredModel: "sandbox-1" } } };
  expect((await tenant.post(at("jobs"), { input, ...named })).status).toBe(200);
  const other = await makeRoom();
  expect((await submit(other.tenant)).status).toBe(200);
});
