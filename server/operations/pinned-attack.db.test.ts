import { afterAll, beforeAll, expect, test } from "vitest";
import { createKey } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { call, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { system } from "@/testing/tenants";

/* Attacks on pinned executions over HTTP: hostile bodies, other tenants' names, keys without the right, ended projects. */

const PATH = "/v1/inference/pinned";
const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };
const body = (more: object = {}) => ({
  pin: PIN,
  input: "How deep is the sea?",
  sampling: { maxOutputTokens: 50 },
  ...more,
});

let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  [tenant, other] = [await makeTenant(), await makeTenant()];
});

const rowsOf = async ({ projectId, otherProjectId }: Tenant) =>
  Number(
    (
      await pool.query("SELECT count(*) AS n FROM pinned_execution WHERE project_id = ANY($1)", [
        [projectId, otherProjectId],
      ])
    ).rows[0].n,
  );

// No request of this file may cause a 5xx.
const statuses: number[] = [];
const post = async (sent: unknown, options: Parameters<Tenant["post"]>[2] = {}) => {
  const answer = await tenant.post(PATH, sent, options);
  statuses.push(answer.status);
  return answer;
};
afterAll(() =>
  expect(statuses.filter((status) => status >= 500 && status !== 502 && status !== 503)).toEqual([]),
);

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const raw = (fields: string) => `{"pin":${JSON.stringify(PIN)},"sampling":{"maxOutputTokens":50},${fields}}`;

test.each<[string, string, Record<string, string>?]>([
  ["a key twice", raw('"input":"a","input":"b"')],
  ["a key twice, once escaped", raw('"input":"a","\\u0069nput":"b"')],
  ["a key twice deep in a tool", raw('"input":"a","tools":[{"x":{"y":1,"y":2}}]')],
  ["half a surrogate pair in the input", raw('"input":"\\ud800"')],
  ["half a surrogate pair in a tool's key", raw('"input":"a","tools":[{"\\udc00":1}]')],
  ["NUL in the input", raw('"input":"a\\u0000b"')],
  ["NUL in metadata", raw('"input":"a","metadata":{"a":"\\u0000"}')],
  ["__proto__ at the top", raw('"input":"a","__proto__":{"billingMode":"managed"}')],
  [
    "__proto__ in a schema",
    raw('"input":"a","responseFormat":{"type":"json_schema","name":"a","schema":{"__proto__":{}}}'),
  ],
  ["constructor as a field", raw('"input":"a","constructor":{}')],
  ["a hundred levels", raw(`"input":"a","metadata":${nested(100)}`)],
  ["metadata of forty levels", raw(`"input":"a","metadata":${nested(40)}`)],
  ["metadata of 17 KiB", raw(`"input":"a","metadata":{"a":"${"x".repeat(17_000)}"}`)],
  ["a number beyond a double", raw('"input":"a","metadata":{"a":1e400}')],
  ["an integer no one can hold", raw('"input":"a","tools":[{"n":9007199254740993}]')],
  ["a field there is not", raw('"input":"a","sampling2":1')],
  ["an array for a body", "[]"],
  ["a text for a body", '"pin"'],
  ["null for a body", "null"],
  ["no body", ""],
  ["a byte order mark alone", "\ufeff"],
  ["a pin's name with a path in it", JSON.stringify(body({ pin: { ...PIN, api: "../../admin" } }))],
  ["a pin's name that objects have", JSON.stringify(body({ pin: { ...PIN, api: "constructor" } }))],
  ["a provider's name that objects have", JSON.stringify(body({ pin: { ...PIN, provider: "__proto__" } }))],
  ["a model's name that objects have", JSON.stringify(body({ pin: { ...PIN, model: "toString" } }))],
  ["NUL in a pin's name", raw('"input":"a"').replace("sandbox-1", "sandbox-1\\u0000")],
  ["an input that is a list", JSON.stringify(body({ input: ["a"] }))],
  ["an input of nothing", JSON.stringify(body({ input: "" }))],
  ["an input of more than eight million characters", JSON.stringify(body({ input: "x".repeat(8_000_001) }))],
  ["an isolation there is not", JSON.stringify(body({ isolation: "stateful" }))],
  ["a native response by a word", JSON.stringify(body({ includeNativeResponse: "yes" }))],
  ["a timeout below the least", JSON.stringify(body({ limits: { timeoutSeconds: 29 } }))],
  ["a timeout above the most", JSON.stringify(body({ timeoutSeconds: 601 }))],
  [
    "an admission deadline above the most",
    JSON.stringify(body({ limits: { admissionDeadlineSeconds: 1_801 } })),
  ],
  ["an admission deadline below nothing", JSON.stringify(body({ limits: { admissionDeadlineSeconds: -1 } }))],
  ["a key of 256 characters", JSON.stringify(body({ idempotencyKey: "k".repeat(256) }))],
  ["two keys that differ", JSON.stringify(body({ idempotencyKey: "one" })), { "idempotency-key": "two" }],
  ["an organization of its own choice", JSON.stringify(body({ organizationId: "org_x" }))],
  ["a server of its own choice", JSON.stringify(body({ baseUrl: "http://169.254.169.254" }))],
  [
    "headers of its own choice",
    JSON.stringify(body({ providerExtensions: { headers: { authorization: "x" } } })),
  ],
])("%s is refused, and nothing is written", async (_name, sent, headers = {}) => {
  const before = await rowsOf(tenant);
  const { status, json, text } = await post(sent, { headers });
  expect([400, 422], text).toContain(status);
  expect(json.detail).toBeDefined();
  expect(await rowsOf(tenant)).toBe(before);
});

test.each([
  ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 422],
  ["UTF-16", Buffer.from(JSON.stringify({ pin: PIN }), "utf16le"), 422],
  ["JSON that ends in the middle", '{"pin":', 422],
  ["33 MiB", Buffer.alloc(33 * 1024 * 1024, 0x20), 413],
] as const)("a body that is %s is refused", async (_name, sent, expected) => {
  expect((await post(sent)).status).toBe(expected);
});

test("managed billing is refused wherever it is requested", async () => {
  for (const more of [{ billingMode: "managed" }, { execution: { billingMode: "managed" } }]) {
    const { status, json } = await tenant.post(PATH, body(more));
    expect([status, json.detail.code]).toEqual([501, "MANAGED_PINNED_UNAVAILABLE"]);
  }
});

test("another tenant's projects, receipts, cursors, bulks and keys lead nowhere", async () => {
  const mine = (await post(body({ idempotencyKey: "shared" }))).json;
  const theirs = (await other.post(PATH, body({ idempotencyKey: "shared", input: "Another question." })))
    .json;
  expect(mine.executionId).not.toBe(theirs.executionId);
  expect((await post(body({ idempotencyKey: "shared" }))).json.executionId).toBe(mine.executionId);

  for (const projectId of [other.projectId, "cpr_00000000000000000000000000", "x' OR true --"]) {
    for (const key of [tenant.key, tenant.unboundKey]) {
      const { status } = await post(body({ context: { projectId } }), { key });
      expect(status).toBe(403);
      const list = await call("GET", `${PATH}?projectId=${encodeURIComponent(projectId)}`, { key });
      expect(list.status).toBe(403);
    }
  }
  const strange = await tenant.get(`${PATH}/${theirs.receiptId}`);
  const absent = await tenant.get(`${PATH}/rcpt_00000000000000000000000000`);
  expect(strange.status).toBe(404);
  expect(strange.json.detail).toEqual(absent.json.detail);
  for (const id of [theirs.executionId, "rcpt_%", "%00", "rcpt_' OR ''='", "x".repeat(65)])
    expect([404, 422]).toContain((await tenant.get(`${PATH}/${encodeURIComponent(id)}`)).status);
  const fromTheirs = await tenant.get(`${PATH}?cursor=${theirs.receiptId}`);
  for (const item of fromTheirs.json.items) expect(item.projectId).toBe(tenant.projectId);
  for (const cursor of ["wfr_00000000000000000000000000", "1", "rcpt_"])
    expect((await tenant.get(`${PATH}?cursor=${cursor}`)).status).toBe(422);
  expect((await tenant.get(`${PATH}?bulkId=pblk_00000000000000000000000000`)).json.items).toEqual([]);
  // Within an organization, a bound key stays in its project.
  expect((await call("GET", `${PATH}/${mine.receiptId}`, { key: tenant.unboundKey })).status).toBe(200);
  const sister = await post(body({ context: { projectId: tenant.otherProjectId } }), {
    key: tenant.unboundKey,
  });
  expect(sister.status).toBe(200);
  expect((await tenant.get(`${PATH}/${sister.json.receiptId}`)).status).toBe(404);
});

test("callers without a key, keys without the right and people cannot run pins, and a session reads only its own organization's", async () => {
  const before = await rowsOf(tenant);
  const { apiKey } = await createKey(system, {
    name: "poor",
    projectId: tenant.projectId,
    environment: "development",
    scopes: ["jobs:read", "capabilities:run"],
  });
  const person = await sessionHeaders(tenant.organizationId, "owner");
  const stranger = await sessionHeaders(other.organizationId, "owner");
  expect((await call("POST", PATH, { body: body() })).status).toBe(401);
  expect((await call("POST", PATH, { key: apiKey, body: body() })).status).toBe(403);
  expect((await call("POST", PATH, { headers: person, body: body() })).status).toBe(403);
  expect(await rowsOf(tenant)).toBe(before);
  const { json } = await post(body());
  expect((await call("GET", `${PATH}/${json.receiptId}`, { key: apiKey })).status).toBe(200);
  expect((await call("GET", `${PATH}/${json.receiptId}`, { headers: person })).status).toBe(200);
  expect((await call("GET", `${PATH}/${json.receiptId}`, { headers: stranger })).status).toBe(404);
  expect((await call("GET", `${PATH}/${json.receiptId}`)).status).toBe(401);
});

test("a key belongs to one request whatever the order of its members, and any other request conflicts and names the first", async () => {
  const first = await post(body({ idempotencyKey: "order", metadata: { a: 1, b: [1.0] } }));
  const turned = JSON.stringify({
    metadata: { b: [1], a: 1 },
    sampling: { maxOutputTokens: 50 },
    input: "How deep is the sea?",
    pin: { api: "responses", model: "sandbox-1", provider: "sandbox" },
    includeNativeResponse: true,
  });
  const again = await post(turned, { headers: { "idempotency-key": "order" } });
  expect([again.status, again.json.executionId]).toEqual([200, first.json.executionId]);
  for (const more of [
    { input: "How deep is the sea? " },
    { metadata: { a: 1, b: [2] } },
    { sampling: { maxOutputTokens: 51 } },
    { limits: { timeoutSeconds: 60 } },
    { isolation: "stateless", instructions: "Be brief." },
  ]) {
    const { status, json } = await post(
      body({ metadata: { a: 1, b: [1] }, ...more, idempotencyKey: "order" }),
    );
    expect([status, json.code, json.details?.jobId]).toEqual([
      409,
      "IdempotencyConflict",
      first.json.executionId,
    ]);
  }
});

test("twenty posts of one key run once, and each is answered with that run", { tags: "long" }, async () => {
  const sent = body({ idempotencyKey: "together", pin: { ...PIN, model: "sandbox-busy" } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(sent)));
  expect(new Set(answers.map(({ status, json }) => `${status} ${json.executionId}`)).size).toBe(1);
  const { rows } = await pool.query(
    `SELECT count(DISTINCT pin.id)::int AS pins, count(DISTINCT hold.id)::int AS holds FROM pinned_execution pin
     LEFT JOIN hold ON hold.execution_id = pin.id WHERE pin.project_id = $1 AND idempotency_key = 'together'`,
    [tenant.projectId],
  );
  expect(rows).toEqual([{ pins: 1, holds: 1 }]);
});

test("NFC and NFD, emoji and control characters are sent unchanged, and are distinguished", async () => {
  const hashes = new Set<string>();
  for (const input of [
    "é",
    "e\u0301",
    "🧵\u200d",
    "a\u0001b\u2028",
    "\u007f",
    "'; DROP TABLE job; --",
    "\\u0000",
  ]) {
    const { status, json } = await post(body({ input }));
    expect(status, input).toBe(200);
    hashes.add(json.receipt.inputHash);
  }
  expect(hashes.size).toBe(7);
});
