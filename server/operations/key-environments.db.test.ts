import { beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { call, finish, makeKey, makeTenant, type Tenant } from "@/testing/api";
import { COMPARED, COMPARISONS } from "@/testing/comparisons";
import { openPanel } from "@/testing/embeds";
import { NEED } from "@/testing/needs";

/* A key makes one execution in each environment, and its spelling in a header makes no other key. */

const TEXT = "/v1/capabilities/text.general.fast.v1";
const CHAT = "/v1/chat/completions";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
type Door = [path: string, body: object, id: string, table: string];
const OPENAI: Door = [CHAT, { model: "text.general.fast.v1", messages: input.messages }, "id", "job"];
const DOORS: Door[] = [
  [`${TEXT}/jobs`, { input }, "jobId", "job"],
  [`${TEXT}/invoke`, { input }, "executionId", "job"],
  [COMPARISONS, COMPARED, "comparisonId", "comparison"],
  ["/v1/inference/pinned", { pin, input: "Hello" }, "executionId", "pinned_execution"],
  ["/v1/inference/pinned/bulk", { pin, items: [{ id: "1", input: "Hello" }] }, "bulkId", "pinned_bulk"],
];
const REQUESTS: Door = ["/v1/capability-requests", NEED, "id", "capability_request"];

let tenant: Tenant;
let production: string;
let staging: string;
beforeAll(async () => {
  tenant = await makeTenant();
  const { projectId } = tenant;
  await pool.query(
    "INSERT INTO environment (id, project_id, slug, display_name) VALUES ($1, $2, 'staging', 'Staging')",
    [`env_${projectId.slice(-26)}`, projectId],
  );
  production = await makeKey({ projectId, environment: "production", scopes: [...SCOPES] });
  staging = await makeKey({ projectId, environment: "staging", scopes: [...SCOPES] });
});

let keys = 0;
const newKey = () => `order-${++keys}`;

type Sent = { key?: string; lines?: string[] };
/** Posts to an endpoint with the key as these header lines, and returns the status and the id. */
async function send([path, body, id]: Door, { key = tenant.key, lines }: Sent, more: object = {}) {
  const answer = await call("POST", path, {
    key,
    body: { ...body, ...more },
    ...(lines ? { lines: { "idempotency-key": lines } } : {}),
  });
  return { status: answer.status, id: answer.json[id] as string, json: answer.json };
}

/** Sends a request that must be admitted or replayed, and returns the id of what it started. */
async function idOf(...asked: Parameters<typeof send>): Promise<string> {
  const { status, id, json } = await send(...asked);
  expect([status, typeof id], JSON.stringify(json)).toEqual([200, "string"]);
  return id;
}

/** The number of rows in a table whose key is this one, or ends in it. */
async function countOf(table: string, key: string): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*) AS n FROM ${table} WHERE project_id = $1 AND (idempotency_key = $2 OR rtrim(idempotency_key) LIKE '%/' || $2)`,
    [tenant.projectId, key],
  );
  return Number(rows[0].n);
}

describe.each([...DOORS, OPENAI])("%s", (...door: Door) => {
  const [, , , table] = door;

  test("a key makes one execution in each environment, and each environment replays its own", async () => {
    const key = newKey();
    const callers = [{}, { key: production }, { key: staging }].map((each) => ({ ...each, lines: [key] }));
    const ids = [];
    for (const caller of callers) ids.push(await idOf(door, caller));
    expect(new Set(ids).size).toBe(3);
    for (const [place, caller] of callers.entries()) {
      expect(await idOf(door, caller)).toBe(ids[place]);
      const other = await send(door, caller, { metadata: { other: "request" }, workloadTags: { other: 1 } });
      if (other.status === 409) expect(JSON.stringify(other.json)).toContain(ids[place]);
      else expect(other.status).toBe(422); // an endpoint that takes neither
    }
    expect(await countOf(table, key)).toBe(3);
  });

  test("concurrent posts of one key from three environments make one execution in each", async () => {
    const key = newKey();
    const callers = Array.from({ length: 12 }, (_, n) => [tenant.key, production, staging][n % 3] ?? "");
    const ids = await Promise.all(callers.map((key_) => idOf(door, { key: key_, lines: [key] })));
    for (const place of [0, 1, 2]) {
      const own = ids.filter((_, n) => n % 3 === place);
      expect(new Set(own).size).toBe(1);
    }
    expect(new Set(ids).size).toBe(3);
    expect(await countOf(table, key)).toBe(3);
  });
});

const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const latin1 = (text: string) => Buffer.from(text, "latin1").toString("latin1");

describe.each([...DOORS, REQUESTS])("%s", (...door: Door) => {
  const [, , , table] = door;

  test("a key in a header equals the key in a body, in UTF-8, in Latin-1, in quotes and on two lines", async () => {
    const key = `clé-${newKey()}-à`;
    const id = await idOf(door, {}, { idempotencyKey: key });
    for (const lines of [
      [utf8(key)],
      [latin1(key)],
      [`"${utf8(key)}"`],
      [utf8(key), utf8(key)],
      [utf8(key), `"${latin1(key)}"`],
    ]) {
      expect(await idOf(door, { lines })).toBe(id);
      expect(await idOf(door, { lines }, { idempotencyKey: key })).toBe(id);
    }
    expect(await countOf(table, key)).toBe(1);
  });

  test("a request whose key 0.2.0 stored as it read the header is replayed by the same header", async () => {
    const key = `clé-${newKey()}-à`;
    for (const lines of [[utf8(key)], [`"${key.slice(5)}"`], [key.slice(5), key.slice(5)]]) {
      const stored = lines.join(", ").trim();
      const id = await idOf(door, {}, { idempotencyKey: stored });
      expect(await idOf(door, { lines })).toBe(id);
      expect(await idOf(door, { lines }, lines.length === 1 ? { idempotencyKey: stored } : {})).toBe(id);
      expect(await countOf(table, stored)).toBe(1);
    }
  });
});

test("a key that 0.2.0 stored from a header replays only the same request in the same environment", async () => {
  const [door] = DOORS as [Door];
  const lines = [utf8(`clé-${newKey()}`)];
  const id = await idOf(door, {}, { idempotencyKey: lines[0] });
  const other = await send(door, { lines }, { tags: ["other"] });
  expect([other.status, other.json.jobId]).toEqual([409, id]);
  expect(await idOf(door, { key: production, lines })).not.toBe(id);
});

test("every endpoint refuses a header that is sent twice with different values", async () => {
  for (const door of [...DOORS, REQUESTS]) {
    const { status, json } = await send(door, { lines: ["a", "b"] });
    expect([status, json.code, json.detail[0].loc]).toEqual([
      422,
      "InvalidInput",
      ["header", "Idempotency-Key"],
    ]);
  }
  const refused = await send(OPENAI, { lines: ["a", "b"] });
  expect([refused.status, refused.json.error.param]).toEqual([422, "Idempotency-Key"]);
});

test("a key in a header may have 255 characters, and not 256", async () => {
  const [door] = DOORS as [Door];
  await idOf(door, { lines: [utf8("🔑".repeat(255))] });
  await idOf(door, { key: production, lines: [utf8("🔑".repeat(255))] });
  const { status, json } = await send(door, { lines: [utf8("🔑".repeat(256))] });
  expect([status, json.detail[0].loc]).toEqual([422, ["body", "idempotencyKey"]]);
});

describe("shown and searched keys", () => {
  test("reads and lists show and find the idempotency key as the caller sent it, separately for each environment", async () => {
    const key = newKey();
    const ids: Record<string, string> = {};
    for (const [name, caller] of Object.entries({ development: tenant.key, production, staging })) {
      const jobId = await idOf(DOORS[0] as Door, { key: caller, lines: [key] });
      ids[name] = jobId;
      const get = async (path: string) => (await call("GET", path, { key: caller })).json;
      expect((await get(`/v1/jobs/${jobId}`)).idempotencyKey).toBe(key);
      expect((await get(`/v1/jobs/${jobId}`)).requestSnapshot.idempotencyKey).toBe(key);
      expect((await get(`/v1/jobs/${jobId}/request`)).idempotencyKey).toBe(key);
      for (const list of ["/v1/jobs", `/v1/projects/${tenant.projectId}/jobs`]) {
        const { items } = await get(`${list}?idempotencyKey=${key}`);
        expect(items.map((item: { jobId: string }) => item.jobId)).toEqual([jobId]);
      }
      const comparison = (await send(DOORS[2] as Door, { key: caller, lines: [key] })).json;
      expect(comparison.idempotencyKey).toBe(key);
    }
    const sought = { limit: 25, idempotencyKey: key };
    const { items } = await jobs.history(systemCtx("test"), tenant.projectId, sought);
    expect(items.map(({ jobId }) => jobId).toSorted()).toEqual(Object.values(ids).toSorted());
  });

  test("a list finds a key that 0.2.0 stored from a UTF-8 header", async () => {
    const key = `clé-${newKey()}`;
    const jobId = await idOf(DOORS[0] as Door, {}, { idempotencyKey: utf8(key) });
    const { json } = await tenant.get(`/v1/jobs?idempotencyKey=${encodeURIComponent(key)}`);
    expect(json.items.map((item: { jobId: string }) => item.jobId)).toEqual([jobId]);
  });

  test("the one retry of a job belongs to its own environment, even if another has the same key", async () => {
    const [door] = DOORS as [Door];
    const jobId = await idOf(door, {}, { preferredModel: "sandbox-refuse" });
    await finish(jobId);
    const taken = await idOf(door, { key: production, lines: [`retry-${jobId}`] });
    const again = async () => (await tenant.post(`/v1/jobs/${jobId}/retry`, {})).json.jobId;
    const retried = await again();
    expect(retried).toMatch(/^wfr_/);
    expect(retried).not.toBe(taken);
    expect(await again()).toBe(retried);
  });
});

test("every header that carries text is read by the same function", async () => {
  const { unboundKey, projectId, otherProjectId } = tenant;
  const chat = (lines: Record<string, string[]>) =>
    call("POST", CHAT, { key: unboundKey, body: OPENAI[1], lines });
  expect((await chat({ "openai-project": [projectId, `"${projectId}"`] })).status).toBe(200);
  const twice = await chat({ "openai-project": [projectId, otherProjectId] });
  expect([twice.status, twice.json.error.param]).toEqual([422, "OpenAI-Project"]);
  const traced = async (...ids: string[]) =>
    (await tenant.get("/v1/jobs", { lines: { "x-request-id": ids } })).headers["x-request-id"];
  expect(await traced("trace-1", "trace-1")).toBe("trace-1");
  expect(await traced("trace-1", "trace-2")).toMatch(/^req_/);
  const waits = await chat({ "x-capstan-queue-deadline-seconds": ["1", "2"] });
  expect([waits.status, waits.json.error.param]).toEqual([422, "x-capstan-queue-deadline-seconds"]);
});

test("an embed session's key is its own, also as 0.2.0 stored it", async () => {
  const panel = await openPanel(tenant);
  const key = `clé-${newKey()}`;
  const stored = await panel.post(`${TEXT}/jobs`, { input, idempotencyKey: utf8(key) });
  const again = await panel.post(`${TEXT}/jobs`, { input }, { lines: { "idempotency-key": [utf8(key)] } });
  expect([again.status, again.json.jobId]).toEqual([200, stored.json.jobId]);
});
