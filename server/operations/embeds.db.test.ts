import { beforeAll, describe, expect, test, vi } from "vitest";
import { isForPages, respond } from "@/server/api/endpoint";
import { addressLimit } from "@/server/api/rate-limit";
import { pool } from "@/server/platform/db";
import { call, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { HOST, type OpenPanel, openPanel } from "@/testing/embeds";
import { spend } from "@/testing/limits";
import { incoming, ownAddress } from "@/testing/requests";
import { endpoints } from ".";

const EVIL = "https://evil.example";
/** An origin without a bound session. */
const OTHER_ORIGIN = `https://${Math.random().toString(36).slice(2)}.example`;
const OWN = "http://localhost:3000";
const BOOTSTRAP = "/v1/panel/bootstrap";

let tenant: Tenant;
let panel: OpenPanel;
beforeAll(async () => {
  tenant = await makeTenant();
  panel = await openPanel(tenant);
  await openPanel(tenant, { allowedOrigins: [EVIL] }); // EVIL has sessions of its own embed
}, 60_000);

const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => `${name}-none`);

test("an embed session is refused by every endpoint that does not list it, even by public ones", async () => {
  const closed = endpoints.filter(({ auth }) => !auth.includes("panel_session"));
  expect(closed.length).toBeGreaterThan(80);
  for (const { method, path } of closed) {
    const answer = await call(method, filled(path), panel.as(method === "GET" ? {} : { body: {} }));
    const { detail, error } = answer.json ?? {};
    expect([path, answer.status, (detail ?? error)?.code]).toEqual([path, 403, "AuthorizationFailed"]);
  }
});

test("an embed session is accepted by every endpoint that lists it", { tags: "long" }, async () => {
  const open = endpoints.filter(({ auth }) => auth.includes("panel_session"));
  expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toMatchInlineSnapshot(`
    [
      "GET /.well-known/jwks.json",
      "GET /v1/agent-context",
      "GET /v1/artifacts/{artifact_id}",
      "GET /v1/capabilities",
      "GET /v1/capabilities/{capability_key}",
      "GET /v1/capabilities/{capability_key}/benchmarks",
      "GET /v1/capabilities/{capability_key}/execution-targets",
      "GET /v1/capabilities/{capability_key}/openapi.json",
      "GET /v1/executions/{execution_id}/events",
      "GET /v1/inference/pinned/bulk/{bulk_id}",
      "GET /v1/inference/pinned/{receipt_id}",
      "GET /v1/jobs/{job_id}",
      "GET /v1/jobs/{job_id}/artifacts/{artifact_id}",
      "GET /v1/jobs/{job_id}/events",
      "GET /v1/jobs/{job_id}/receipt",
      "GET /v1/jobs/{job_id}/result",
      "GET /v1/panel/bootstrap",
      "GET /v1/provenance/lockfile",
      "GET /v1/provenance/manifests/{manifest_id}",
      "POST /v1/capabilities/resolve",
      "POST /v1/capabilities/{capability_key}/estimate",
      "POST /v1/capabilities/{capability_key}/jobs",
      "POST /v1/capabilities/{capability_key}/quote",
      "POST /v1/jobs/{job_id}/cancel",
    ]
  `);
  for (const { method, path } of open) {
    const answer = await call(method, filled(path), panel.as(method === "GET" ? {} : { body: {} }));
    expect([path, answer.status]).toEqual([
      path,
      expect.toSatisfy((status) => [200, 404, 422].includes(status)),
    ]);
    // Any page may read public responses.
    expect([HOST, "*"]).toContain(answer.headers["access-control-allow-origin"]);
  }
});

test("a session cannot read pins, manifests and coverage of its project", async () => {
  const pinned = await tenant.post("/v1/inference/pinned", {
    pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
    input: "How deep is the sea?",
  });
  const { receiptId } = pinned.json;
  const { manifestId } = (
    await tenant.post("/v1/provenance/manifests", { label: "x", receiptIds: [receiptId] })
  ).json;
  const bulk = await tenant.post("/v1/inference/pinned/bulk", {
    pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
    items: [{ id: "one", input: "x" }],
  });
  for (const path of [
    `/v1/inference/pinned/${receiptId}`,
    `/v1/inference/pinned/bulk/${bulk.json.bulkId}`,
    `/v1/provenance/manifests/${manifestId}`,
    `/v1/provenance/lockfile?receipt_id=${receiptId}`,
  ]) {
    expect([path, (await tenant.get(path)).status]).toEqual([path, 200]);
    expect([path, (await panel.get(path)).status]).toEqual([path, 404]);
  }
  const benchmarks = (await panel.get("/v1/capabilities/text.general.fast.v1/benchmarks")).json;
  expect(benchmarks.coverage.projectId).toBeNull();
});

describe("a token is accepted or refused by where the request comes from", () => {
  test.each([
    ["another origin, also one with sessions of its own", { origin: EVIL }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["a browser without an origin, by its cookie", { cookie: "a=b" }, 403],
    ["a link from another site", { "sec-fetch-site": "cross-site" }, 403],
    ["a sister of our host", { "sec-fetch-site": "same-site" }, 403],
    ["its own origin", { origin: HOST }, 200],
    ["our own page, which sends what is its own without an origin", { "sec-fetch-site": "same-origin" }, 200],
    ["our own page with its origin", { origin: OWN }, 200],
  ])("%s", async (_, headers, status) => {
    const answer = await call("GET", BOOTSTRAP, {
      key: panel.accessToken,
      headers: headers as Record<string, string>,
    });
    expect(answer.status).toBe(status);
    if (status !== 200) expect(answer.json.detail.code).toBe("CrossSiteRequest");
  });
});

describe("responses that pages of other origins may read", () => {
  const cors = (answer: { headers: Record<string, string> }) => answer.headers["access-control-allow-origin"];

  test("a page may read responses to an embed session, errors too, and never with cookies", async () => {
    const ended = await openPanel(tenant);
    await tenant.post(`/v1/panel-sessions/${ended.sessionId}/revoke`);
    for (const [answer, status] of [
      [await panel.get(BOOTSTRAP), 200],
      [await ended.get(BOOTSTRAP), 401],
      [await panel.get("/v1/jobs/none"), 404],
    ] as const) {
      expect([answer.status, cors(answer)]).toEqual([status, HOST]);
      expect(answer.headers.vary).toContain("origin");
      expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  test("a page may not read responses to a key, a person or a page without sessions", {
    tags: "long",
  }, async () => {
    const owner = await sessionHeaders(tenant.organizationId, "owner");
    const asks = [
      await call("GET", "/v1/jobs/none", { key: tenant.key, headers: { origin: HOST } }),
      await call("GET", "/v1/capabilities", { headers: { ...owner, origin: HOST } }),
      await call("GET", "/v1/capabilities", { headers: { origin: OTHER_ORIGIN } }),
      await call("GET", BOOTSTRAP, { key: panel.accessToken, headers: { origin: OTHER_ORIGIN } }),
      await call("GET", "/v1/jobs", panel.as()),
      await call("GET", "/v1/panel-definitions", { key: tenant.key, headers: { origin: HOST } }),
    ];
    for (const answer of asks) expect(cors(answer)).toBeUndefined();
  });

  test("an address over its limit causes no database query, whatever origins it invents", async () => {
    const address = ownAddress();
    const open = endpoints.find(({ method, path }) => method === "GET" && path === "/v1/capabilities")!;
    const ask = (headers: Record<string, string>) =>
      respond(open, incoming({ address, path: open.path, headers }));
    const first = await ask({ origin: HOST });
    expect([first.status, cors(first)]).toEqual([200, HOST]);
    const asked = vi.spyOn(pool, "query");
    try {
      for (let n = 0; n < 5; n++) {
        spend(addressLimit, address);
        expect((await ask({ origin: `https://invented-${n}.example` })).status).toBe(429);
      }
      expect(asked).not.toHaveBeenCalled();
    } finally {
      asked.mockRestore();
    }
  });

  test("a browser's preflight is allowed for operations of embed sessions, and for nothing else", async () => {
    const ask = (path: string, method: string, origin: string) =>
      call("OPTIONS", path, { headers: { origin, "access-control-request-method": method } });
    for (const { path, method, ...endpoint } of endpoints) {
      const { headers } = await ask(filled(path), method, HOST);
      const methods = headers["access-control-allow-methods"]?.split(", ") ?? [];
      expect([path, method, methods.includes(method)]).toEqual([path, method, isForPages(endpoint)]);
    }
    const allowed = await ask(BOOTSTRAP, "GET", HOST);
    expect(allowed.headers).toMatchObject({
      "access-control-allow-origin": HOST,
      "access-control-allow-headers": expect.stringContaining("authorization"),
      vary: "origin",
    });
    expect(allowed.headers["access-control-allow-credentials"]).toBeUndefined();
    expect(cors(await ask(BOOTSTRAP, "GET", OTHER_ORIGIN))).toBeUndefined();
    expect(cors(await ask("/v1/jobs", "GET", HOST))).toBeUndefined();
  });
});
