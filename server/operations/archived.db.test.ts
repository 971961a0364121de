import { expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { call, finish, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { COMPARED, COMPARISONS } from "@/testing/comparisons";

/*
 * A request that was admitted before its project was archived is still answered under its idempotency key; nothing new is
 * admitted there.
 */

const QUESTION = { input: { messages: [{ role: "user", content: "How deep is the sea?" }] } };
const TEXT = "/v1/capabilities/text.general.fast.v1";
const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };

/**
 * A request that is answered with the same record under the same key, and the field of the answer that identifies the record.
 */
type Door = { target: string; body?: unknown; idOf: (json: Record<string, unknown>) => unknown };

const DOORS: Record<string, Door> = {
  "a job": { target: `${TEXT}/jobs`, body: QUESTION, idOf: (json) => json.jobId },
  "a run": { target: `${TEXT}/invoke`, body: QUESTION, idOf: (json) => json.executionId },
  "a chat": {
    target: "/v1/chat/completions",
    body: { model: "text.general.fast.v1", ...QUESTION.input },
    idOf: (json) => json.id,
  },
  "a response": {
    target: "/v1/responses",
    body: { model: "text.general.fast.v1", input: "How deep is the sea?" },
    idOf: (json) => json.id,
  },
  "a pinned execution": {
    target: "/v1/inference/pinned",
    body: { pin: PIN, input: "How deep is the sea?" },
    idOf: (json) => json.receiptId,
  },
  "a bulk": {
    target: "/v1/inference/pinned/bulk",
    body: { pin: PIN, items: [{ id: "one", input: "One." }] },
    idOf: (json) => json.bulkId,
  },
  "a comparison": { target: COMPARISONS, body: COMPARED, idOf: (json) => json.comparisonId },
  "a capability request": {
    target: "/v1/capability-requests",
    body: {
      schemaVersion: "service.capability-request.v1",
      summary: "Depth of the sea",
      need: "To know it.",
      proposedCapability: { capabilityKey: "geo.depth.v1" },
      acceptanceCases: [],
    },
    idOf: (json) => json.id,
  },
};

/** Every request that a tenant may repeat under a key, with retries of a refused job and of a canceled bulk. */
async function openDoors(tenant: Tenant): Promise<Record<string, Door>> {
  const refused = { ...QUESTION, preferredModel: "sandbox-refuse" };
  const { jobId } = (await tenant.post(`${TEXT}/jobs`, refused)).json;
  await finish(jobId);
  const bulk = DOORS["a bulk"] as Door;
  const { bulkId } = (await tenant.post(bulk.target, bulk.body)).json;
  await tenant.post(`/v1/inference/pinned/bulk/${bulkId}/cancel`);
  return {
    ...DOORS,
    "a retry of a job": { target: `/v1/jobs/${jobId}/retry`, idOf: (json) => json.jobId },
    "a retry of a bulk": {
      target: `/v1/inference/pinned/bulk/${bulkId}/retry`,
      idOf: (json) => json.bulkId,
    },
  };
}

const status = "archived";

test.each([
  ["project", () => ({ status })],
  ["environment", (id: string) => ({ environments: [{ id, status }] })],
])("an archived %s answers replays and admits nothing else", async (_, change) => {
  const tenant = await makeTenant();
  const doors = await openDoors(tenant);
  const send = (key: string | undefined, { target, body }: Door) =>
    tenant.post(target, body, key === undefined ? {} : { headers: { "idempotency-key": key } });
  const firsts = new Map<string, unknown>();
  for (const [name, door] of Object.entries(doors)) {
    const { status, json } = await send(`first ${name}`, door);
    expect(status, name).toBe(200);
    firsts.set(name, door.idOf(json));
    expect(firsts.get(name), name).toBeTruthy();
  }
  const owner = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  const at = `/v1/projects/${tenant.projectId}`;
  const { rows } = await pool.query(
    "SELECT id FROM environment WHERE project_id = $1 AND slug = 'development'",
    [tenant.projectId],
  );
  expect((await call("PATCH", at, { ...owner, body: change(rows[0].id) })).status).toBe(200);
  for (const [name, door] of Object.entries(doors)) {
    const again = await send(`first ${name}`, door);
    expect({ status: again.status, id: door.idOf(again.json) }, name).toEqual({
      status: 200,
      id: firsts.get(name),
    });
    for (const key of [undefined, "another"]) {
      const { status, json } = await send(key, door);
      expect({ status, code: (json.detail ?? json.error).code }, name).toEqual({
        status: 403,
        code: "AuthorizationFailed",
      });
    }
  }
});
