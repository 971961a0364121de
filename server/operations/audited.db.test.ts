import { expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { type Call, call, makeTenant, sessionHeaders, submitWaiting } from "@/testing/api";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

test("actions on other people's work are in the audit log under their actor, without secrets", async () => {
  const tenant = await makeTenant();
  const owner: Call = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  const url = "https://hooks.example/in?token=canary-of-an-address";
  const secret = "whsec_Y2FuYXJ5LW9mLWEtc2VjcmV0LW9mLXRlc3Rz";
  const { endpointId } = (await tenant.post("/v1/delivery-endpoints", { url, secret })).json;
  await call("PATCH", `/v1/delivery-endpoints/${endpointId}`, {
    key: tenant.key,
    body: { secret: "another-canary-secret-that-is-long" },
  });
  await tenant.post(`/v1/delivery-endpoints/${endpointId}/disable`);
  const [yes, no] = [
    await submitWaiting(tenant, TEXT, { input }),
    await submitWaiting(tenant, TEXT, { input }),
  ];
  expect((await tenant.post(`/v1/jobs/${yes.jobId}/approve`)).status).toBe(200);
  expect((await tenant.post(`/v1/jobs/${yes.jobId}/approve`)).status).toBe(200); // a second approval changes nothing
  expect((await tenant.post(`/v1/jobs/${no.jobId}/reject`)).status).toBe(200);
  const { json, text } = await call(
    "GET",
    `/v1/organizations/${tenant.organizationId}/audit-log?limit=200`,
    owner,
  );
  const acts = json.items
    .filter(({ actorKind }: { actorKind: string }) => actorKind === "service_principal")
    .map(({ action, subject }: { action: string; subject: string }) => `${action} ${subject}`);
  expect(acts.reverse()).toEqual([
    `endpoint.created ${endpointId}`,
    `endpoint.changed ${endpointId}`,
    `endpoint.changed ${endpointId}`,
    `job.approved ${yes.jobId}`,
    `job.rejected ${no.jobId}`,
  ]);
  const { rows } = await pool.query("SELECT * FROM audit_entry WHERE organization_id = $1", [
    tenant.organizationId,
  ]);
  for (const shown of [text, JSON.stringify(rows)]) {
    expect(shown).not.toContain("canary");
    expect(shown).not.toContain("Y2FuYXJ5");
    expect(shown).not.toContain(tenant.key.slice(30));
  }
});
