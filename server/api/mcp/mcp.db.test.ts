import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { publicUrl } from "@/server/platform/settings/env";
import { finish, makeKey, makeKeyWithId, makeTenant, revokeKey } from "@/testing/api";
import { NEED } from "@/testing/needs";
import { tools } from "./call";
import {
  type Body,
  client,
  closeServers,
  connect,
  input,
  openServers,
  other,
  PIN,
  refused,
  server,
  submit,
  TEXT,
  tenant,
  theirs,
  use,
} from "./mcp.fixture";

beforeAll(openServers);
afterAll(closeServers);

describe("the endpoint", () => {
  test("the server introduces itself and lists tools with schemas and hints; no tool pays or approves", async () => {
    expect(client.getServerVersion()?.name).toBe("capstan");
    expect(client.getInstructions()).toContain("submit_job");
    const listed = (await client.listTools()).tools;
    expect(listed.map(({ name }) => name).sort()).toEqual(tools.map(({ name }) => name).sort());
    for (const { name, inputSchema, outputSchema, annotations, description } of listed) {
      expect(name).not.toMatch(/pay|approve|checkout|top_up|accept/);
      expect(description).toMatch(/\S/);
      expect(inputSchema.type).toBe("object");
      expect(outputSchema?.type).toBe("object");
      expect(annotations?.readOnlyHint && annotations.destructiveHint).toBe(false);
    }
    expect(JSON.stringify(listed).length).toBeLessThan(64 * 1024); // a client may pass the whole list to a model
    const hints = new Map(listed.map(({ name, annotations }) => [name, annotations]));
    expect(hints.get("cancel_job")?.destructiveHint).toBe(true);
    expect(hints.get("job_status")?.readOnlyHint).toBe(true);
    expect(hints.get("submit_job")).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  });

  test("a client that asks for strict schemas gets them; any other value is 422", async () => {
    const schemaOf = async (by = client) =>
      (await by.listTools()).tools.find(({ name }) => name === "status")?.inputSchema;
    const strict = await schemaOf(await connect(tenant.key, { path: "/mcp?schemas=strict" }));
    expect([strict?.required, (await schemaOf())?.required]).toEqual([["project_id"], undefined]);
    for (const word of ["loose", "", "strict&schemas=strict"]) {
      const asked = await fetch(`${server.url}/mcp?schemas=${word}`, {
        method: "POST",
        headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      expect([word, asked.status]).toEqual([word, 422]);
    }
  });

  test("a capability can be called as resolve describes it", async () => {
    for (const intent of ["draw a picture of a lighthouse", "what is 2 + 2 exactly"]) {
      const { matches } = await use("resolve_capability", { intent });
      const { mcp } = matches[0].runHint;
      const done = await use(mcp.tool, mcp.arguments);
      expect(done.jobId ?? done.executionId).toMatch(/^wfr_/);
    }
  });

  test("every capability has a tool that accepts its descriptor", async () => {
    const { capabilities } = await use("search_capabilities");
    for (const { key } of capabilities) {
      const { mcp } = (await use("describe_capability", { capability_key: key })).nextAction;
      const named = tools.find(({ name }) => name === mcp.tool);
      expect(named?.input.safeParse(mcp.arguments).error, key).toBeUndefined();
    }
    for (const capability_key of [TEXT, "image.generate.v1", "compute.evaluate.v1"]) {
      const { mcp } = (await use("describe_capability", { capability_key })).nextAction;
      const done = await use(mcp.tool, mcp.arguments);
      expect(done.jobId ?? done.executionId).toMatch(/^wfr_/);
    }
  });

  const post = (headers: Record<string, string>, body: unknown, method = "POST") =>
    fetch(`${server.url}/mcp`, {
      method,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      ...(method === "POST" ? { body: JSON.stringify(body) } : {}),
    });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

  test("a request without a valid key is 401 and names the Bearer scheme", async () => {
    for (const headers of [{}, { authorization: "Bearer cap_nothing" }] as Record<string, string>[]) {
      const answer = await post(headers, ping);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
  });

  test("pages of other origins, other methods, batches and large bodies are refused", async () => {
    const authorization = `Bearer ${tenant.key}`;
    expect((await post({ authorization }, ping)).status).toBe(200);
    for (const origin of ["https://evil.example", "null"])
      expect((await post({ authorization, origin }, ping)).status).toBe(403);
    expect((await post({ authorization, origin: new URL(publicUrl).origin }, ping)).status).toBe(200);
    for (const method of ["GET", "DELETE"])
      expect((await post({ authorization }, null, method)).status).toBe(405);
    expect((await post({ authorization }, [ping, ping])).status).toBe(422);
    expect((await post({ authorization }, { ...ping, x: "x".repeat(33 * 1024 * 1024) })).status).toBe(413);
    expect((await post({ authorization, "content-type": "text/plain" }, ping)).status).toBe(415);
  });

  test("an Accept header with ranges gets events, JSON if it names no events, and 406 if it names neither", async () => {
    const authorization = `Bearer ${tenant.key}`;
    const typeFor = async (accept: string) => {
      const answer = await post({ authorization, accept }, ping);
      const text = await answer.text();
      if (answer.ok) expect(text).toContain('"result":{}');
      return [answer.status, answer.headers.get("content-type")?.split(";")[0]];
    };
    for (const accept of ["*/*", "application/*, text/*", "TEXT/EVENT-STREAM;q=0.5, */*;q=0.1"])
      expect(await typeFor(accept)).toEqual([200, "text/event-stream"]);
    for (const accept of ["application/json", "application/*", "*/*;q=0, application/json"])
      expect(await typeFor(accept)).toEqual([200, "application/json"]);
    for (const accept of ["text/html", "application/json;q=0"]) expect((await typeFor(accept))[0]).toBe(406);
  });

  test("null parameters count as absent, and a tool's arguments of another type are refused with their path", async () => {
    const authorization = `Bearer ${tenant.key}`;
    const ask = async (method: string, params: unknown) => {
      const answer = await post({ authorization, accept: "application/json" }, { ...ping, method, params });
      return JSON.parse(await answer.text());
    };
    const found = await ask("tools/call", { name: "search_capabilities", arguments: null, _meta: null });
    expect(found.result.structuredContent.capabilities.length).toBeGreaterThan(0);
    expect((await ask("tools/list", null)).result.tools.length).toBeGreaterThan(0);
    for (const given of ["{}", 1, []]) {
      const { error } = await ask("tools/call", { name: "search_capabilities", arguments: given });
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^params\.arguments: Must be an object/),
      });
    }
  });

  test("a response states the remaining requests of the key's rate limit", async () => {
    const answer = await post({ authorization: `Bearer ${tenant.key}` }, ping);
    expect(answer.headers.get("ratelimit-remaining")).toMatch(/^\d+$/);
    await answer.text();
  });

  test("a key that is revoked during a session is refused at once", async () => {
    const { apiKey, keyId } = await makeKeyWithId({ projectId: tenant.projectId });
    const held = await connect(apiKey);
    await use("job_status", { job_id: (await submit()).jobId }, held);
    await revokeKey(keyId);
    await expect(held.callTool({ name: "search_capabilities", arguments: {} })).rejects.toThrow(
      /401|AuthenticationFailed/,
    );
  });

  test("several processes serve one session", async () => {
    let turn = 0;
    const balanced = await connect(tenant.key, {
      fetch: (target, init) =>
        fetch(String(target).replace(server.url, turn++ % 2 ? server.url : other.url), init),
    });
    const { jobId } = await submit(TEXT, { input }, balanced);
    for (const _ of [1, 2, 3])
      expect((await use("job_status", { job_id: jobId }, balanced)).jobId).toBe(jobId);
    expect(turn).toBeGreaterThan(5);
  });
});

describe("discovery", () => {
  test("tools report the caller, the capabilities, their inputs and their prices", async () => {
    expect(await use("status")).toMatchObject({ project: { id: tenant.projectId } });
    const all = await use("search_capabilities");
    expect(all.capabilities.length).toBeGreaterThan(15);
    expect((await use("search_capabilities", { query: "draw a picture" })).capabilities[0].key).toMatch(
      /^image/,
    );
    expect(await use("describe_capability", { capability_key: TEXT })).toMatchObject({
      key: TEXT,
      inputSchema: { type: "object" },
    });
    const resolved = await use("resolve_capability", { intent: "draw a picture" });
    expect(resolved.matches[0].capabilityKey).toBe("image.generate.v1");
    const quote = await use("quote_capability", { capability_key: TEXT, request: { input } });
    expect(quote.quoteId).toMatch(/^quote_/);
  });

  test("a missing capability can be requested, and its quote is read once there is one", async () => {
    const filed = await use("request_capability_quote", { request: NEED });
    expect(filed.status).not.toBe("draft");
    expect((await refused("get_capability_request_quote", { request_id: filed.id })).code).toBe("NotFound");
  });
});

describe("refusals", () => {
  test("wrong arguments are named by their path, and an unknown tool is refused", async () => {
    const wrong = await refused("job_status", { job: "x" });
    expect(wrong.code).toBe("InvalidInput");
    expect(JSON.stringify(wrong.details.issues)).toContain("job_id");
    expect((await refused("submit_job", { capability_key: "text.none.v1", request: {} })).code).toBe(
      "UNKNOWN_CAPABILITY",
    );
    expect((await refused("pay", {})).code).toBe("NotFound");
  });

  test("a tool is refused to a key without its scope, and to an organization without funds", async () => {
    const reader = await connect(await makeKey({ projectId: tenant.projectId, scopes: ["jobs:read"] }));
    for (const name of ["submit_job", "invoke"])
      expect(await refused(name, { capability_key: TEXT, request: { input } }, reader)).toMatchObject({
        code: "AuthorizationFailed",
        details: { scope: "capabilities:run" },
      });
    const poor = await connect((await makeTenant({ walletMicros: 0 })).key);
    expect((await refused("invoke", { capability_key: TEXT, request: { input } }, poor)).code).toBe(
      "funding_required",
    );
  });

  test("rows of another tenant are answered like rows that do not exist", async () => {
    const stranger = await connect(theirs.key);
    const { jobId } = await submit("image.generate.v1", { prompt: "A kite" });
    const { artifacts } = await finish(jobId);
    const artifact_id = artifacts[0]?.artifactId ?? "";
    const { receiptId } = await use("pinned_run", { request: PIN });
    const { manifestId } = await use("manifest_create", {
      manifest: { label: "x", receiptIds: [receiptId] },
    });
    const { bulkId } = await use("pinned_bulk", {
      request: { pin: PIN.pin, items: [{ id: "one", input: PIN.input }] },
    });
    const { id } = await use("request_capability_quote", { request: NEED });
    const real = {
      job: jobId,
      receipt: receiptId,
      manifest: manifestId,
      bulk: bulkId,
      capabilityRequest: id,
      project: tenant.projectId,
    };
    type Ids = Record<keyof typeof real, string>;
    const kinds = Object.keys(real) as (keyof Ids)[]; // the ids of its own rows
    const none = Object.fromEntries(kinds.map((kind) => [kind, newId(kind)])) as Ids;
    const ofJob = ({ job }: Ids) => ({ job_id: job });
    const ofProject = ({ project }: Ids) => ({ project_id: project });
    const ofReceipt = ({ receipt }: Ids) => ({ receipt_id: receipt });
    const asked: [string, (ids: Ids) => object][] = [
      ["job_status", ofJob],
      ["wait_job", ofJob],
      ["cancel_job", ofJob],
      ["job_inspect", ofJob],
      ["get_receipt", ofJob],
      ["download_artifact", (ids) => ({ ...ofJob(ids), artifact_id })],
      ["pinned_get", ofReceipt],
      ["lockfile_emit", ofReceipt],
      ["manifest_verify", ({ manifest }) => ({ manifest_id: manifest })],
      ["manifest_create", ({ receipt }) => ({ manifest: { label: "x", receiptIds: [receipt] } })],
      ["pinned_bulk_get", ({ bulk }) => ({ bulk_id: bulk })],
      ["get_capability_request_quote", ({ capabilityRequest }) => ({ request_id: capabilityRequest })],
      ["jobs_find", ofProject],
      ["status", ofProject],
      ["describe_capability", (ids) => ({ capability_key: TEXT, ...ofProject(ids) })],
      ["quote_capability", (ids) => ({ capability_key: TEXT, request: { input }, ...ofProject(ids) })],
      [
        "submit_job",
        ({ project }) => ({ capability_key: TEXT, request: { input, context: { projectId: project } } }),
      ],
    ];
    const withoutIds = (answered: Body) =>
      JSON.stringify(answered).replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/g, "id");
    for (const [name, args] of asked) {
      const [foreign, unknown] = [
        await refused(name, args(real), stranger),
        await refused(name, args(none), stranger),
      ];
      expect([name, withoutIds(foreign)]).toEqual([name, withoutIds(unknown)]);
    }
    const { rows } = await pool.query("SELECT status FROM job WHERE id = $1", [jobId]);
    expect(rows[0].status).toBe("succeeded");
    expect(JSON.stringify(await use("jobs_find", {}, stranger))).not.toContain(jobId);
  });
});
