import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { closeDatabase, pool } from "@/server/db";
import { ACCESS_CHANGED, access } from "@/server/domain/access";
import { systemCtx } from "@/server/domain/ctx";
import { changeRole, removeMember, revokeKey } from "@/server/domain/organizations";
import { newId } from "@/server/ids";
import { newAdapter } from "@/testing/adapters";
import { call, finish, makeKey, makeKeyWithId, makeTenant, sessionHeaders } from "@/testing/api";
import { definePanel, HOST, openPanel } from "@/testing/panels";
import { cookieOf } from "@/testing/sessions";
import { makePerson, system } from "@/testing/tenants";
import { exchangeLaunchCode, prune } from ".";

afterAll(closeDatabase);

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
const at = (key: string, what = "jobs") => `/v1/capabilities/${key}/${what}`;
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const fields = (answer: { json: { detail: { loc: string[] }[] } }) =>
  answer.json.detail.map(({ loc }) => loc.join("."));

describe("definitions", () => {
  test("a change of what runs makes a version, a change of its name none; sessions keep the version they were made of", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant, { policy: { maxOutputs: 2 } });
    const panel = await openPanel(tenant, { panelDefinitionId: made.id });
    const patch = (body: object) =>
      call("PATCH", `/v1/panel-definitions/${made.id}`, { key: tenant.key, body });
    expect((await patch({ displayName: "Renamed" })).json).toMatchObject({
      displayName: "Renamed",
      currentVersion: { version: 1 },
    });
    const changed = await patch({ policy: { maxOutputs: 4 }, presentation: { pricingDisplay: "hidden" } });
    expect(changed.json.currentVersion).toMatchObject({
      version: 2,
      capabilityKey: TEXT,
      policy: { maxOutputs: 4 },
      presentation: { pricingDisplay: "hidden", showPrompt: true },
    });
    expect((await patch({ policy: { maxOutputs: 4 } })).json.currentVersion.version).toBe(2); // the same again
    expect((await panel.get("/v1/panel/bootstrap")).json).toMatchObject({
      definition: { version: 1, displayName: "Renamed" },
      policy: { maxOutputs: 2 },
    });
    await expect(
      pool.query("UPDATE panel_version SET policy = '{}' WHERE definition_id = $1", [made.id]),
    ).rejects.toThrow("append-only");
  });

  test("only a change of its status makes every process forget what it remembers of callers", async () => {
    const tenant = await makeTenant();
    const { id } = await definePanel(tenant);
    const told = vi.spyOn(pg.Client.prototype, "query");
    try {
      for (const [body, isTold] of [
        [{ displayName: "Renamed", origin: "project", status: "active" }, false],
        [{ policy: { maxOutputs: 4 }, allowedOrigins: [HOST] }, false],
        [{ status: "disabled" }, true],
      ] as const) {
        told.mockClear();
        const { json } = await call("PATCH", `/v1/panel-definitions/${id}`, { key: tenant.key, body });
        const [field, value] = Object.entries(body)[0]!;
        expect({ ...json, ...json.currentVersion }).toMatchObject({ [field]: value });
        const announced = told.mock.calls.filter((each) => JSON.stringify(each).includes(ACCESS_CHANGED));
        expect([body, announced.length > 0]).toEqual([body, isTold]);
      }
    } finally {
      told.mockRestore();
    }
  });

  test("a key is one in its project and one in the organization; the project's own goes first", async () => {
    const tenant = await makeTenant();
    const body = { key: "studio", displayName: "Studio" };
    const wide = await call("POST", "/v1/panel-definitions", { key: tenant.unboundKey, body });
    expect(wide.json).toMatchObject({ projectId: null, organizationId: tenant.organizationId });
    const own = await definePanel(tenant, { key: "studio" });
    const again = await tenant.post("/v1/panel-definitions", body);
    expect([again.status, fields(again)]).toEqual([422, ["body.key"]]);
    const { json } = await tenant.get(`/v1/panel-definitions?projectId=${tenant.projectId}`);
    expect(json.definitions.map(({ id }: { id: string }) => id)).toEqual([own.id, wide.json.id]);
    const panel = await openPanel(tenant, { panelDefinitionKey: "studio" });
    expect((await panel.get("/v1/panel/bootstrap")).json.definition.id).toBe(own.id);
    // A key of one project reads what is for all, and changes its own alone.
    expect((await tenant.get(`/v1/panel-definitions/${wide.json.id}`)).status).toBe(200);
    const change = (id: string) =>
      call("PATCH", `/v1/panel-definitions/${id}`, { key: tenant.key, body: { displayName: "x" } });
    expect((await change(wide.json.id)).status).toBe(403);
    expect((await change(own.id)).status).toBe(200);
  });

  test("what is no exact origin of a page, or could mean more in a list of sources, is none of a host page", async () => {
    const tenant = await makeTenant();
    for (const origin of [
      "http://host.example",
      "https://host.example/",
      "https://host.example/path",
      "https://HOST.example",
      "https://user@host.example",
      "https://*.example",
      "https://a.example;script-src",
      "https://a.example,b",
      "*",
      "null",
      "javascript:alert(1)",
    ]) {
      const panel = { key: "x", displayName: "x", allowedOrigins: [origin] };
      const refused = await tenant.post("/v1/panel-definitions", panel);
      expect([origin, refused.status, fields(refused)]).toEqual([origin, 422, ["body.allowedOrigins.0"]]);
      const session = { projectId: tenant.projectId, allowedOrigins: [origin], maxSpendMicros: 1 };
      expect((await tenant.post("/v1/panel-sessions", session)).status).toBe(422);
    }
    const local = ["http://localhost:4000", "http://127.0.0.1:4000", "https://host.example:8443"];
    const taken = await tenant.post("/v1/panel-definitions", {
      key: "y",
      displayName: "y",
      allowedOrigins: local,
    });
    expect(taken.json.currentVersion.allowedOrigins).toEqual(local);
  });

  test("capability, its version, actions and links are checked", async () => {
    const tenant = await makeTenant();
    const base = { key: "x", displayName: "x" };
    for (const [more, field] of [
      [{ capabilityKey: "nothing.v1" }, "body.capabilityKey"],
      [{ capabilityKey: TEXT, capabilityVersion: "v2" }, "body.capabilityVersion"],
      [{ capabilityVersion: "v1" }, "body.capabilityVersion"],
      [
        { actions: [{ key: "a", label: "A", handler: { kind: "navigation", href: "javascript:alert(1)" } }] },
        "body.actions.0.handler.href",
      ],
      [
        { actions: [{ key: "a", label: "A", handler: { kind: "shell", command: "ls" } }] },
        "body.actions.0.handler.kind",
      ],
    ] as const) {
      const refused = await tenant.post("/v1/panel-definitions", { ...base, ...more });
      expect([refused.status, fields(refused)]).toEqual([422, [field]]);
    }
    const actions = [
      {
        key: "a",
        label: "A",
        handler: { kind: "capability", capability: TEXT },
        inputs: [{ key: "n", label: "N", valueType: "number" }],
      },
      { key: "b", label: "B", handler: { kind: "projectCommand", command: "publish" } },
      { key: "c", label: "C", handler: { kind: "navigation", href: "/jobs" } },
    ];
    const made = await tenant.post("/v1/panel-definitions", {
      ...base,
      capabilityKey: TEXT,
      capabilityVersion: "v1",
      actions,
    });
    expect(
      made.json.currentVersion.actions.map(({ handler }: { handler: { kind: string } }) => handler.kind),
    ).toEqual(["capability", "projectCommand", "navigation"]);
  });
});

describe("sessions", () => {
  test("what they are made of is checked: panel, origins, inputs as far as they are given", async () => {
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

  test("the token stands in one answer; at rest there is its hash", async () => {
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

  test("a revoked one, an expired one and one of a panel that is not active are refused at the next request", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant);
    const [one, other] = [await openPanel(tenant), await openPanel(tenant, { panelDefinitionId: made.id })];
    const watch = await access.watchChanges(); // as a web process, which remembers
    try {
      for (const panel of [one, other]) expect((await panel.get("/v1/panel/bootstrap")).status).toBe(200);
      expect((await tenant.post(`/v1/panel-sessions/${one.sessionId}/revoke`)).json).toMatchObject({
        status: "revoked",
      });
      expect((await one.get("/v1/panel/bootstrap")).status).toBe(401);
      expect((await tenant.post(`/v1/panel-sessions/${one.sessionId}/revoke`)).json.status).toBe("revoked"); // again changes nothing
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
      expect(await access.panelHolder(other.accessToken, later)).toBeNull();
      expect(await access.panelHolder(other.accessToken, new Date())).toMatchObject({ id: other.sessionId });
    } finally {
      await watch.stop();
    }
  });

  test("a key with a ceiling of its own makes none, since they would escape it; a person's ceiling holds theirs", async () => {
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
    const holder = await access.panelHolder(made.json.accessToken, new Date());
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

  test("a rotated key whose ceiling passed to its heir makes no session and no code that would escape it", async () => {
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

  test("with a key that is revoked, and with a member who leaves or may only look, their sessions end at once", async () => {
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

    test("codes, tokens and inputs are forgotten, and whole sessions that ran nothing; what was spent stays", async () => {
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

    test("more unused ones than are taken at once leave in one pass", async () => {
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

  test("pages are told until a day after the last session of their origin, by one row however many sessions there were", async () => {
    const tenant = await makeTenant();
    const origin = `https://${newId("request").replace("_", "-")}.example`;
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    expect(await access.isPanelOrigin(origin, new Date())).toBe(false);
    for (const expiresInMinutes of [5, 120, 60, 5])
      await openPanel(tenant, { allowedOrigins: [origin, HOST], expiresInMinutes });
    expect(await access.isPanelOrigin(origin, inHours(25.9))).toBe(true);
    expect(await access.isPanelOrigin(origin, inHours(27.1))).toBe(false);
    const asked = vi.spyOn(pool, "query");
    try {
      expect(await access.isPanelOrigin(origin, new Date())).toBe(true);
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

  test("each is good for one token of the same session, also when twenty ask at once", async () => {
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
    // One cap for both, and both end together.
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

  test("a page of another origin gets none and uses up nothing; our own page and the host's do", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant);
    const code = async () =>
      (await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`)).json.code as string;
    const first = await code();
    for (const origin of ["https://evil.example", "null", `${HOST}.evil.example`, null])
      expect((await exchange(first, origin)).status).toBe(403);
    expect((await exchange(first, HOST)).status).toBe(200);
    expect((await exchange(await code(), "http://localhost:3000")).status).toBe(200);
  });

  test("unknown, malformed, expired, and of a session that has ended: Gone, all alike", async () => {
    const tenant = await makeTenant();
    const panel = await openPanel(tenant, { expiresInMinutes: 5 });
    const { json } = await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`);
    const page = { origin: HOST, isOwn: false };
    const ctx = (minutes: number) => systemCtx("test", () => new Date(Date.now() + minutes * 60_000));
    await expect(exchangeLaunchCode(ctx(6), json.code, page)).rejects.toMatchObject({ code: "Gone" });
    for (const code of ["plc_x", `${json.code.slice(0, -1)}?`, panel.accessToken])
      expect((await exchange(code, HOST)).status).toBe(410);
    await tenant.post(`/v1/panel-sessions/${panel.sessionId}/revoke`);
    expect((await exchange(json.code, HOST)).status).toBe(410);
    expect((await tenant.post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`)).status).toBe(410);
  });
});

describe("limits hold", () => {
  test("twenty jobs at once against room for three admit three, and what they may cost is what is held", async () => {
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
    // Others of the organization are not held back, and are not told of a budget nobody set.
    expect((await tenant.post(at(TEXT), { input })).status).toBe(200);
    const { rows } = await pool.query("SELECT FROM budget_alert WHERE organization_id = $1", [
      tenant.organizationId,
    ]);
    expect(rows).toEqual([]);
  });

  test("fifty jobs at once admit exactly as many as the session has; replays are none", async () => {
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

  test("forty jobs at once of sessions with caps of jobs and of money, while others end, admit what fits and no more", async () => {
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

  test("sessions are counted in one order, whatever order they are named in: nobody waits in a circle", async () => {
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

  test("one job may cost what the panel allows one, and make as many as it allows", async () => {
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

  test("what is locked is filled in, is taken when it is said the same, and is refused with its field when not", async () => {
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

  test("it runs its panel's capability alone, and leaves the model to us unless the panel says otherwise", async () => {
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

test("what its project says of its content, a visitor says less of and not more; where it says nothing, as anybody", async () => {
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
  // Whoever has a key chooses for themselves.
  expect((await tenant.post(at(TEXT), { input, maturityRating: "R" })).json.detail?.details?.policy).not.toBe(
    "panel",
  );
});

describe("what it reads is its own", () => {
  test("jobs, events, results, receipts, artifacts and streams of anybody else are as none at all", async () => {
    const tenant = await makeTenant();
    const [one, other] = [await openPanel(tenant), await openPanel(tenant)];
    const drawn = await one.post(at(IMAGE), { prompt: "A kite" });
    const own = await finish(drawn.json.jobId);
    const theirs = await finish((await tenant.post(at(IMAGE), { prompt: "A kite" })).json.jobId);
    const paths = (job: typeof own) => {
      const artifactId = job.artifacts[0]?.artifactId ?? "";
      return [
        `/v1/jobs/${job.jobId}`,
        `/v1/jobs/${job.jobId}/events`,
        `/v1/jobs/${job.jobId}/result`,
        `/v1/jobs/${job.jobId}/receipt`,
        `/v1/jobs/${job.jobId}/artifacts/${artifactId}`,
        `/v1/artifacts/${artifactId}`,
      ];
    };
    for (const path of paths(own)) {
      expect([path, (await one.get(path)).status]).toEqual([path, 200]);
      expect([path, (await other.get(path)).status]).toEqual([path, 404]);
    }
    for (const path of paths(theirs)) expect([path, (await one.get(path)).status]).toEqual([path, 404]);
    const streamed = await tenant.post(at(TEXT, "invoke"), { input, executionMode: "Stream" });
    expect((await one.get(`/v1/executions/${streamed.json.executionId}/events`)).status).toBe(404);
    const waiting = await tenant.post(at(TEXT), { input });
    expect((await one.post(`/v1/jobs/${waiting.json.jobId}/cancel`)).status).toBe(404);
    const mine = await one.post(at(TEXT), { input });
    expect((await one.post(`/v1/jobs/${mine.json.jobId}/cancel`)).json.status).toBe("canceled");
  });

  test("a key of its own names its own jobs alone: nobody finds another's through it", async () => {
    const tenant = await makeTenant();
    const [one, other] = [await openPanel(tenant), await openPanel(tenant)];
    const body = { input, idempotencyKey: "order-1" };
    const ids = [
      (await tenant.post(at(TEXT), body)).json.jobId,
      (await one.post(at(TEXT), body)).json.jobId,
      (await other.post(at(TEXT), body)).json.jobId,
    ];
    expect(new Set(ids).size).toBe(3);
    expect((await one.post(at(TEXT), body)).json.jobId).toBe(ids[1]);
    const changed = await one.post(at(TEXT), { ...body, metadata: { a: "b" } });
    expect(changed.json.jobId).toBe(ids[1]);
  });

  test("adapters, stored inputs and quotes of the project are as none; adapters it was given are used", async () => {
    const tenant = await makeTenant();
    const { adapterId } = (await tenant.post("/v1/adapters", newAdapter("House style"))).json;
    await tenant.post("/v1/adapter-aliases", { alias: "House", target: { adapterId } });
    const drawing = (adapter: object) => ({ prompt: "A kite", adapters: [adapter] });
    const bare = await openPanel(tenant);
    const none = { adapterId: newId("adapter") };
    for (const adapter of [{ adapterId }, none, { alias: "house" }, { alias: "none" }]) {
      const refused = await bare.post(at(IMAGE, "quote"), drawing(adapter));
      const [field] = Object.keys(adapter);
      expect([refused.status, fields(refused)]).toEqual([422, [`body.input.adapters.0.${field}`]]);
      const what = field === "alias" ? "alias" : "adapter";
      expect(refused.json.detail[0].msg).toBe(`There is no such ${what} in this environment.`);
    }
    const given = await openPanel(tenant, { initialInputs: { adapters: [{ alias: "HOUSE" }] } });
    expect((await given.post(at(IMAGE), drawing({ alias: "house", weight: 0.5 }))).status).toBe(200);
    expect((await given.post(at(IMAGE), drawing({ adapterId }))).status).toBe(422);

    const stored = await tenant.post("/v1/payloads", { prompt: "A boat" });
    for (const inputPayloadRef of [stored.json.payloadId, newId("payload")]) {
      const refused = await bare.post(at(IMAGE), { input: { prompt: "A kite" }, inputPayloadRef });
      expect(refused.json.detail[0].msg).toBe("A panel session has no stored inputs.");
    }
    const { quoteId } = (await tenant.post(at(TEXT, "quote"), { input })).json;
    const own = (await bare.post(at(TEXT, "quote"), { input })).json.quoteId;
    const run = (quoted: string) => bare.post(at(TEXT), { input, execution: { quoteId: quoted } });
    expect((await run(quoteId)).json.detail.details).toEqual({ reason: "unknown" });
    expect((await run(own)).status).toBe(200);
  });

  test("a file that is neither its own nor given to it is none: it cannot be run on", async () => {
    const tenant = await makeTenant();
    const file = async () =>
      (await finish((await tenant.post(at(IMAGE), { prompt: "A kite" })).json.jobId)).artifacts[0]
        ?.artifactId ?? "";
    const [foreign, given] = [await file(), await file()];
    const panel = await openPanel(tenant, { initialInputs: { source: { artifactId: given } } });
    const own = (await finish((await panel.post(at(IMAGE), { prompt: "A kite" })).json.jobId)).artifacts[0]
      ?.artifactId;
    const edit = (artifactId: string | undefined) =>
      panel.post(at("image.edit.v1", "quote"), { prompt: "Bluer", inputArtifactIds: [artifactId] });
    const refused = await edit(foreign);
    const nothing = await edit(newId("artifact"));
    expect([refused.status, fields(refused)]).toEqual([422, ["body.input.inputArtifactIds.0"]]);
    expect(refused.json.detail[0].msg).toBe(nothing.json.detail[0].msg);
    expect((await edit(given)).status).toBe(200);
    expect((await edit(own)).status).toBe(200);
  });
});
