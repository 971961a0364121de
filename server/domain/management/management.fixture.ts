import { expect } from "vitest";
import { pool } from "@/server/platform/db";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { makeManagementKey } from "@/testing/management";

export const TEXT = "text.general.fast.v1";
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

export const RUNS = ["capabilities:run", "jobs:read", "jobs:write", "pinned:run"] as const;

export let tenant: Tenant;
export let manager: Awaited<ReturnType<typeof makeManagementKey>>;

export async function openTenant(): Promise<void> {
  tenant = await makeTenant();
  manager = await makeManagementKey({
    organizationId: tenant.organizationId,
    projectIds: [tenant.projectId],
    runScopes: [...RUNS],
  });
}

export const ask = (method: string, target: string, body?: unknown, key = manager.apiKey) =>
  call(method, target, { key, ...(body === undefined ? {} : { body }) });
export const makeChild = async (wanted: object = {}, key = manager.apiKey) => {
  const answer = await ask(
    "POST",
    "/v1/api-keys",
    { name: "agent", projectId: tenant.projectId, ...wanted },
    key,
  );
  expect(answer.status, answer.text).toBe(200);
  return answer.json as { apiKey: string; keyId: string; expiresAt: string; scopes: string[] };
};
export const run = (key: string) => call("POST", `/v1/capabilities/${TEXT}/jobs`, { key, body: { input } });

export const refusalOf = ({ status, json }: Awaited<ReturnType<typeof call>>) => [status, json.code];
/** Audit entries of this key's acts, oldest first. */
export const actsOf = async (keyId: string) => {
  const { rows } = await pool.query<{ action: string; subject: string; project_id: string | null }>(
    "SELECT action, subject, project_id FROM audit_entry WHERE actor_id = $1 AND actor_kind = 'service_principal' ORDER BY id",
    [keyId],
  );
  return rows;
};
