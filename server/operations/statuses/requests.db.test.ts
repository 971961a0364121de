import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import type { Ctx } from "@/server/domain/ctx";
import { newId } from "@/server/platform/ids";
import { keyCtx } from "@/testing/api";
import { NEED, needIn, quotedNeed } from "@/testing/needs";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { get, openTenant, post, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

const REQUESTS = "/v1/capability-requests";
/** Capability requests: a draft, a submitted one, and one with a quote. */
let filed: string;
let submitted: string;
let priced: string;
/** The tenant's key as a context, for calls of verbs without HTTP. */
let asKey: Ctx;
beforeAll(async () => {
  asKey = await keyCtx(tenant.key);
  filed = (await needIn(asKey, "draft")).id;
  submitted = (await needIn(asKey, "submitted")).id;
  priced = (await quotedNeed(asKey)).request.id;
}, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  const verb = path.split("/").at(-1);
  const target = path.replace(
    "{request_id}",
    verb === "submit" ? submitted : verb === "quote" ? priced : filed,
  );
  if (method === "GET" || verb === "submit") return { method, target };
  return { method, target, body: { ...NEED, projectId: tenant.projectId } };
}

everyEndpoint("requests", { sample });

describe("capability requests", () => {
  test("create returns 422 for an invalid need, with the field, and without a project; 403 for another tenant's", async () => {
    for (const [field, value] of [
      ["summary", undefined],
      ["summary", " \n"],
      ["summary", "x".repeat(301)],
      ["need", ""],
      ["need", 5],
      ["schemaVersion", "service.capability-request.v2"],
      ["proposedCapability", "stamps.sort.v1"],
      ["constraints", []],
      ["acceptanceCases", [1]],
      ["acceptanceCases", Array(101).fill({})],
      ["implementationPreferences", true],
      ["idempotencyKey", "k".repeat(256)],
      ["projectId", "x".repeat(65)],
    ] as const) {
      const { json } = await post([422, "list"], REQUESTS, { ...NEED, [field]: value });
      expect(json.detail[0].loc.slice(0, 2)).toEqual(["body", field]);
    }
    await post([422, "PROJECT_REQUIRED"], REQUESTS, NEED, { key: tenant.unboundKey });
    for (const projectId of [tenant.otherProjectId, newId("project")])
      await post([403, "AuthorizationFailed"], REQUESTS, { ...NEED, projectId });
  });

  test("create returns 409 for another need under the same key, and 200 for the same, in the body or the header", async () => {
    const body = { ...NEED, idempotencyKey: "stamps" };
    const { json } = await post(200, REQUESTS, body);
    expect((await post(200, REQUESTS, body)).json).toEqual(json);
    const named = { headers: { "idempotency-key": "stamps" } };
    expect((await post(200, REQUESTS, NEED, named)).json).toEqual(json);
    const refused = await post([409, "IdempotencyConflict"], REQUESTS, { ...body, need: "Another." });
    expect(refused.json.detail.details).toEqual({ jobId: json.id });
    const two = await post([422, "list"], REQUESTS, { ...body, idempotencyKey: "coins" }, named);
    expect(two.json.detail[0].loc).toEqual(["body", "idempotencyKey"]);
  });

  test("the list is newest first, in pages, and filters by project and status; an invalid value is 422, and another project 403", async () => {
    const first = (await get(200, `${REQUESTS}?limit=2`)).json;
    expect(first.items.length).toBe(2);
    const second = (await get(200, `${REQUESTS}?limit=2&cursor=${first.nextCursor}`)).json;
    const ids = [...first.items, ...second.items].map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    const quoted = (await get(200, `${REQUESTS}?status=quoted&projectId=${tenant.projectId}`)).json;
    expect(quoted.items).toMatchObject([{ id: priced, status: "quoted", summary: NEED.summary }]);
    for (const wrong of ["cursor=x", `cursor=${newId("job")}`, "limit=0", "limit=101", "status=lost"])
      await get([422, "list"], `${REQUESTS}?${wrong}`);
    await get([403, "AuthorizationFailed"], `${REQUESTS}?projectId=${tenant.otherProjectId}`);
  });

  test("an unknown request is 404 in every endpoint", async () => {
    const none = `${REQUESTS}/${newId("capabilityRequest")}`;
    await get([404, "NotFound"], none);
    await get([404, "NotFound"], `${none}/quote`);
    await post([404, "NotFound"], `${none}/submit`);
    await post([404, "NotFound"], `${none}/revisions`, NEED);
    await get([404, "NotFound"], `${REQUESTS}/${filed}/quote`);
  });

  test("a revision is 422 for another project, 409 once the request is declined or paid, 400 after fifty", async () => {
    const target = `${REQUESTS}/${filed}/revisions`;
    const { json } = await post([422, "list"], target, { ...NEED, projectId: tenant.otherProjectId });
    expect(json.detail[0].loc).toEqual(["body", "projectId"]);
    for (const status of ["declined", "paid", "fulfilled", "refunded"] as const) {
      const { id } = await needIn(asKey, status);
      const refused = await post([409, "RequestStateConflict"], `${REQUESTS}/${id}/revisions`, NEED);
      expect(refused.json.detail.details).toEqual({ requestId: id, status });
      await post([409, "RequestStateConflict"], `${REQUESTS}/${id}/submit`);
      expect((await get(200, `${REQUESTS}/${id}`)).json.status).toBe(status);
    }
    const { id } = await needIn(asKey, "draft");
    for (let number = 2; number <= 50; number++) {
      const { json } = await post(200, `${REQUESTS}/${id}/revisions`, NEED);
      expect(json.revision.number).toBe(number);
    }
    await post([400, "PolicyRejected"], `${REQUESTS}/${id}/revisions`, NEED);
    await post(200, `${REQUESTS}/${id}/submit`);
  });

  test("a quote is 410 with the reason once its revision is replaced", async () => {
    const { request, quote } = await quotedNeed(asKey);
    expect((await get(200, `${REQUESTS}/${request.id}/quote`)).json).toEqual(quote);
    await post(200, `${REQUESTS}/${request.id}/revisions`, NEED);
    const gone = await get([410, "Gone"], `${REQUESTS}/${request.id}/quote`);
    expect(gone.json.detail.details).toEqual({
      quoteId: quote.quoteId,
      reason: "superseded",
      expiresAt: quote.expiresAt,
    });
  });
});

everyStatusHasACase("requests");
