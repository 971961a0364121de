import { beforeAll, expect, test } from "vitest";
import * as comparisons from "@/server/domain/comparisons";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { call, keyCtx, makeKey, makeTenant, type Tenant } from "@/testing/api";
import { compared } from "@/testing/comparisons";
import { makePerson } from "@/testing/tenants";

/*
 * A key is of one environment of its project: what ran in another is to it like what is not there. People see all of a project.
 */

const MATH = "/v1/capabilities/compute.evaluate.v1/invoke";
const TEXT = "/v1/capabilities/text.general.fast.v1/jobs";
const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};

type Made = { jobId: string; executionId: string; receiptId: string; bulkId: string; comparisonId: string };

let tenant: Tenant;
/** The keys of two environments of one project, and of the same environments in all projects; what was made in the first. */
let [here, elsewhere, unboundHere, unboundElsewhere] = ["", "", "", ""];
let made: Made;

beforeAll(async () => {
  tenant = await makeTenant();
  const { projectId, organizationId } = tenant;
  [here, elsewhere, unboundHere, unboundElsewhere] = await Promise.all([
    makeKey({ projectId, environment: "production" }),
    makeKey({ projectId }),
    makeKey({ organizationId, environment: "production" }),
    makeKey({ organizationId }),
  ]);
  const post = async (target: string, body: unknown) =>
    (await call("POST", target, { key: here, body })).json;
  const { jobId } = await post(TEXT, {
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  });
  const { executionId } = await post(MATH, { expression: "2 + 2" });
  const { receiptId } = await post("/v1/inference/pinned", PIN);
  const { bulkId } = await post("/v1/inference/pinned/bulk", {
    pin: PIN.pin,
    items: [{ id: "one", input: "One." }],
  });
  const { comparisonId } = await compared(
    { ...tenant, post: (target, body) => call("POST", target, { key: here, body }) },
    false,
  );
  made = { jobId, executionId, receiptId, bulkId, comparisonId };
}, 60_000);

const reads = (): [string, string][] => [
  ["GET", `/v1/jobs/${made.jobId}`],
  ["GET", `/v1/jobs/${made.jobId}/request`],
  ["GET", `/v1/jobs/${made.jobId}/events`],
  ["GET", `/v1/jobs/${made.executionId}/result`],
  ["GET", `/v1/jobs/${made.executionId}/receipt`],
  ["GET", `/v1/inference/pinned/${made.receiptId}`],
  ["GET", `/v1/inference/pinned/bulk/${made.bulkId}`],
  ["GET", `/v1/comparisons/${made.comparisonId}`],
];

test("what ran in another environment is read by no key of this one", async () => {
  for (const [method, target] of reads()) {
    for (const key of [here, unboundHere])
      expect((await call(method, target, { key })).status, target).toBe(200);
    for (const key of [elsewhere, unboundElsewhere])
      expect((await call(method, target, { key })).status, target).toBe(404);
  }
});

test("what runs in another environment is stopped, tried again and judged by no key of this one", async () => {
  for (const target of [
    `/v1/jobs/${made.jobId}/cancel`,
    `/v1/jobs/${made.jobId}/retry`,
    `/v1/inference/pinned/bulk/${made.bulkId}/cancel`,
    `/v1/comparisons/${made.comparisonId}/judgements`,
  ]) {
    const body = target.endsWith("judgements") ? { decision: "tie" } : undefined;
    for (const key of [elsewhere, unboundElsewhere])
      expect((await call("POST", target, { key, body })).status, target).toBe(404);
  }
  expect((await call("GET", `/v1/jobs/${made.jobId}`, { key: here })).json.status).toBe("queued");
  expect((await call("GET", `/v1/inference/pinned/bulk/${made.bulkId}`, { key: here })).json.status).toBe(
    "accepted",
  );
});

test("lists of a project hold what ran in the key's environment; a person's hold all", async () => {
  const { projectId } = tenant;
  const post = async (target: string, body: unknown) =>
    (await call("POST", target, { key: elsewhere, body })).json;
  const { executionId } = await post(MATH, { expression: "3 + 3" });
  const { receiptId } = await post("/v1/inference/pinned", PIN);
  const page = { projectId, limit: 100 };
  const lists: [(ctx: Ctx) => Promise<string[]>, string, string[]][] = [
    [idsIn((ctx) => jobs.history(ctx, projectId, { limit: 100 }), "jobId"), made.jobId, [executionId]],
    [idsIn((ctx) => pins.list(ctx, page), "receiptId"), made.receiptId, [receiptId]],
    [idsIn((ctx) => pins.listBulks(ctx, page), "bulkId"), made.bulkId, []],
    [idsIn((ctx) => comparisons.list(ctx, projectId, { limit: 100 }), "comparisonId"), made.comparisonId, []],
  ];
  const person = (await makePerson(tenant.organizationId, "member")).ctx;
  for (const [list, mine, theirs] of lists) {
    const seen = await list(await keyCtx(here));
    expect(seen).toContain(mine);
    for (const id of theirs) expect(seen).not.toContain(id);
    expect(await list(await keyCtx(elsewhere))).toEqual(theirs);
    expect(await list(person)).toEqual(expect.arrayContaining([mine, ...theirs]));
  }
});

const idsIn =
  <Name extends string, Item extends Record<Name, string>>(
    list: (ctx: Ctx) => Promise<{ items: Item[] }>,
    name: Name,
  ) =>
  async (ctx: Ctx) =>
    (await list(ctx)).items.map((item) => item[name]);
