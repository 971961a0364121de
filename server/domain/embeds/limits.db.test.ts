import { describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { finish, makeTenant } from "@/testing/api";
import { definePanel, openPanel } from "@/testing/embeds";
import { at, fields, IMAGE, input, TEXT } from "./embeds.fixture";

describe("the limits of an embed session", () => {
  test("of twenty concurrent jobs of a session with room for three, three are admitted and hold what they may cost", async () => {
    const tenant = await makeTenant();
    const quoted = await tenant.post(at(TEXT, "quote"), { input });
    const each = quoted.json.maximumAuthorizedCharge.amountMicros as number;
    const panel = await openPanel(tenant, { maxSpendMicros: each * 3 + 1, maxJobs: 1_000 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => panel.post(at(TEXT), { input })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, json } of refused)
      expect([status, json.detail.code, json.detail.details.scope]).toEqual([
        402,
        "BudgetExceeded",
        `principal:${panel.sessionId}`,
      ]);
    expect((await tenant.get(`/v1/panel-sessions/${panel.sessionId}`)).json).toMatchObject({
      testSpentMicros: each * 3,
      spentMicros: 0,
      admittedJobs: 3,
    });
    const { json } = await panel.get("/v1/panel/bootstrap");
    expect(json.limits).toEqual({
      maxSpendMicros: each * 3 + 1,
      remainingMicros: 1,
      maxJobs: 1_000,
      remainingJobs: 997,
    });
    // Other callers of the organization are not held back, and no alert appears about a budget that no one
    // set.
    expect((await tenant.post(at(TEXT), { input })).status).toBe(200);
    const { rows } = await pool.query("SELECT FROM budget_alert WHERE organization_id = $1", [
      tenant.organizationId,
    ]);
    expect(rows).toEqual([]);
  });

  test("of fifty concurrent jobs exactly maxJobs are admitted, and replays do not count", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant, { maxJobs: 7, maxSpendMicros: 1_000_000_000 });
    const send = (n: number) => panel.post(at(TEXT), { input, idempotencyKey: `job-${n}` });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => send(n)));
    const admitted = answers.flatMap(({ status, json }, n) =>
      status === 200 ? [[n, json.jobId] as const] : [],
    );
    expect(admitted).toHaveLength(7);
    for (const { status, json } of answers.filter((each) => each.status !== 200))
      expect([status, json.detail.details]).toMatchObject([402, { field: "maxJobs", maxJobs: 7 }]);
    for (const [n, jobId] of admitted) expect((await send(n)).json.jobId).toBe(jobId);
    const { rows } = await pool.query(
      "SELECT count(*)::int AS jobs, count(hold.id)::int AS holds FROM job LEFT JOIN hold ON hold.execution_id = job.id WHERE job.principal_id = $1",
      [panel.sessionId],
    );
    expect(rows[0]).toEqual({ jobs: 7, holds: 7 });
    expect((await tenant.get(`/v1/panel-sessions/${panel.sessionId}`)).json.admittedJobs).toBe(7);
  });

  test("of forty concurrent jobs of sessions with caps on jobs and money, exactly those that fit are admitted while others end", async () => {
    const tenant = await makeTenant();
    const quoted = await tenant.post(at(TEXT, "quote"), { input });
    const each = quoted.json.maximumAuthorizedCharge.amountMicros as number;
    const bounds = [
      { maxJobs: 5, maxSpendMicros: each * 100 },
      { maxJobs: 100, maxSpendMicros: each * 4 },
      { maxJobs: 5, maxSpendMicros: each * 3 },
      { maxJobs: 2, maxSpendMicros: each * 3 },
    ];
    const panels = await Promise.all(bounds.map((bound) => openPanel(tenant, bound)));
    const ending = await Promise.all(
      Array.from({ length: 6 }, async () => (await tenant.post(at(TEXT), { input })).json.jobId as string),
    );
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 40 }, (_, n) => panels[n % panels.length]!.post(at(TEXT), { input }))),
      ...ending.map((jobId) => finish(jobId)),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
    const sessions = await Promise.all(
      panels.map(async ({ sessionId }) => (await tenant.get(`/v1/panel-sessions/${sessionId}`)).json),
    );
    expect(sessions.map(({ admittedJobs }) => admittedJobs)).toEqual([5, 4, 3, 2]);
    expect(sessions.map(({ testSpentMicros }) => testSpentMicros)).toEqual([5, 4, 3, 2].map((n) => n * each));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(14);
  });

  test("sessions are locked in one order, whatever order names them, so they cannot deadlock", async () => {
    const tenant = await makeTenant();
    const panels = await Promise.all(
      Array.from({ length: 4 }, () => openPanel(tenant, { maxJobs: 1_000, maxSpendMicros: 1_000_000 })),
    );
    const ids = panels.map(({ sessionId }) => sessionId);
    const count = (sessions: string[]) =>
      pool.query("SELECT capstan_count_panel_jobs($1)::text, pg_sleep(0.002)::text", [sessions]);
    await Promise.all(
      Array.from({ length: 80 }, (_, n) => count(n % 2 ? ids : [...ids].reverse().concat(ids[n % 4]!))),
    );
    const { rows } = await pool.query(
      "SELECT sum(admitted_jobs)::int AS jobs FROM panel_session WHERE id = ANY($1)",
      [ids],
    );
    expect(rows[0].jobs).toBe(80 * 4 + 40);
    await expect(count([ids[0]!, ...Array<string>(1_000).fill(ids[1]!)])).rejects.toMatchObject({
      code: "CB402",
    });
  });

  test("a job that makes or may cost more than the embed allows is refused and not counted", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant, {
      capabilityKey: IMAGE,
      policy: { maxOutputs: 2, maxSpendPerJobMicros: 1 },
    });
    const panel = await openPanel(tenant, { panelDefinitionId: made.id });
    const tooMany = await panel.post(at(IMAGE), { prompt: "A kite", variantCount: 3 });
    expect([tooMany.status, fields(tooMany)]).toEqual([422, ["body.input.variantCount"]]);
    const tooDear = await panel.post(at(IMAGE), { prompt: "A kite", variantCount: 2 });
    expect([tooDear.status, tooDear.json.detail.details.field]).toEqual([402, "maxSpendPerJobMicros"]);
    expect((await tenant.get(`/v1/panel-sessions/${panel.sessionId}`)).json.admittedJobs).toBe(0);
  });

  test("a locked input is filled in, accepted if repeated, and refused with its field if different", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant, { capabilityKey: IMAGE });
    const panel = await openPanel(tenant, {
      panelDefinitionId: made.id,
      lockedInputs: { variantCount: 2, prompt: "A kite" },
    });
    const run = (body: object) => panel.post(at(IMAGE), { input: body });
    const filled = await run({});
    expect(filled.json.requestSnapshot.input).toMatchObject({ prompt: "A kite", variantCount: 2 });
    expect((await run({ prompt: "A kite", variantCount: 2.0 })).status).toBe(200);
    const refused = await run({ prompt: "A boat", variantCount: 3 });
    expect([refused.status, fields(refused)]).toEqual(
      [422, ["body.input.variantCount", "body.input.prompt"]].map((x) =>
        Array.isArray(x) ? expect.arrayContaining(x) : x,
      ),
    );
    const bare = await panel.post(at(IMAGE), { prompt: "A boat" });
    expect([bare.status, fields(bare)]).toEqual([422, ["body.input.prompt"]]);
    const quoted = await panel.post(at(IMAGE, "quote"), { prompt: "A boat" });
    expect([quoted.status, fields(quoted)]).toEqual([422, ["body.input.prompt"]]);
    expect((await panel.post(at(IMAGE, "quote"), {})).json.status).toBe("ok");
    const stored = await tenant.post("/v1/payloads", { prompt: "A boat" });
    const byRef = await panel.post(at(IMAGE), { inputPayloadRef: stored.json.payloadId });
    expect(fields(byRef)).toContain("body.inputPayloadRef");
  });

  test("a session runs only its embed's capability, and leaves the model to us unless the embed allows a choice", async () => {
    const tenant = await makeTenant();
    const [closed, open] = [
      await definePanel(tenant),
      await definePanel(tenant, { policy: { allowedRoutingPolicies: ["named_model"] } }),
    ];
    const panel = await openPanel(tenant, { panelDefinitionId: closed.id });
    expect((await panel.post(at(IMAGE), { prompt: "A kite" })).status).toBe(403);
    expect((await panel.post(at(IMAGE, "quote"), { prompt: "A kite" })).status).toBe(403);
    const named = { input, preferredModel: "sandbox-2" };
    for (const body of [
      named,
      { input, providerPin: "sandbox" },
      { input, pin: { target: "sandbox/sandbox-1" } },
    ]) {
      const refused = await panel.post(at(TEXT), body);
      expect([refused.status, refused.json.detail.code]).toEqual([400, "PolicyRejected"]);
    }
    const free = await openPanel(tenant, { panelDefinitionId: open.id });
    expect((await free.post(at(TEXT), named)).status).toBe(200);
    expect((await free.post(at(TEXT), { input, providerPin: "sandbox" })).status).toBe(400);
    const any = await openPanel(tenant);
    expect((await any.post(at(IMAGE), { prompt: "A kite" })).status).toBe(200);
  });
});

test("a visitor may be stricter than the project's rating, not looser; without a rating they choose like any caller", async () => {
  const tenant = await makeTenant();
  const panel = await openPanel(tenant);
  const ask = (more: object) => panel.post(at(TEXT), { input, ...more });
  const refused = async (more: object, field: string) => {
    const { status, json } = await ask(more);
    expect([more, status, json.detail]).toMatchObject([
      more,
      400,
      { code: "PolicyRejected", details: { policy: "panel", field } },
    ]);
  };
  expect((await ask({ maturityRating: "PG" })).status).toBe(200);
  await pool.query(`UPDATE project SET settings = settings || '{"maturityRating": "PG"}' WHERE id = $1`, [
    tenant.projectId,
  ]);
  for (const maturityRating of ["PG13", "R", "NC17"]) await refused({ maturityRating }, "maturityRating");
  await refused({ matureContentTraits: ["sexual_explicit"] }, "matureContentTraits");
  for (const each of [{ maturityRating: "PG" }, { maturityRating: "G" }, {}])
    expect([each, (await ask(each)).status]).toEqual([each, 200]);
  // The embed's policy does not limit a caller with a key.
  expect((await tenant.post(at(TEXT), { input, maturityRating: "R" })).json.detail?.details?.policy).not.toBe(
    "panel",
  );
});
