import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";

import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { ERRORS } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { type Call, call, keyCtx, makeKey, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { NEED, needIn, operatorAt, quotedNeed } from "@/testing/needs";
import { endpoints } from ".";

/* Attacks on capability requests over HTTP: hostile bodies, keys that act as people, prices used for something else. */

const PATH = "/v1/capability-requests";

let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  [tenant, other] = [await makeTenant(), await makeTenant()];
});

// No request of this file may cause a 5xx.
const statuses: number[] = [];
const send = async (method: string, target: string, options: Call = {}) => {
  const answer = await call(method, target, { key: tenant.key, ...options });
  statuses.push(answer.status);
  return answer;
};
const post = (target: string, body?: unknown, options: Call = {}) =>
  send("POST", target, { body, ...options });
afterAll(() => expect(statuses.filter((status) => status >= 500)).toEqual([]));

/** All rows of a request, its quotes and its money. */
async function everything({ organizationId }: Tenant): Promise<unknown> {
  const tables = [
    "capability_request",
    "capability_request_revision",
    "capability_request_event",
    "commission_quote",
    "payment",
    "ledger_entry",
    "audit_entry",
  ];
  const found = tables.map(async (table) => {
    const { rows } = await pool.query(
      `SELECT to_jsonb(x) AS row FROM ${table} x WHERE x.organization_id = $1 ORDER BY x.id`,
      [organizationId],
    );
    return rows;
  });
  return Promise.all(found);
}

const raw = (fields: string) => `{"summary":"s","need":"n",${fields}}`;
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

test.each<[string, string]>([
  ["a key twice", raw('"own":1,"own":2')],
  ["a key twice, once escaped", raw('"own":1,"\\u006fwn":2')],
  ["a key twice in a case", raw('"acceptanceCases":[{"input":1,"input":2}]')],
  ["half a surrogate pair in the need", '{"summary":"s","need":"\\ud800"}'],
  ["half a surrogate pair in an own key", raw('"\\udc00":1')],
  ["NUL in the summary", '{"summary":"a\\u0000b","need":"n"}'],
  ["NUL in an own key", raw('"a\\u0000":1')],
  ["NUL deep in the constraints", raw('"constraints":{"a":[{"b":"\\u0000"}]}')],
  ["__proto__ at the top", raw('"__proto__":{"status":"paid"}')],
  ["__proto__ in the constraints", raw('"constraints":{"__proto__":{}}')],
  ["an integer beyond 2^53", raw('"own":9007199254740993')],
  ["an integer beyond 2^53 with an exponent", raw('"own":1e20')],
  ["a number that is not finite", raw('"own":1e400')],
  ["nesting without end", raw(`"own":${nested(64)}`)],
  ["arrays without end", raw(`"own":${"[".repeat(100_000)}`)],
  ["more values than anybody reads", raw(`"own":[${"1,".repeat(100_001)}1]`)],
  ["a list", '[{"summary":"s","need":"n"}]'],
  ["a text", '"summary"'],
  ["null", "null"],
  ["no JSON", "{summary:1}"],
  ["nothing after the brace", "{"],
])("%s is refused with 422, and nothing is written", async (_, body) => {
  const { id } = await needIn(await keyCtx(tenant.key), "draft");
  const before = await everything(tenant);
  for (const target of [PATH, `${PATH}/${id}/revisions`]) {
    const { status, json } = await post(target, body);
    expect(status).toBe(422);
    expect(json.detail[0]).toMatchObject({ msg: expect.stringMatching(/\S/), type: expect.any(String) });
    expect(json.detail[0].loc[0]).toBe("body");
  }
  expect(await everything(tenant)).toEqual(before);
});

test("odd but valid JSON is stored unchanged", async () => {
  const own = {
    id: "cr_x",
    status: "paid",
    organizationId: other.organizationId,
    revision: { number: 7 },
    feedback: "x",
    quoteId: "cq_x",
    requestHash: "sha256:0",
    constructor: { prototype: 1 },
    toString: null,
    hasOwnProperty: 1,
    "": [""],
    "a\u2028b": "\u{10ffff}\u{1f600}\r\n\t\u007f",
    "'; DROP TABLE capability_request; --": true,
    number: [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 5e-324, 1e-7, 0.1],
    deep: JSON.parse(nested(60)),
  };
  const { status, json } = await post(PATH, { ...NEED, ...own });
  expect(status).toBe(200);
  expect(json).toMatchObject({ status: "draft", organizationId: tenant.organizationId, quoteId: null });
  expect(json.id).toMatch(/^cr_[0-9a-z]{26}$/);
  const { toString: _, ...kept } = own;
  expect(json.revision.content).toEqual({ ...NEED, ...kept, schemaVersion: "service.capability-request.v1" });
  expect(json.requestHash).toBe(`sha256:${sha256Hex(canonicalText(json.revision.content))}`);
  expect((await send("GET", `${PATH}/${json.id}`)).json).toEqual(json);
});

test("256 KiB are accepted and not one byte more, in no other encoding either", async () => {
  const size = (bytes: number) => ({ ...NEED, own: "x".repeat(bytes) });
  const bare = Buffer.byteLength(
    JSON.stringify({ ...size(0), schemaVersion: "service.capability-request.v1" }),
  );
  expect((await post(PATH, size(256 * 1024 - bare))).status).toBe(200);
  const larger = await post(PATH, size(256 * 1024));
  expect(larger.status).toBe(413);
  expect(larger.json.detail).toMatchObject({ code: "PayloadTooLarge", details: { maxBytes: 256 * 1024 } });
  // The canonical form is longer than the text.
  expect((await post(PATH, raw(`"own":[${"1e-6,".repeat(45_000)}1]`))).status).toBe(413);
});

test("300 bodies that no client would write are stored unchanged and hashed, or refused with the field", async () => {
  const field = fc.constantFrom(
    ...[
      "summary",
      "need",
      "proposedCapability",
      "constraints",
      "acceptanceCases",
      "schemaVersion",
      "projectId",
    ],
    ...["implementationPreferences", "idempotencyKey", "own"],
  );
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.constantFrom(
      null,
      " ",
      [],
      {},
      [{}],
      [[]],
      { a: null },
      1e300,
      -0,
      true,
      "service.capability-request.v1",
    ),
  );
  const answered = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.oneof(field, fc.string()), value, { maxKeys: 2 }), async (drawn) => {
      const body = { ...NEED, ...drawn };
      const { status, json } = await post(PATH, body);
      answered.set(status, (answered.get(status) ?? 0) + 1);
      if (status === 200) {
        const { idempotencyKey: _, ...sent } = JSON.parse(JSON.stringify(body));
        const kept = Object.fromEntries(Object.entries(sent).filter(([, each]) => each !== null));
        expect(json.revision.content).toEqual({ ...kept, schemaVersion: "service.capability-request.v1" });
        expect(json.requestHash).toBe(`sha256:${sha256Hex(canonicalText(json.revision.content))}`);
        return;
      }
      // 403: a generated text is the id of a project. 409: a generated idempotency key repeats.
      expect([422, 403, 409]).toContain(status);
      if (status === 422) expect(json.detail[0].loc[0]).toBe("body");
    }),
    campaign.runs({ small: 100, full: 900 }), // a project files 1,000 a day
  );
  expect(answered.get(200)).toBeGreaterThan(30);
  expect(answered.get(422)).toBeGreaterThan(30);
}, 60_000);

describe("only people pay or review", () => {
  test("no endpoint accepts, pays or decides, and guessed paths are not served", async () => {
    const ctx = await keyCtx(tenant.key);
    const { request, quote } = await quotedNeed(ctx);
    const strangers: Call[] = [
      {},
      { key: tenant.unboundKey },
      { headers: await sessionHeaders(tenant.organizationId, "owner") },
    ];
    const before = await everything(tenant);
    const one = `${PATH}/${request.id}`;
    const verbs =
      "accept approve pay paid checkout checkout-session fulfil fulfill decline review issue refund open".split(
        " ",
      );
    const targets = [
      ...verbs.flatMap((verb) => [
        `${one}/${verb}`,
        `${one}/quote/${verb}`,
        `/v1/capability-quotes/${quote.quoteId}/${verb}`,
      ]),
      `/v1/capability-quotes/${quote.quoteId}`,
      `/approve/capability-quotes/${quote.quoteId}`,
      `/v1/operator/requests/${request.id}`,
      `${one}/quotes`,
    ];
    for (const target of targets)
      for (const caller of strangers)
        expect((await post(target, { quoteId: quote.quoteId, priceMicros: 1 }, caller)).status).toBe(404);
    for (const [method, target] of [
      ["POST", `${one}/quote`],
      ["PUT", one],
      ["PATCH", one],
      ["DELETE", one],
      ["DELETE", `${one}/quote`],
      ["PUT", PATH],
    ] as const)
      expect((await send(method, target, { body: { status: "paid" } })).status).toBe(405);
    expect(await everything(tenant)).toEqual(before);
  });

  test("the API's operations on requests are the ones listed here, and only writers can change anything", async () => {
    const known = endpoints.filter(({ path }) => path.startsWith(PATH));
    expect(known.map(({ method, path, scope }) => `${method} ${path.slice(PATH.length)} ${scope}`)).toEqual([
      "POST  requests:write",
      "GET /{request_id} jobs:read",
      "GET /{request_id}/quote jobs:read",
      "GET  jobs:read",
      "POST /{request_id}/revisions requests:write",
      "POST /{request_id}/submit requests:write",
    ]);
    const { id } = await needIn(await keyCtx(tenant.key), "draft");
    for (const scope of SCOPES) {
      const key = await makeKey({ projectId: tenant.projectId, scopes: [scope] });
      const isWriter = scope === "requests:write";
      expect((await post(PATH, NEED, { key })).status).toBe(isWriter ? 200 : 403);
      expect((await post(`${PATH}/${id}/revisions`, NEED, { key })).status).toBe(isWriter ? 200 : 403);
      expect((await post(`${PATH}/${id}/submit`, {}, { key })).status).toBe(isWriter ? 200 : 403);
      expect((await send("GET", `${PATH}/${id}`, { key })).status).toBe(scope === "jobs:read" ? 200 : 403);
    }
  });

  test("operators' verbs refuse a key of every scope, whatever it sends", async () => {
    const ctx = await keyCtx(tenant.unboundKey);
    const { request } = await quotedNeed(await keyCtx(tenant.key));
    const before = await everything(tenant);
    const feedback = { requestId: request.id, message: "x" };
    for (const act of [
      requests.openForReview(ctx, request.id),
      requests.askForInformation(ctx, feedback),
      requests.decline(ctx, feedback),
      requests.fulfil(ctx, { requestId: request.id, capabilityKey: "compute.evaluate.v1" }),
      requests.startCommissionCheckout(ctx, request.quoteId ?? ""),
      requests.startCommissionCheckout(operatorAt(ctx), request.quoteId ?? ""),
    ])
      await expect(act).rejects.toMatchObject({
        code: expect.stringMatching(/^(AuthorizationFailed|NotFound)$/),
      });
    expect(await everything(tenant)).toEqual(before);
  });

  test("a viewer reads and changes nothing, and a member files requests only from our own pages", async () => {
    const { id } = await needIn(await keyCtx(tenant.key), "draft");
    const viewer = {
      key: undefined as never,
      headers: await sessionHeaders(tenant.organizationId, "viewer"),
    };
    const member = {
      key: undefined as never,
      headers: await sessionHeaders(tenant.organizationId, "member"),
    };
    const stranger = {
      key: undefined as never,
      headers: await sessionHeaders(other.organizationId, "owner"),
    };
    const need = { ...NEED, projectId: tenant.projectId };
    const asked = async (caller: Call) => [
      (await send("GET", `${PATH}/${id}`, caller)).status,
      (await post(PATH, need, caller)).status,
      (await post(`${PATH}/${id}/revisions`, NEED, caller)).status,
      (await post(`${PATH}/${id}/submit`, {}, caller)).status,
    ];
    expect(await asked(viewer)).toEqual([200, 403, 403, 403]);
    expect(await asked(stranger)).toEqual([404, 403, 404, 404]);
    expect(await asked(member)).toEqual([200, 200, 200, 200]);
  });
});

test("a commission quote prices no execution, wherever a quote can be named", async () => {
  const { quote } = await quotedNeed(await keyCtx(tenant.key));
  const { quoteId } = quote;
  const messages = [{ role: "user", content: "How deep is the sea?" }];
  const pinned = { pin: { provider: "sandbox", model: "sandbox-1", api: "responses" }, input: "How deep?" };
  const bulk = { pin: pinned.pin, items: [{ id: "one", input: "How deep?" }] };
  const ran = () =>
    pool.query(
      "SELECT (SELECT count(*) FROM job WHERE project_id = $1) + (SELECT count(*) FROM pinned_execution WHERE project_id = $1) AS n",
      [tenant.projectId],
    );
  const before = (await ran()).rows;
  const text = (what: string) => `/v1/capabilities/text.general.fast.v1/${what}`;
  for (const named of [
    { quoteId },
    { estimateId: quoteId },
    { execution: { quoteId } },
    { execution: { estimateId: quoteId } },
    { execution: { quoteId, estimateId: quoteId } },
  ]) {
    for (const what of ["jobs", "invoke"]) {
      const { status, json } = await post(text(what), { input: { messages }, ...named });
      expect(status).toBe(409);
      expect(json.detail).toMatchObject({ code: "QUOTE_MISMATCH", details: { reason: "commission_quote" } });
    }
    const streamed = { input: { messages }, executionMode: "Stream", ...named };
    expect((await post(text("invoke"), streamed)).json.detail).toMatchObject({ code: "QUOTE_MISMATCH" });
    for (const [target, body] of [
      ["/v1/inference/pinned", pinned],
      ["/v1/inference/pinned/bulk", bulk],
    ] as const)
      expect((await post(target, { ...body, ...named })).status).toBe(422);
  }
  const item = { ...bulk, items: [{ id: "one", input: "How deep?", quoteId }] };
  expect((await post("/v1/inference/pinned/bulk", item)).status).toBe(422);
  expect((await ran()).rows).toEqual(before);
});

test("an intent that nothing serves becomes a request that people review, over HTTP alone", async () => {
  const intent = "transcribe a phone call";
  const resolved = await post("/v1/capabilities/resolve", { intent });
  expect(resolved.json).toMatchObject({ resolution: "no_match_requestable", matches: [] });
  const { kind, endpoint, nonBinding } = resolved.json.nextAction;
  expect({ kind, nonBinding }).toEqual({ kind: "request_capability", nonBinding: true });
  const [method, target] = endpoint.split(" ");
  const filed = await send(method, target, {
    body: {
      summary: intent,
      need: `Found nothing for: ${intent}.`,
      acceptanceCases: [{ input: {}, expected: {} }],
    },
  });
  expect(filed.json).toMatchObject({
    status: "draft",
    revision: { number: 1, content: { summary: intent } },
  });
  const own = `${target}/${filed.json.id}`;
  expect((await post(`${own}/submit`)).json).toMatchObject({ id: filed.json.id, status: "submitted" });
  expect((await send("GET", own)).json.status).toBe("submitted");
  // An intent that a capability serves suggests no request.
  const served = await post("/v1/capabilities/resolve", { intent: "draw a picture" });
  expect(served.json.nextAction).toBeNull();
});

test("errors have the details that their codes declare: 404, 409, 410, 422", async () => {
  const ctx = await keyCtx(tenant.key);
  const { request, quote } = await quotedNeed(ctx);
  const one = `${PATH}/${request.id}`;
  const conflict = await post(`${one}/submit`);
  expect([conflict.status, conflict.json]).toMatchObject([
    409,
    {
      detail: {
        code: "RequestStateConflict",
        message: 'A request with the status "quoted" cannot be submitted. Read the request again.',
        details: { requestId: request.id, status: "quoted" },
      },
    },
  ]);
  expect(ERRORS.RequestStateConflict.details.strict().safeParse(conflict.json.detail.details).success).toBe(
    true,
  );
  await post(`${one}/revisions`, NEED);
  const gone = await send("GET", `${one}/quote`);
  expect([gone.status, gone.json]).toMatchObject([
    410,
    {
      detail: {
        code: "Gone",
        message: expect.stringContaining("no longer be paid"),
        details: { quoteId: quote.quoteId, reason: "superseded", expiresAt: quote.expiresAt },
      },
    },
  ]);
  const none = await send("GET", `${PATH}/${newId("capabilityRequest")}`);
  expect([none.status, none.json]).toMatchObject([
    404,
    {
      detail: {
        code: "NotFound",
        message: "There is no such capability request. Check the id or name, and that you have access to it.",
      },
    },
  ]);
});
