import { expect } from "vitest";
import * as budgets from "@/server/domain/budgets";
import * as credentials from "@/server/domain/connections";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import type { Vendor } from "@/server/providers/testing/vendor";
import { appRouter } from "@/server/trpc";
import { finish, makeTenant, sessionHeaders, type Tenant } from "./api";
import { startReceiver } from "./receiver";
import { makePerson, system } from "./tenants";

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
export const at = (key: string, verb: string) => `/v1/capabilities/${key}/${verb}`;
const MODELS = "quillfeather:3700:11100,zebrafinch:1300:5900,owletmoth:900:1900";
/** A tenant that compares models of two providers, and the ids for requests about it. */
export type World = {
  tenant: Tenant;
  owner: Record<string, string>;
  caller: ReturnType<typeof appRouter.createCaller>;
  comparisonIds: string[];
  /** Values of path and query fields, by the field's name. */
  pool: Record<string, string[]>;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
};

export const say = (content: string) => ({ messages: [{ role: "user", content }] });
export const pinnedTo = (...pins: string[]) => pins.map((providerPin) => ({ axis: "provider", providerPin }));
export const own = (model: string) => `openai-compatible/${model}`;

const answerOf = (model: string) =>
  model === "owletmoth"
    ? { status: 400, json: { error: { message: "the vermilion kerfuffle", code: "vermilion" } } }
    : {
        headers: { "x-request-id": "vermilion-1" },
        json: {
          id: "chatcmpl-vermilion",
          model,
          choices: [{ message: { content: "Four fathoms." }, finish_reason: "stop" }],
          usage: { prompt_tokens: model === "zebrafinch" ? 23 : 17, completion_tokens: 29 },
        },
      };

/** A tenant with its own account at the vendor, a webhook, budgets, and a creator. */
export async function makeWorld(vendor: Vendor): Promise<World> {
  const tenant = await makeTenant();
  vendor.answer({ json: { object: "list", data: [] } });
  const { credentialId } = await credentials.createCredential(
    system,
    tenant.organizationId,
    { provider: "openai-compatible", secret: "sk-1", label: "own", endpointUrl: vendor.url, models: MODELS },
    {
      places: [{ projectId: tenant.projectId, environment: "development" }],
      alongside: (client, credential) =>
        budgets.writeConnectionGuardrails(system, client, credential, { dailyMicros: 1_000_000_000 }),
    },
  );
  for (const [period, enforcement] of [
    ["day", "prevent"],
    ["month", "warn"],
  ] as const) {
    const owner = { projectId: tenant.projectId };
    await budgets.set(system, { owner, period, ceilingMicros: 1_000_000_000, enforcement });
  }
  const receiver = await startReceiver();
  const hook = await tenant.post("/v1/delivery-endpoints", { url: receiver.url });
  const { ctx } = await makePerson(tenant.organizationId, "owner");
  const { rows: keys } = await pool.query<{ id: string }>("SELECT id FROM api_key WHERE project_id = $1", [
    tenant.projectId,
  ]);
  const none = (kind: Parameters<typeof newId>[0]) => [newId(kind)];
  return {
    tenant,
    owner: await sessionHeaders(tenant.organizationId, "owner"),
    caller: appRouter.createCaller(ctx),
    comparisonIds: [],
    receiver,
    pool: {
      capability_key: [TEXT, IMAGE],
      project_id: [tenant.projectId],
      organization_id: [tenant.organizationId],
      job_id: none("job"),
      idempotency_key: none("comparisonEntry"),
      execution_id: none("job"),
      artifact_id: none("artifact"),
      comparison_id: none("comparison"),
      receipt_id: none("receipt"),
      hold_id: none("hold"),
      delivery_id: none("delivery"),
      endpoint_id: [hook.json.endpointId],
      manifest_id: none("manifest"),
      bulk_id: none("bulk"),
      request_id: none("capabilityRequest"),
      definition_id: none("panelDefinition"),
      adapter_id: none("adapter"),
      alias_name: ["none"],
      budget_id: (await budgets.list(system, { projectId: tenant.projectId })).items.map(
        ({ budgetId }) => budgetId,
      ),
      quote_id: none("commissionQuote"),
      payment_id: none("payment"),
      mail_id: none("mail"),
      key_id: none("key"),
      principal_id: keys.map(({ id }) => id),
      user_id: none("user"),
      credential_id: none("credential"),
      // The connection that the competitors ran on: neither its spend nor its health distinguishes them.
      connection_id: [credentialId],
      session_id: [...none("onboarding"), ...none("panelSession")],
      binding_id: none("binding"),
      environment_id: none("environment"),
      invitation_id: ["none"],
      weights_link: ["none"],
      model: ["none"],
    },
  };
}

/** Creates comparisons: ended ones whose entries succeed, fail and are canceled, a running one, and a waiting one. */
export async function compareAll(vendor: Vendor, { tenant, comparisonIds, pool: ids }: World) {
  const create = async (key: string, body: object) => {
    const { status, json } = await tenant.post(at(key, "comparisons"), { context: {}, ...body });
    expect([status, json]).toMatchObject([200, { entries: expect.any(Array) }]);
    comparisonIds.push(json.comparisonId);
    const { rows } = await pool.query<{ id: string; model: string }>(
      "SELECT id, model FROM job WHERE comparison_id = $1 ORDER BY id",
      [json.comparisonId],
    );
    return rows;
  };
  const run = async (rows: { id: string; model: string }[]) => {
    for (const { id, model } of rows) {
      vendor.answer(answerOf(model));
      await finish(id);
    }
  };
  await run(
    await create(TEXT, {
      input: say("How deep is the sea?"),
      competitors: pinnedTo("sandbox/sandbox-1", "sandbox/sandbox-2", own("quillfeather"), own("zebrafinch")),
    }),
  );
  await run(
    await create(TEXT, {
      input: say("How high is the sky?"),
      competitors: pinnedTo("sandbox/sandbox-1", "sandbox/sandbox-2", own("owletmoth")),
    }),
  );
  const drawn = await create(IMAGE, {
    input: { prompt: "A kite", variantCount: 2 },
    competitors: pinnedTo(
      "sandbox/sandbox-1",
      "sandbox/sandbox-2",
      "sandbox/sandbox-partial",
      "sandbox/sandbox-slow",
    ),
  });
  const canceled = drawn.find(({ model }) => model === "sandbox-slow");
  await tenant.post(`/v1/jobs/${canceled?.id}/cancel`);
  await run(drawn.filter((row) => row !== canceled));
  const halfway = await create(TEXT, {
    input: say("How old is the moon?"),
    competitors: pinnedTo("sandbox/sandbox-1", "sandbox/sandbox-2", own("quillfeather"), own("zebrafinch")),
  });
  await run(halfway.slice(0, 1));
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [tenant.projectId]);
  await create(IMAGE, {
    input: { prompt: "A kite that waits", quality: "high" },
    competitors: pinnedTo("sandbox/sandbox-1", "sandbox/sandbox-2"),
  });
  await pool.query("UPDATE project SET approval_threshold_micros = NULL WHERE id = $1", [tenant.projectId]);

  const known = async (text: string) =>
    (await pool.query<{ id: string }>(text, [comparisonIds])).rows.map(({ id }) => id);
  const OF = "FROM job JOIN comparison_entry entry ON entry.job_id = job.id";
  Object.assign(ids, {
    comparison_id: comparisonIds,
    job_id: await known(`SELECT job.id ${OF} WHERE entry.comparison_id = ANY($1)`),
    idempotency_key: await known(
      `SELECT job.idempotency_key AS id ${OF} WHERE entry.comparison_id = ANY($1)`,
    ),
    execution_id: await known(`SELECT job.id ${OF} WHERE entry.comparison_id = ANY($1)`),
    receipt_id: await known(
      `SELECT receipt_id AS id ${OF} WHERE entry.comparison_id = ANY($1) AND receipt_id IS NOT NULL`,
    ),
    artifact_id: await known(
      `SELECT artifact_id AS id ${OF} JOIN job_artifact made ON made.job_id = job.id WHERE entry.comparison_id = ANY($1)`,
    ),
    hold_id: await known(
      `SELECT hold.id ${OF} JOIN hold ON hold.execution_id = job.id WHERE entry.comparison_id = ANY($1)`,
    ),
  });
}
