import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { openPanel } from "@/testing/embeds";

/* Requests of existing clients of this interface: each field that they send in their own way has a test. */

let tenant: Tenant;
let cookie: string;
beforeAll(async () => {
  tenant = await makeTenant();
  const { cookieOf, makeUser } = await people();
  cookie = await cookieOf(await makeUser(tenant.organizationId));
});

async function people() {
  const { cookieOf } = await import("@/testing/sessions");
  const organizations = await import("@/server/domain/organizations");
  const { system } = await import("@/testing/tenants");
  const makeUser = async (organizationId: string) =>
    (
      await organizations.createUser(system, {
        email: `${organizationId}@example.com`,
        organizationId,
        role: "owner",
        password: "a long enough password",
      })
    ).userId;
  return { cookieOf, makeUser };
}

const post = (path: string, body: object) => call("POST", path, { key: tenant.key, body });
const as = (body: object) => ({ body, headers: { cookie, origin: publicUrl } });

describe("constants of another brand are accepted as ours, and the answer has ours", () => {
  test("schemaVersion of a capability request is accepted", async () => {
    const ask = (schemaVersion: unknown) =>
      post("/v1/capability-requests", { schemaVersion, summary: "Maps", need: "Maps of the sea floor" });
    const { status, json } = await ask("example.capability-request.v1");
    expect([status, json.schemaVersion]).toEqual([200, "service.capability-request.v1"]);
    expect((await ask("example.capability-request.v2")).status).toBe(422);
  });

  test("schemaVersion of a resolution is accepted", async () => {
    const ask = (schemaVersion: unknown) =>
      post("/v1/capabilities/resolve", { schemaVersion, intent: "draw a lighthouse" });
    for (const version of ["example.capability-resolution.v1", "service.capability-resolution.v1"])
      expect([version, (await ask(version)).status]).toEqual([version, 200]);
    for (const version of ["example.capability-resolution.v2", "example.resolution.v1", "", 1, null]) {
      const { status, json } = await ask(version);
      expect([status, json.detail[0].loc]).toEqual([422, ["body", "schemaVersion"]]);
    }
  });

  test("origin of an embed definition is accepted", async () => {
    const define = (origin: string, key: string) =>
      call(
        "POST",
        "/v1/panel-definitions",
        as({ key, displayName: key, origin, projectId: tenant.projectId }),
      );
    const { status, json } = await define("example", "maps");
    expect([status, json.origin]).toEqual([200, "service"]);
    expect((await define("project", "own")).json.origin).toBe("project");
  });

  test("source.kind of an adapter is accepted", async () => {
    const register = (kind: string) =>
      post("/v1/adapters", { displayName: "Own", source: { kind, ref: "art_none", provider: null } });
    const [theirs, ours] = [await register("example_artifact"), await register("service_artifact")];
    // Its kind is known, so the artifact is looked up and not found.
    expect(ours.json.detail[0].loc).toEqual(["body", "source", "ref"]);
    expect([theirs.status, theirs.json.detail]).toEqual([ours.status, ours.json.detail]);
  });
});

test.each(["job", "invoke"])(
  "execution.mode %s of a descriptor agrees with its execution modes",
  async (mode) => {
    const { json } = await call("GET", "/v1/capabilities");
    const found = json.capabilities.filter(
      (each: { execution: { mode: string } }) => each.execution.mode === mode,
    );
    expect(found.length).toBeGreaterThan(0);
    for (const { executionModes } of found) expect(executionModes.includes("job_async")).toBe(mode === "job");
  },
);

test("sheet.normalize sizes the canvas if there is no width and height", async () => {
  const sheet = { rows: 1, columns: 2, normalize: { width: 1024, height: 1024 } };
  const path = "/v1/capabilities/image.generate.v1/plan";
  const { status, json } = await post(path, { input: { prompt: "Two gulls", sheet } });
  expect(status, JSON.stringify(json)).toBe(200);
  expect(JSON.stringify(json)).toContain('"width":2048,"height":1024');
});

test("alignedMinimumSquareCell is the smallest accepted cell, and cellMinPixels is below every one", async () => {
  const { json } = await call("GET", "/v1/capabilities/image.generate.v1");
  const { alignedMinimumSquareCell: edge, cellMinPixels } = json.constraints.sheet;
  expect(cellMinPixels).toBeLessThanOrEqual(edge ** 2);
  const { maxRows: rows, maxColumns: columns } = json.features.sheetSlicing;
  const planned = async (pixels: number) => {
    const sheet = { rows, columns, normalize: { width: pixels, height: pixels } };
    return post("/v1/capabilities/image.generate.v1/plan", { input: { prompt: "Gulls", sheet } });
  };
  expect((await planned(edge)).status).toBe(200);
  const smaller = await planned(edge - json.constraints.dimensions.multipleOf / columns);
  expect([smaller.status, smaller.json.detail[0].loc.at(-1)]).toEqual([422, "width"]);
});

describe("null counts as absent", () => {
  test("displayName, slug and status of a project may be null", async () => {
    const path = `/v1/projects/${tenant.projectId}`;
    const body = { displayName: null, slug: null, status: null };
    const named = await call("PATCH", path, as({ displayName: "Maps" }));
    const { status, json } = await call("PATCH", path, as(body));
    expect([status, json.displayName, json]).toEqual([200, "Maps", named.json]);
  });

  test("provider of an adapter's source may be null", async () => {
    const source = { kind: "service_artifact", ref: "art_none", provider: null };
    const { status, json } = await post("/v1/adapters", { displayName: "Own", source });
    // The null provider is accepted; only the missing artifact is reported.
    expect([status, json.detail.map(({ loc }: { loc: string[] }) => loc)]).toEqual([
      422,
      [["body", "source", "ref"]],
    ]);
  });

  test("bootstrapMode of a connection may be null", async () => {
    const { status, json } = await call(
      "POST",
      "/v1/connections",
      as({ provider: "openai", secret: "sk-none-of-ours", bootstrapMode: null, projectId: tenant.projectId }),
    );
    expect(JSON.stringify(json)).not.toContain('bootstrapMode","msg');
    expect(status).not.toBe(422);
  });
});

test("context of a comparison's estimate names the project for a key of several projects", async () => {
  const path = "/v1/capabilities/text.general.fast.v1/comparisons/estimate";
  const body = {
    competitors: [1, 2].map((n) => ({ axis: "provider", providerPin: `sandbox/sandbox-${n}` })),
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  };
  const ask = (context?: object) =>
    call("POST", path, { key: tenant.unboundKey, body: { ...body, context } });
  expect((await ask()).status).toBe(422);
  const { status, json } = await ask({ projectId: tenant.projectId });
  expect([status, json.estimateKind]).toEqual([200, "comparison"]);
});

test("managedExecutionCoverage is a text with the lengths of the lists in its detail", async () => {
  const { json } = await call("GET", "/v1/diagnostics/providers", { key: tenant.key });
  const { covered, uncovered } = json.managedExecutionCoverageDetail;
  expect(json.managedExecutionCoverage).toBe(`${covered.length}/${covered.length + uncovered.length}`);
});

test("Origin may be absent in an embed's bootstrap and a launch code's exchange if no cookie is sent", async () => {
  const { accessToken, sessionId } = await openPanel(tenant);
  const bootstrap = (headers: Record<string, string> = {}) =>
    call("GET", "/v1/panel/bootstrap", { key: accessToken, headers });
  expect((await bootstrap()).json.session.sessionId).toBe(sessionId);
  expect((await bootstrap({ cookie })).status).toBe(403);

  const { code } = (await post(`/v1/panel-sessions/${sessionId}/launch-codes`, {})).json;
  const exchange = (headers: Record<string, string> = {}) =>
    call("POST", "/v1/panel/launch-codes/exchange", { body: { code }, headers });
  expect((await exchange({ cookie: "other=1" })).status).toBe(403);
  expect((await exchange()).json.sessionId).toBe(sessionId);

  // Other endpoints stay limited to pages.
  const run = await call("GET", "/v1/jobs/none", { key: accessToken });
  expect([run.status, run.json.detail.code]).toEqual([403, "CrossSiteRequest"]);
});

test("requestHash of a receipt and of its request is plain hex, also for a row of an older version", async () => {
  const body = { input: { expression: "6 * 7" }, idempotencyKey: "hex" };
  const path = "/v1/capabilities/compute.evaluate.v1/invoke";
  const { executionId } = (await post(path, body)).json;
  const hashOf = async (what: string) =>
    (await call("GET", `/v1/jobs/${executionId}/${what}`, { key: tenant.key })).json.requestHash;
  const stored = await pool.query("SELECT request_hash FROM job WHERE id = $1", [executionId]);
  const hex = stored.rows[0].request_hash.replace("v1:", "");
  expect([await hashOf("receipt"), await hashOf("request")]).toEqual([hex, hex]);
  for (const hash of [hex, `v1:${hex}`]) {
    await pool.query("UPDATE job SET request_hash = $2 WHERE id = $1", [executionId, hash]);
    expect((await post(path, body)).json.executionId).toBe(executionId);
    expect(await hashOf("request")).toBe(hex);
  }
});

test("requestHash of a new pinned record is plain hex, like every other digest", async () => {
  const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
  const made = await post("/v1/inference/pinned", { pin, input: "How deep is the sea?" });
  const { json } = await call("GET", `/v1/inference/pinned/${made.json.receipt.receipt_id}`, {
    key: tenant.key,
  });
  expect(json.requestHash).toMatch(/^[0-9a-f]{64}$/);
});
