import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { artifactStore } from "@/server/domain/artifacts";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { sha256Hex } from "@/server/platform/text/canonical";
import { type Call, call, finish, makeKey, makeTenant, sessionOf, type Tenant } from "@/testing/api";
import { ask, check, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, hookBody, IMAGE, input, openTenant, post, say, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** An artifact of a job. */
let artifactId: string;
beforeAll(async () => {
  const drawn = await tenant.post(at(IMAGE, "jobs"), { prompt: "A kite over the dunes" });
  artifactId = (await finish(drawn.json.jobId)).artifacts[0]?.artifactId ?? "";
}, 60_000);

/** Two delivery endpoints, one of which is disabled repeatedly, and a delivery to the other. */
let hook: string;
let unused: string;
let delivery: string;

beforeAll(async () => {
  const make = async () =>
    (
      await tenant.post("/v1/delivery-endpoints", {
        url: "https://hooks.example/in",
        secret: "a secret of this test alone",
      })
    ).json;
  [hook, unused] = [(await make()).endpointId, (await make()).endpointId];
  await tenant.post(at(TEXT, "jobs"), { input });
  await jobs.announce(systemCtx("test"), tenant);
  const { items } = (await tenant.get(`/v1/deliveries?endpointId=${hook}`)).json;
  delivery = items[0].deliveryId;
}, 60_000);

/** A request that succeeds, for each endpoint, with the values above. */
function sample({ method, path }: Endpoint): Request {
  const target = path
    .replace("{artifact_id}", artifactId)
    .replace("{project_id}", tenant.projectId)
    .replace("{endpoint_id}", path.endsWith("/disable") ? unused : hook)
    .replace("{delivery_id}", delivery);
  if (method === "GET" || /\/(disable|replay)$/.test(path)) return { method, target };
  if (method === "PATCH") return { method, target, body: { enabled: true } };
  return { method, target, body: path === "/v1/delivery-endpoints" ? hookBody : { input } };
}

everyEndpoint("project", { sample });

describe("stored inputs", () => {
  const upload = (body: string | Uint8Array, headers: Record<string, string> = {}, query = "") =>
    call("POST", `/v1/artifacts${query}`, { key: tenant.key, body, headers });

  test("a payload returns its hash, and an unbound key must name its project", async () => {
    const { json } = await post(200, "/v1/payloads", { b: 1, a: [2] });
    const text = '{"a":[2],"b":1}';
    expect(json).toEqual({
      payloadId: expect.stringMatching(/^pay_/),
      sha256: sha256Hex(text),
      byteLength: text.length,
      expiresAt: expect.any(String),
    });
    const unbound = { key: tenant.unboundKey, body: {} };
    await ask([422, "PROJECT_REQUIRED"], "POST", "/v1/payloads", unbound);
    await ask(200, "POST", `/v1/payloads?projectId=${tenant.projectId}`, unbound);
    const foreign = `/v1/payloads?projectId=${newId("project")}`;
    await ask([403, "AuthorizationFailed"], "POST", foreign, unbound);
  });

  test("an upload is served unchanged, in ranges, and never rendered", async () => {
    const { json } = await ask(200, "POST", "/v1/artifacts?filename=notes.txt", {
      key: tenant.key,
      body: "Notes of the day",
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect(json).toMatchObject({
      kind: "input",
      mediaType: "text/html",
      filename: "notes.txt",
      byteLength: 16,
      sha256: sha256Hex("Notes of the day"),
      downloadPath: `/v1/artifacts/${json.artifactId}`,
    });
    const whole = await get(200, json.downloadPath);
    expect(whole.text).toBe("Notes of the day");
    expect(whole.headers).toMatchObject({
      "content-type": "text/html",
      "content-disposition": 'attachment; filename="notes.txt"',
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
    const part = await get(206, json.downloadPath, { headers: { range: "bytes=0-4" } });
    expect(part.text).toBe("Notes");
    await get(304, json.downloadPath, { headers: { "if-none-match": `"${json.sha256}"` } });
    await get([412, "PreconditionFailed"], json.downloadPath, { headers: { "if-match": '"other"' } });
    await get([416, "RangeNotSatisfiable"], json.downloadPath, { headers: { range: "bytes=16-" } });
    await artifactStore().remove(json.sha256);
    await get([410, "Gone"], json.downloadPath);
    await get([404, "NotFound"], `/v1/artifacts/${newId("artifact")}`);
  });

  test("a file name in Content-Disposition is UTF-8, else Latin-1, and two headers must agree", async () => {
    const named = (...lines: [string, BufferEncoding][]) =>
      call("POST", "/v1/artifacts", {
        key: tenant.key,
        body: "x",
        lines: {
          "content-disposition": lines.map(([name, encoding]) =>
            Buffer.from(`attachment; filename="${name}"`, encoding).toString("latin1"),
          ),
        },
      });
    const name = "Übersicht.png";
    expect((await named([name, "utf8"])).json.filename).toBe(name);
    expect((await named([name, "latin1"])).json.filename).toBe(name);
    expect((await named([name, "utf8"], [name, "latin1"])).json.filename).toBe(name);
    const twice = await named([name, "utf8"], ["other.png", "utf8"]);
    check(twice, [422, "list"], "POST", "/v1/artifacts");
    expect(twice.json.detail[0].loc).toEqual(["header", "Content-Disposition"]);
  });

  test("an upload that is empty, too large or without a project is refused", async () => {
    check(await upload(""), [422, "list"], "POST", "/v1/artifacts");
    const huge = await upload("x", { "content-length": String(256 * 1024 * 1024 + 1) });
    check(huge, [413, "PayloadTooLarge"], "POST", "/v1/artifacts");
    check(await upload("x", {}, "?retentionRequirement=Forever"), [422, "list"], "POST", "/v1/artifacts");
    const unbound = { key: tenant.unboundKey, body: "x" };
    await ask([422, "PROJECT_REQUIRED"], "POST", "/v1/artifacts", unbound);
    await ask(200, "POST", `/v1/artifacts?projectId=${tenant.projectId}`, unbound);
  });
});

describe("history", () => {
  let owner: Tenant;
  let ids: Record<"text" | "image" | "failed" | "queued" | "selected", string>;
  beforeAll(async () => {
    owner = await makeTenant();
    const submit = async (key: string, body: unknown) => (await owner.post(at(key, "jobs"), body)).json.jobId;
    ids = {
      text: await submit(TEXT, { ...say("a secret phrase"), tags: ["red", "blue"] }),
      image: await submit(IMAGE, { prompt: "a secret phrase" }),
      failed: await submit(TEXT, {
        ...say("a secret phrase"),
        preferredModel: "sandbox-refuse",
        tags: ["red"],
      }),
      queued: await submit(TEXT, say("a secret phrase")),
      selected: await submit(IMAGE, { prompt: "a secret phrase", variantCount: 2 }),
    };
    for (const name of ["text", "image", "failed", "selected"] as const) await finish(ids[name]);
    const { json } = await owner.get(`/v1/jobs/${ids.selected}`);
    await owner.post(`/v1/jobs/${ids.selected}/variants/select`, {
      artifactId: json.artifacts[1].artifactId,
    });
  }, 60_000);

  const project = (query: string) => `/v1/projects/${owner.projectId}/jobs${query}`;
  const page = async (target: string) => (await get(200, target, { key: owner.key })).json;
  const listed = async (query: string) =>
    (await page(project(query))).items.map((item: { jobId: string }) => item.jobId);

  test("every filter works, and filters combine", async () => {
    const { text, image, failed, queued, selected } = ids;
    expect(await listed("")).toEqual([selected, queued, failed, image, text]);
    expect(await listed("?status=queued")).toEqual([queued]);
    expect(await listed("?status=canceled")).toEqual([]);
    expect(await listed(`?capabilityKey=${IMAGE}`)).toEqual([selected, image]);
    expect(await listed("?outcome=failed")).toEqual([failed]);
    expect(await listed("?outcome=reusable")).toEqual([selected, image]);
    expect(await listed("?selected=true")).toEqual([selected]);
    expect(await listed("?selected=false")).toEqual([queued, failed, image, text]);
    expect(await listed("?tag=red")).toEqual([failed, text]);
    expect(await listed("?tag=red&outcome=failed")).toEqual([failed]);
    expect(await listed("?status=queued&outcome=failed")).toEqual([]);
    expect(await listed("?status=succeeded&outcome=reusable&selected=true")).toEqual([selected]);
  });

  test("pages have every earlier job once, even while jobs arrive", async () => {
    for (const target of [project("?limit=2"), "/v1/jobs?limit=2"]) {
      const everything = (await page(target.replace("limit=2", "limit=100"))).items;
      const collected = [];
      let cursor: string | null = null;
      do {
        const next = await page(`${target}${cursor ? `&cursor=${cursor}` : ""}`);
        collected.push(...next.items);
        cursor = next.nextCursor;
        await owner.post(at(TEXT, "jobs"), say("another"));
      } while (cursor);
      expect(collected).toEqual(everything);
    }
  });

  test("an item of the list has the job's outcome and no content of the request or the answer", async () => {
    for (const target of [project("?limit=100"), "/v1/jobs?limit=100"]) {
      const { items } = await page(target);
      expect(JSON.stringify(items)).not.toMatch(/secret|refuses|message/);
      const line = (jobId: string) => items.find((item: { jobId: string }) => item.jobId === jobId);
      expect(line(ids.failed)).toEqual({
        jobId: ids.failed,
        status: "failed",
        capabilityKey: TEXT,
        capability: TEXT,
        createdAt: expect.any(String),
        completedAt: expect.any(String),
        artifactCount: 0,
        errorCode: "ProviderRejected",
        selectedArtifactId: null,
        receiptId: ids.failed.replace("wfr_", "rcpt_"),
        actualCost: 0,
        providerCostMicros: 0,
        charge: {
          currency: "USD",
          estimatedMicros: expect.any(Number),
          authorizedMicros: expect.any(Number),
          chargedMicros: 0,
          state: "not_charged",
        },
        comparison: null,
      });
      expect(line(ids.selected)).toMatchObject({
        artifactCount: 2,
        selectedArtifactId: expect.stringMatching(/^art_/),
      });
      expect(line(ids.queued)).toMatchObject({ completedAt: null, receiptId: null, actualCost: null });
    }
  });

  test("invalid filter values are 422, and another project than the key's is 404", async () => {
    for (const query of ["limit=0", "limit=101", "status=done", "outcome=ok", "selected=yes", "cursor=x"]) {
      const { json } = await get([422, "list"], project(`?${query}`), { key: owner.key });
      expect(json.detail[0].loc).toEqual(["query", query.split("=")[0]]);
    }
    const odd = ["limit=0x10", "limit=1e1", "limit=%205", "limit=1.5", "limit=", "limit=0", "limit=101"];
    for (const query of [...odd, "cursor=x"]) await get([422, "list"], `/v1/jobs?${query}`);
    await get([404, "NotFound"], `/v1/projects/${newId("project")}/jobs`);
    await get([404, "NotFound"], project(""));
  });

  test("GET /v1/jobs lists no job of another key", async () => {
    const second = await makeKey({ projectId: owner.projectId });
    expect((await get(200, "/v1/jobs", { key: second })).json).toEqual({ items: [], nextCursor: null });
  });
});

describe("webhooks", () => {
  const hooks = "/v1/delivery-endpoints";
  const body = { url: "https://hooks.example/in?room=1", secret: "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0" };

  test("a webhook endpoint is returned with all its fields except the secret", async () => {
    const { json } = await post(201, hooks, {
      ...body,
      eventTypes: ["job.failed", "job.failed"],
      projectId: null,
    });
    expect(json).toEqual({
      endpointId: expect.stringMatching(/^whe_/),
      organizationId: tenant.organizationId,
      projectId: tenant.projectId,
      url: body.url,
      eventTypes: ["job.failed"],
      enabled: true,
      disabledReason: null,
      weakSecret: false,
      createdBy: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const changed = await ask(200, "PATCH", `${hooks}/${json.endpointId}`, {
      key: tenant.key,
      body: { url: "https://hooks.example/other", secret: null, eventTypes: [], enabled: false },
    });
    expect(changed.json).toEqual({
      ...json,
      url: "https://hooks.example/other",
      eventTypes: [],
      enabled: false,
      updatedAt: expect.any(String),
    });
    expect((await post(200, `${hooks}/${json.endpointId}/disable`)).json).toMatchObject({ enabled: false });
    const { items } = (await get(200, `${hooks}?projectId=${tenant.projectId}`)).json;
    expect(items[0]).toMatchObject({ endpointId: json.endpointId, url: "https://hooks.example/other" });
  });

  test("an invalid URL, event or secret is 422 at its field", async () => {
    const wrong: [string, unknown][] = [
      ["url", { ...body, url: "hooks.example" }],
      ["url", { ...body, url: "ftp://hooks.example" }],
      ["url", { ...body, url: "https://me:word@hooks.example" }],
      ["url", { ...body, url: "https://127.0.0.1/" }],
      ["url", { ...body, url: "https://[::ffff:10.0.0.1]/" }],
      ["url", { ...body, url: "https://localhost:3000" }],
      ["secret", { url: body.url }],
      ["secret", { ...body, secret: 24 }],
      ["secret", { ...body, secret: null }],
      ["eventTypes", { ...body, eventTypes: ["job.done"] }],
      ["enabled", { ...body, enabled: "yes" }],
      ["organizationId", { ...body, organizationId: tenant.organizationId }],
      ["name", { ...body, name: "unknown" }],
    ];
    for (const [field, sent] of wrong) {
      const { json } = await post([422, "list"], hooks, sent);
      expect(json.detail[0].loc.slice(0, 2), JSON.stringify(sent)).toEqual(["body", field]);
    }
    const patch = { key: tenant.key, body: { url: "http://169.254.169.254/latest" } };
    expect((await ask([422, "list"], "PATCH", `${hooks}/${hook}`, patch)).json.detail[0].loc).toEqual([
      "body",
      "url",
    ]);
  });

  test("an organization's key that names no project is 422, and a project that the key cannot use is 403", async () => {
    await post([422, "PROJECT_REQUIRED"], hooks, body, { key: tenant.unboundKey });
    await post([403, "AuthorizationFailed"], hooks, { ...body, projectId: newId("project") });
    await post([403, "AuthorizationFailed"], hooks, { ...body, projectId: tenant.otherProjectId });
    const elsewhere = { ...hookBody, projectId: tenant.otherProjectId };
    expect((await post(201, hooks, elsewhere, { key: tenant.unboundKey })).json.projectId).toBe(
      tenant.otherProjectId,
    );
  });

  test("unknown endpoints and deliveries are 404", async () => {
    await ask([404, "NotFound"], "PATCH", `${hooks}/${newId("endpoint")}`, { key: tenant.key, body: {} });
    await post([404, "NotFound"], `${hooks}/${newId("endpoint")}/disable`);
    await post([404, "NotFound"], `/v1/deliveries/${newId("delivery")}/replay`);
  });

  test("deliveries are listed newest first, in pages, and by each filter", async () => {
    const all = (await get(200, "/v1/deliveries?limit=200")).json.items;
    expect(all.length).toBeGreaterThan(1);
    expect(all.map(({ deliveryId }: { deliveryId: string }) => deliveryId)).toEqual(
      all
        .map(({ deliveryId }: { deliveryId: string }) => deliveryId)
        .toSorted()
        .toReversed(),
    );
    const read = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const { json } = await get(200, `/v1/deliveries?limit=1${cursor ? `&cursor=${cursor}` : ""}`);
      read.push(...json.items);
      cursor = json.nextCursor;
      more = cursor !== undefined;
    }
    expect(read).toEqual(all);
    const first = all[0];
    for (const [name, value] of Object.entries({
      projectId: tenant.projectId,
      endpointId: first.endpointId,
      jobId: first.jobId,
      state: first.state,
    })) {
      const { items } = (await get(200, `/v1/deliveries?${name}=${value}`)).json;
      expect(items).toEqual(all.filter((each: Record<string, string>) => each[name] === value).slice(0, 50));
    }
    expect((await get(200, "/v1/deliveries?state=failed")).json).toEqual({ items: [] });
    for (const query of ["limit=0", "limit=201", "state=done", "cursor=7", `cursor=${newId("job")}`]) {
      const { json } = await get([422, "list"], `/v1/deliveries?${query}`);
      expect(json.detail[0].loc).toEqual(["query", query.split("=")[0]]);
    }
    await get([422, "list"], `${hooks}?projectId=${"x".repeat(65)}`);
  });

  test("a replay returns the delivery; 409 while its endpoint is disabled, 410 after its body is removed", async () => {
    const target = `/v1/deliveries/${delivery}/replay`;
    expect((await post(200, target)).json).toMatchObject({ deliveryId: delivery, state: "pending" });
    await post(200, `${hooks}/${hook}/disable`);
    const refused = await post([409, "EndpointDisabled"], target);
    expect(refused.json.detail.details).toEqual({ endpointId: hook });
    await ask(200, "PATCH", `${hooks}/${hook}`, { key: tenant.key, body: { enabled: true } });
    await pool.query("UPDATE delivery SET body = NULL WHERE id = $1", [delivery]);
    await post([410, "Gone"], target);
  });

  test("a person who names no project creates an endpoint of the whole organization, which keys do not see", async () => {
    const cookie = await sessionOf(tenant.organizationId);
    const headers = { cookie, origin: "http://localhost:3000", "content-type": "application/json" };
    const { json } = await ask(201, "POST", hooks, { body: hookBody, headers });
    expect(json).toMatchObject({ organizationId: tenant.organizationId, projectId: null });
    const seenBy = async (options: Call) =>
      (await ask(200, "GET", hooks, options)).json.items.map(
        ({ endpointId }: { endpointId: string }) => endpointId,
      );
    expect(await seenBy({ headers })).toContain(json.endpointId);
    for (const key of [tenant.key, tenant.unboundKey]) {
      expect(await seenBy({ key })).not.toContain(json.endpointId);
      await post([404, "NotFound"], `${hooks}/${json.endpointId}/disable`, undefined, { key });
    }
    const other = await makeTenant();
    const foreign = { ...hookBody, organizationId: other.organizationId };
    await ask([403, "AuthorizationFailed"], "POST", hooks, { body: foreign, headers });
  });
});

everyStatusHasACase("project");
