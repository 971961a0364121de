import { afterAll, beforeAll, expect, test } from "vitest";
import * as credentials from "@/server/domain/connections";
import { pool } from "@/server/platform/db";
import type { Script } from "@/server/providers/testing/vendor";
import { runBulk, submitBulk } from "@/testing/bulks";
import { response } from "@/testing/responses-server/scripts";
import { system } from "@/testing/tenants";
import { MODELS, SECRET, vendorAsOpenAi } from "@/testing/vault";
import { makeProject } from "@/testing/world";
import * as pins from ".";

let openai: Awaited<ReturnType<typeof vendorAsOpenAi>>;
beforeAll(async () => {
  openai = await vendorAsOpenAi();
});
afterAll(() => openai.close());

async function connected() {
  const project = await makeProject();
  const provider = "openai";
  openai.vendor.answer(MODELS);
  const { credentialId } = await credentials.createCredential(system, project.organizationId, {
    provider,
    secret: SECRET,
    label: "health",
  });
  await credentials.bindCredential(system, project.organizationId, credentialId, {
    input: {
      projectId: project.projectId,
      environment: "development",
      provider,
    },
  });
  const pin = async (...scripts: Script[]) => {
    openai.vendor.answer(...scripts);
    await pins
      .run(project.ctx, {
        pin: { provider, model: "gpt-5.6-luna", api: "responses" },
        input: "Name a fish.",
        sampling: { maxOutputTokens: 50 },
        limits: { admissionDeadlineSeconds: 0 },
      })
      .catch(() => undefined);
    expect(openai.vendor.arrived.map(({ path }) => path)).toEqual(["/responses"]);
  };
  const health = async () =>
    (
      await pool.query(
        "SELECT route, failures, reason, behind_until > $2 AS is_behind FROM route_health WHERE account = $1",
        [credentialId, project.ctx.now()],
      )
    ).rows;
  return { project, credentialId, pin, health };
}

const ok: Script = { json: response() };
const refusal = (status: number, code: string): Script => ({
  status,
  json: { error: { code, message: "No." } },
});

test("failures that are the vendor's fault rank its route behind others for that account only, and pins still use the route", {
  tags: "long",
}, async () => {
  const { pin, health } = await connected();
  const route = "openai/gpt-5.6-luna";
  await pin({ status: 500, json: { error: { message: "Broken." } } });
  expect(await health()).toMatchObject([{ route, failures: 1, reason: "failed", is_behind: null }]);
  await pin("reset");
  await pin(refusal(429, "rate_limit_exceeded"));
  expect(await health()).toMatchObject([{ route, failures: 3, reason: "capacity", is_behind: true }]);
  await pin("close");
  expect(await health()).toMatchObject([{ route, failures: 4, reason: "lost", is_behind: true }]);
  expect(await (await connected()).health()).toEqual([]);
  await pin(ok);
  expect(await health()).toEqual([]);
});

test("faults of the request or the account do not affect the health of the route", async () => {
  const { pin, health } = await connected();
  for (const [status, code] of [
    [400, "invalid_value"],
    [401, "invalid_api_key"],
    [403, "permission_denied"],
    [404, "model_not_found"],
    [429, "insufficient_quota"],
  ] as const)
    await pin(refusal(status, code));
  expect(await health()).toEqual([]);
});

test("a bulk whose account was disconnected after acceptance sends nothing, releases its holds, and is safe to retry", async () => {
  const { project, credentialId } = await connected();
  const pin = { provider: "openai", model: "gpt-5.6-luna", api: "responses" };
  const bulkId = await submitBulk(project, ["Name a fish.", "Name a bird."], { pin });
  await pool.query("DELETE FROM credential_binding WHERE credential_id = $1", [credentialId]);
  openai.vendor.answer(ok);
  await runBulk(project, bulkId);
  expect(openai.vendor.arrived).toEqual([]);
  expect(await pins.getBulk(project.ctx, bulkId, { limit: 10 })).toMatchObject({
    status: "failed",
    counts: { failed: 2 },
    safelyRetryable: 2,
    items: [{ error: { code: "ProviderUnavailable" }, safelyRetryable: true }, { safelyRetryable: true }],
  });
  const { rows } = await pool.query("SELECT DISTINCT state FROM hold WHERE project_id = $1", [
    project.projectId,
  ]);
  expect(rows).toEqual([{ state: "released" }]);
});
