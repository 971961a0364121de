import { beforeEach, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { call, makeKeyWithId, makeTenant } from "@/testing/api";
import { makeManagementKey } from "@/testing/management";
import { cookieOf } from "@/testing/sessions";
import {
  actsOf,
  ask,
  input,
  makeChild,
  manager,
  openTenant,
  refusalOf,
  run,
  TEXT,
  tenant,
} from "./management.fixture";

beforeEach(openTenant);

const headersOf = async (userId: string) => ({
  cookie: await cookieOf(userId),
  origin: "http://localhost:3000",
  "content-type": "application/json",
});

describe("the ceiling of a management key", () => {
  const PIN = { pin: { provider: "sandbox", model: "sandbox-1", api: "responses" }, input: "How deep?" };

  test("all keys that a management key created, even rotated ones, share its ceiling for jobs, invokes, streams, pins and bulks", async () => {
    const [one, two] = [await makeChild(), await makeChild()];
    const { json: three } = await ask("POST", `/v1/api-keys/${two.keyId}/rotate`, { overlapSeconds: 3_600 });
    const counted = async () => {
      const { rows } = await pool.query<{ executions: number; spent: string; held: string }>(
        `SELECT (SELECT count(*)::int FROM hold WHERE principal_id = ANY($2)) AS executions,
           (SELECT sum(CASE WHEN state IN ('open', 'ambiguous') THEN amount_micros ELSE coalesce(settled_micros, 0) END)
            FROM hold WHERE principal_id = ANY($2)) AS held,
           (SELECT sum(held_micros + settled_micros) FROM budget_window JOIN budget ON budget.id = budget_id
            WHERE scope = $1) AS spent`,
        [`principal:${manager.keyId}`, [one.keyId, two.keyId, three.keyId]],
      );
      const [row] = rows;
      expect(row?.spent).toBe(row?.held);
      return row?.executions;
    };
    const post = async (target: string, body: object) => {
      const answer = await call("POST", target, { key: one.apiKey, body });
      expect(answer.status, answer.text).toBeLessThan(300);
    };
    await run(two.apiKey);
    expect(await counted()).toBe(1);
    await run(three.apiKey);
    expect(await counted()).toBe(2);
    await run(one.apiKey);
    expect(await counted()).toBe(3);
    await post(`/v1/capabilities/${TEXT}/invoke`, { input });
    expect(await counted()).toBe(4);
    await post(`/v1/capabilities/${TEXT}/invoke`, { input, executionMode: "Stream" });
    expect(await counted()).toBe(5);
    await post("/v1/inference/pinned", PIN);
    expect(await counted()).toBe(6);
    const { pin, input: text } = PIN;
    await post("/v1/inference/pinned/bulk", { pin, items: [{ id: "one", input: text }] });
    expect(await counted()).toBeGreaterThanOrEqual(6);
  });

  test("concurrent jobs of several created keys never exceed the management key's ceiling", async () => {
    const first = await makeChild();
    expect((await run(first.apiKey)).status).toBe(200);
    const { rows } = await pool.query<{ amount_micros: number }>(
      "SELECT amount_micros FROM hold WHERE principal_id = $1",
      [first.keyId],
    );
    const price = rows[0]!.amount_micros;
    const narrow = await makeManagementKey({
      organizationId: tenant.organizationId,
      projectIds: [tenant.projectId],
      ceiling: { micros: price * 5 + price - 1, period: "total" },
    });
    const keys = await Promise.all([1, 2, 3].map(() => makeChild({}, narrow.apiKey)));
    const answers = await Promise.all(
      keys.flatMap(({ apiKey }) => Array.from({ length: 6 }, () => run(apiKey))),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map((answer) => refusalOf(answer).join()))).toEqual(
      new Set(["402,BudgetExceeded"]),
    );
    expect(refused[0]?.json.details.scope).toBe(`principal:${narrow.keyId}`);
  });

  test("a management key can lower its own ceiling, and cannot raise, disable or remove it", async () => {
    const set = (change: object) =>
      ask("PUT", "/v1/budgets", {
        owner: { principalId: manager.keyId },
        period: "total",
        ceilingMicros: 1_000_000_000,
        enforcement: "prevent",
        ...change,
      });
    const { json: lower } = await set({ ceilingMicros: 900_000_000 });
    expect(lower.ceilingMicros).toBe(900_000_000);
    for (const looser of [
      { ceilingMicros: 900_000_001 },
      { ceilingMicros: 1, enforcement: "warn" },
      { ceilingMicros: 1, enforcement: "off" },
      { ceilingMicros: 1, managedOnly: true },
      { ceilingMicros: 1, period: "day", enforcement: "warn" },
    ]) {
      const refused = await set(looser);
      expect(refusalOf(refused)).toEqual([403, "AuthorizationFailed"]);
      expect(refused.json.message).toMatch(/can lower its own ceiling but not raise or disable it/);
    }
    expect((await set({ period: "day", ceilingMicros: 5 })).status).toBe(200);
    expect(refusalOf(await set({ period: "day", ceilingMicros: 6 }))).toEqual([403, "AuthorizationFailed"]);
    expect(refusalOf(await ask("DELETE", `/v1/budgets/${lower.budgetId}`))).toEqual([
      403,
      "AuthorizationFailed",
    ]);
    expect((await actsOf(manager.keyId)).map(({ action }) => action)).toEqual(["budget.set", "budget.set"]);
  });
});

describe("the budgets that a management key sets", () => {
  const set = (owner: object, ceilingMicros = 5_000_000) =>
    ask("PUT", "/v1/budgets", { owner, period: "month", ceilingMicros, enforcement: "prevent" });

  test("a management key sets, lists and removes the budgets of its projects, and sets those of its keys", async () => {
    const child = await makeChild();
    const { json: budget } = await set({ projectId: tenant.projectId });
    expect(budget).toMatchObject({ scope: `project:${tenant.projectId}`, ceilingMicros: 5_000_000 });
    expect((await set({ principalId: child.keyId })).status).toBe(200);
    const { json } = await ask("GET", `/v1/budgets?projectId=${tenant.projectId}`);
    expect(json.items.map(({ budgetId }: { budgetId: string }) => budgetId)).toEqual([budget.budgetId]);
    expect((await ask("DELETE", `/v1/budgets/${budget.budgetId}`)).json.enforcement).toBe("off");
    const policy = `/v1/projects/${tenant.projectId}/budget-policy`;
    expect((await ask("PUT", policy, { period: "day", ceilingUsd: 5 })).status).toBe(200);
    expect((await ask("GET", policy)).json.enforcement).toBe("prevent");
  });

  test("a management key finds no budgets of other projects, keys and people, and is refused the organization's", async () => {
    const other = await makeKeyWithId({ projectId: tenant.projectId });
    const stranger = await makeTenant();
    for (const owner of [
      { projectId: tenant.otherProjectId },
      { projectId: stranger.projectId },
      { principalId: other.keyId },
      { principalId: manager.owner.userId },
    ])
      expect(refusalOf(await set(owner))).toEqual([404, "NotFound"]);
    expect(refusalOf(await set({ organizationId: tenant.organizationId }))).toEqual([
      403,
      "AuthorizationFailed",
    ]);
    const { budgetId } = (
      await call("PUT", "/v1/budgets", {
        headers: await headersOf(manager.owner.userId),
        body: {
          owner: { projectId: tenant.otherProjectId },
          period: "day",
          ceilingMicros: 1,
          enforcement: "warn",
        },
      })
    ).json;
    expect(refusalOf(await ask("DELETE", `/v1/budgets/${budgetId}`))).toEqual([404, "NotFound"]);
    const { json } = await ask("GET", "/v1/budgets");
    expect(json.items.map(({ scope }: { scope: string }) => scope)).toEqual([`principal:${manager.keyId}`]);
  });
});
