import { describe, expect, test, vi } from "vitest";
import { access } from "@/server/domain/access";
import { systemCtx } from "@/server/domain/ctx";
import { changeRole, removeMember, revokeKey } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { HOUR_MS } from "@/server/platform/time/units";
import { call, finish, makeKey, makeKeyWithId, makeTenant, sessionHeaders } from "@/testing/api";
import { definePanel, HOST, openPanel } from "@/testing/embeds";
import { cookieOf } from "@/testing/sessions";
import { makePerson, system } from "@/testing/tenants";
import { exchangeLaunchCode, prune } from ".";
import { at, fields, IMAGE, input, TEXT } from "./embeds.fixture";

describe("embed sessions", () => {
  test("the parts of a new session are checked: embed, origins, and inputs as far as they are given", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant, { capabilityKey: IMAGE, allowedOrigins: [HOST] });
    const base = {
      projectId: tenant.projectId,
      allowedOrigins: [HOST],
      maxSpendMicros: 1_000,
      panelDefinitionId: made.id,
    };
    for (const [more, field] of [
      [{ allowedOrigins: [HOST, "https://other.example"] }, "body.allowedOrigins.1"],
      [{ allowedOrigins: [] }, "body.allowedOrigins"],
      [{ maxSpendMicros: 0 }, "body.maxSpendMicros"],
      [{ maxSpendMicros: 1e15 + 1 }, "body.maxSpendMicros"],
      [{ maxJobs: 1_001 }, "body.maxJobs"],
      [{ expiresInMinutes: 4 }, "body.expiresInMinutes"],
      [{ expiresInMinutes: 121 }, "body.expiresInMinutes"],
      [{ panelDefinitionId: newId("panelDefinition") }, "body.panelDefinitionId"],
      [{ panelDefinitionId: undefined, panelDefinitionKey: "none" }, "body.panelDefinitionKey"],
      [{ lockedInputs: { variantCount: 99 } }, "body.lockedInputs.variantCount"],
      [{ lockedInputs: { colour: "red" } }, "body.lockedInputs.colour"],
      [{ initialInputs: { prompt: 7 } }, "body.initialInputs.prompt"],
    ] as const) {
      const refused = await tenant.post("/v1/panel-sessions", { ...base, ...more });
      expect({ more, status: refused.status, at: fields(refused) }).toEqual({
        more,
        status: 422,
        at: [field],
      });
    }
    expect(
      (await tenant.post("/v1/panel-sessions", { ...base, lockedInputs: { variantCount: 2 } })).status,
    ).toBe(200);
    const elsewhere = { ...base, projectId: tenant.otherProjectId };
    expect((await tenant.post("/v1/panel-sessions", elsewhere)).status).toBe(403);
    const weak = await makeKey({ projectId: tenant.projectId, scopes: ["capabilities:run", "jobs:read"] });
    expect((await call("POST", "/v1/panel-sessions", { key: weak, body: base })).status).toBe(403);
  });

  test("a session's token is neither in a later answer nor in the database", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant);
    expect(panel.accessToken).toMatch(/^capp_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
    expect((await tenant.get(`/v1/panel-sessions/${panel.sessionId}`)).text).not.toContain("capp_");
    const { rows } = await pool.query(
      "SELECT session::text || token::text || audit::text AS all FROM panel_session session JOIN panel_token token ON token.session_id = session.id JOIN audit_entry audit ON audit.subject = session.id WHERE session.id = $1",
      [panel.sessionId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0].all).not.toContain(panel.accessToken.slice(5, 30));
  });

  test("a revoked session, an expired one and one of an inactive embed are refused at the next request", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant);
    const [one, other] = [await openPanel(tenant), await openPanel(tenant, { panelDefinitionId: made.id })];
    const watch = await access.watchChanges(); // acts as a web process, which caches callers
    try {
      for (const panel of [one, other]) expect((await panel.get("/v1/panel/bootstrap")).status).toBe(200);
      expect((await tenant.post(`/v1/panel-sessions/${one.sessionId}/revoke`)).json).toMatchObject({
        status: "revoked",
      });
      expect((await one.get("/v1/panel/bootstrap")).status).toBe(401);
      expect((await tenant.post(`/v1/panel-sessions/${one.sessionId}/revoke`)).json.status).toBe("revoked"); // no change
      const status = (status: string) =>
        call("PATCH", `/v1/panel-definitions/${made.id}`, { key: tenant.key, body: { status } });
      await status("disabled");
      expect((await other.get("/v1/panel/bootstrap")).status).toBe(401);
      const refused = await tenant.post("/v1/panel-sessions", {
        projectId: tenant.projectId,
        allowedOrigins: [HOST],
        maxSpendMicros: 1,
        panelDefinitionId: made.id,
      });
      expect(fields(refused)).toEqual(["body.panelDefinitionId"]);
      await status("active");
      expect((await other.get("/v1/panel/bootstrap")).status).toBe(200);
      const later = new Date(Date.now() + 61 * 60_000);
      expect(await access.embedHolder(other.accessToken, later)).toBeNull();
      expect(await access.embedHolder(other.accessToken, new Date())).toMatchObject({ id: other.sessionId });
    } finally {
      await watch.stop();
    }
  });

  test("a key with its own ceiling cannot create a session, and a person's ceiling counts the jobs of their sessions", async () => {
    const tenant = await makeTenant();
    const principal = await access.keyPrincipal(tenant.key, new Date());
    await pool.query(
      `INSERT INTO budget (id, organization_id, scope, period, ceiling_micros, enforcement, created_at, updated_at)
       VALUES ($1, $2, $3, 'total', 5, 'prevent', now(), now())`,
      [newId("budget"), tenant.organizationId, `principal:${principal?.id}`],
    );
    const body = { projectId: tenant.projectId, allowedOrigins: [HOST], maxSpendMicros: 10_000_000 };
    expect((await tenant.post("/v1/panel-sessions", body)).status).toBe(403);
    const owner = await sessionHeaders(tenant.organizationId, "owner");
    const made = await call("POST", "/v1/panel-sessions", { headers: owner, body });
    const holder = await access.embedHolder(made.json.accessToken, new Date());
    expect(holder?.userId).toMatch(/^usr_/);
    await pool.query(
      `INSERT INTO budget (id, organization_id, scope, period, ceiling_micros, enforcement, created_at, updated_at)
       VALUES ($1, $2, $3, 'total', 5, 'prevent', now(), now())`,
      [newId("budget"), tenant.organizationId, `principal:${holder?.userId}`],
    );
    const refused = await call("POST", at(TEXT), {
      key: made.json.accessToken,
      headers: { origin: HOST },
      body: { input },
    });
    expect(refused.json.detail).toMatchObject({
      code: "BudgetExceeded",
      details: { scope: `principal:${holder?.userId}` },
    });
  });

  test("a rotated key whose ceiling passed to its successor creates no session and no code that would escape it", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant);
    const principal = await access.keyPrincipal(tenant.key, new Date());
    await pool.query(
      `INSERT INTO budget (id, organization_id, scope, period, ceiling_micros, enforcement, created_at, updated_at)
       VALUES ($1, $2, $3, 'total', 5, 'prevent', now(), now())`,
      [newId("budget"), tenant.organizationId, `principal:${principal?.id}`],
    );
    const owner = await sessionHeaders(tenant.organizationId, "owner");
    const rotated = await call("POST", `/v1/api-keys/${principal?.id}/rotate`, {
      headers: owner,
      body: { overlapSeconds: 600 },
    });
    expect(rotated.status).toBe(200);
    const body = { projectId: tenant.projectId, allowedOrigins: [HOST], maxSpendMicros: 10_000_000 };
    expect((await tenant.post("/v1/panel-sessions", body)).status).toBe(403);
    expect((await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`)).status).toBe(403);
  });

  test("a key of another environment gets no code for a session", async () => {
    const tenant = await makeTenant();
    const owner = await sessionHeaders(tenant.organizationId, "owner");
    const body = {
      projectId: tenant.projectId,
      environment: "production",
      allowedOrigins: [HOST],
      maxSpendMicros: 10_000_000,
    };
    const made = await call("POST", "/v1/panel-sessions", { headers: owner, body });
    expect(made.json.environment).toBe("production");
    const codes = `/v1/panel-sessions/${made.json.sessionId}/launch-codes`;
    expect((await tenant.post(codes)).status).toBe(403);
    expect((await call("POST", codes, { headers: owner })).status).toBe(200);
  });

  test("sessions end at once when their key is revoked, or their member leaves or becomes a viewer", async () => {
    const watch = await access.watchChanges();
    try {
      const tenant = await makeTenant();
      const { apiKey: key, keyId } = await makeKeyWithId(tenant);
      const body = { projectId: tenant.projectId, allowedOrigins: [HOST], maxSpendMicros: 10_000_000 };
      const bootstrap = (token: string) =>
        call("GET", "/v1/panel/bootstrap", { key: token, headers: { origin: HOST } });
      const other = await openPanel(tenant);
      const ofKey = await call("POST", "/v1/panel-sessions", { key, body });
      expect((await bootstrap(ofKey.json.accessToken)).status).toBe(200);
      await revokeKey(system, keyId);
      expect((await bootstrap(ofKey.json.accessToken)).status).toBe(401);
      const read = await tenant.get(`/v1/panel-sessions/${ofKey.json.sessionId}`);
      expect(read.json.status).toBe("revoked");

      const { organizationId } = tenant;
      const owner = (await makePerson(organizationId, "owner")).ctx;
      const ends = [
        (userId: string) => removeMember(owner, { organizationId, userId }),
        (userId: string) => changeRole(owner, { organizationId, userId, role: "viewer" }),
      ];
      for (const end of ends) {
        const { userId } = await makePerson(organizationId, "member");
        const headers = {
          cookie: await cookieOf(userId),
          origin: "http://localhost:3000",
          "content-type": "application/json",
        };
        const made = await call("POST", "/v1/panel-sessions", { headers, body });
        expect((await bootstrap(made.json.accessToken)).status).toBe(200);
        await end(userId);
        expect((await bootstrap(made.json.accessToken)).status).toBe(401);
      }
      expect((await other.get("/v1/panel/bootstrap")).status).toBe(200);
    } finally {
      await watch.stop();
    }
  });

  describe("a week after their end", () => {
    const endedDaysAgo = async (days: number, ...panels: { sessionId: string }[]) => {
      const ids = panels.map(({ sessionId }) => sessionId);
      const end = "now() - $2 * interval '1 day'";
      await pool.query(`UPDATE panel_session SET expires_at = ${end} WHERE id = ANY($1)`, [ids, days]);
      await pool.query(`UPDATE panel_launch_code SET expires_at = ${end} WHERE session_id = ANY($1)`, [
        ids,
        days,
      ]);
    };
    const rowsOf = async ({ sessionId }: { sessionId: string }) =>
      (
        await pool.query(
          `SELECT (SELECT initial_inputs FROM panel_session WHERE id = $1) AS inputs,
             (SELECT count(*)::int FROM panel_token WHERE session_id = $1) AS tokens,
             (SELECT count(*)::int FROM panel_launch_code WHERE session_id = $1) AS codes,
             (SELECT count(*)::int FROM budget WHERE scope = 'principal:' || $1) AS caps`,
          [sessionId],
        )
      ).rows[0];

    test("a week after the end of sessions their codes, tokens and inputs and the unused ones are deleted; recorded spending stays", async () => {
      const tenant = await makeTenant();
      const inputs = { prompt: "A canary" };
      const open = () => openPanel(tenant, { initialInputs: inputs });
      const [used, unused, recent] = [await open(), await open(), await open()];
      for (const { sessionId } of [used, unused, recent])
        await tenant.post(`/v1/panel-sessions/${sessionId}/launch-codes`);
      await finish((await used.post(at(TEXT), { input })).json.jobId);
      const of = async () => (await tenant.get(`/v1/panel-sessions/${used.sessionId}`)).json;
      const { testSpentMicros } = await of();
      expect(testSpentMicros).toBeGreaterThan(0);
      await endedDaysAgo(8, used, unused);
      await endedDaysAgo(6, recent);
      await prune(systemCtx("test"));
      expect(await rowsOf(recent)).toEqual({ inputs, tokens: 1, codes: 1, caps: 1 });
      expect(await rowsOf(used)).toEqual({ inputs: {}, tokens: 0, codes: 0, caps: 1 });
      expect(await of()).toMatchObject({ testSpentMicros, admittedJobs: 1 });
      expect(await rowsOf(unused)).toEqual({ inputs: null, tokens: 0, codes: 0, caps: 0 });
      expect((await tenant.get(`/v1/panel-sessions/${unused.sessionId}`)).status).toBe(404);
      const { rows } = await pool.query("SELECT action FROM audit_entry WHERE subject = $1", [
        unused.sessionId,
      ]);
      expect(rows).toContainEqual({ action: "panel_session.created" });
    });

    test("more unused sessions than fit into one batch are deleted in one pass", async () => {
      const tenant = await makeTenant();
      const panel = await openPanel(tenant);
      await pool.query(
        `INSERT INTO panel_session SELECT (jsonb_populate_record(session, jsonb_build_object('id', session.id || n))).*
         FROM panel_session session, generate_series(1, 2100) n WHERE session.id = $1`,
        [panel.sessionId],
      );
      await pool.query(
        "UPDATE panel_session SET expires_at = now() - interval '9 days' WHERE project_id = $1",
        [tenant.projectId],
      );
      await prune(systemCtx("test"));
      const { rows } = await pool.query("SELECT id FROM panel_session WHERE project_id = $1", [
        tenant.projectId,
      ]);
      expect(rows).toEqual([]);
    });
  });

  test("pages can read that a session ended until a day after their origin's last one, by one row for all sessions", async () => {
    const tenant = await makeTenant();
    const origin = `https://${newId("request").replace("_", "-")}.example`;
    const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
    expect(await access.isEmbedOrigin(origin, new Date())).toBe(false);
    for (const expiresInMinutes of [5, 120, 60, 5])
      await openPanel(tenant, { allowedOrigins: [origin, HOST], expiresInMinutes });
    expect(await access.isEmbedOrigin(origin, inHours(25.9))).toBe(true);
    expect(await access.isEmbedOrigin(origin, inHours(27.1))).toBe(false);
    const asked = vi.spyOn(pool, "query");
    try {
      expect(await access.isEmbedOrigin(origin, new Date())).toBe(true);
      expect(asked.mock.calls).toHaveLength(1);
      expect(JSON.stringify(asked.mock.calls)).not.toContain("panel_session");
    } finally {
      asked.mockRestore();
    }
    await pool.query("UPDATE panel_origin SET told_until = now() - interval '8 days' WHERE origin = $1", [
      origin,
    ]);
    await prune(systemCtx("test"));
    const { rows } = await pool.query("SELECT FROM panel_origin WHERE origin = $1", [origin]);
    expect(rows).toEqual([]);
  });
});

describe("launch codes", () => {
  const exchange = (code: string, origin: string | null, more: Record<string, string> = {}) =>
    call("POST", "/v1/panel/launch-codes/exchange", {
      body: { code },
      headers: { ...(origin ? { origin } : {}), ...more },
    });

  test("a code gives one token of the same session, even if twenty requests compete", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant, { maxJobs: 1 });
    const { json } = await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`);
    expect(json.code).toMatch(/^plc_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
    expect(json.embedUrl).toContain(`/embed?session=${panel.sessionId}#code=plc_`);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(json.code, HOST)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(410)]);
    const won = answers.find(({ status }) => status === 200)?.json;
    expect(won).toMatchObject({ sessionId: panel.sessionId });
    expect(won.accessToken).not.toBe(panel.accessToken);
    // Both tokens share one cap and end together.
    const run = (key: string) => call("POST", at(TEXT), { key, headers: { origin: HOST }, body: { input } });
    expect((await run(won.accessToken)).status).toBe(200);
    expect((await run(panel.accessToken)).status).toBe(402);
    await tenant.post(`/v1/panel-sessions/${panel.sessionId}/revoke`);
    for (const key of [won.accessToken, panel.accessToken]) expect((await run(key)).status).toBe(401);
    const { rows } = await pool.query(
      "SELECT code::text AS all FROM panel_launch_code code WHERE session_id = $1",
      [panel.sessionId],
    );
    expect(rows[0].all).not.toContain(json.code.slice(4, 30));
  });

  test("a page of another origin gets no token and leaves the code unused; our own page and the host's get one", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant);
    const code = async () =>
      (await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`)).json.code as string;
    const first = await code();
    for (const origin of ["https://evil.example", "null", `${HOST}.evil.example`])
      expect((await exchange(first, origin)).status).toBe(403);
    for (const ofBrowser of [{ cookie: "a=b" }, { "sec-fetch-site": "cross-site" }] as Record<
      string,
      string
    >[])
      expect((await exchange(first, null, ofBrowser)).status).toBe(403);
    expect((await exchange(first, HOST)).status).toBe(200);
    expect((await exchange(await code(), "http://localhost:3000")).status).toBe(200);
  });

  test("an unknown, malformed or expired code, or one of an ended session, gives the same Gone", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant, { expiresInMinutes: 5 });
    const { json } = await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`);
    const page = { origin: HOST, isTrusted: false };
    const ctx = (minutes: number) => systemCtx("test", () => new Date(Date.now() + minutes * 60_000));
    await expect(exchangeLaunchCode(ctx(6), json.code, page)).rejects.toMatchObject({ code: "Gone" });
    for (const code of ["plc_x", `${json.code.slice(0, -1)}?`, panel.accessToken])
      expect((await exchange(code, HOST)).status).toBe(410);
    await tenant.post(`/v1/panel-sessions/${panel.sessionId}/revoke`);
    expect((await exchange(json.code, HOST)).status).toBe(410);
    expect((await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`)).status).toBe(410);
  });
});
