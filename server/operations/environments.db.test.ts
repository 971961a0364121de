import { beforeAll, expect, test } from "vitest";
import type { Capability } from "@/server/capabilities/define";
import { capabilities } from "@/server/capabilities/registry.gen";
import { SCOPES } from "@/server/contract/enums";
import * as comparisons from "@/server/domain/comparisons";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { newId } from "@/server/platform/ids";
import { call, finish, keyCtx, makeKey, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { compared, pinned } from "@/testing/comparisons";
import { HOST } from "@/testing/embeds";
import { makePerson } from "@/testing/tenants";

/*
 * A key belongs to one environment of its project: executions of other environments are answered like ones that do not exist.
 * People see all of a project.
 */

const MATH = "/v1/capabilities/compute.evaluate.v1/invoke";
const TEXT = "/v1/capabilities/text.general.fast.v1/jobs";
const PICTURE = "/v1/capabilities/image.generate.v1/jobs";
const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};

type Made = {
  /** A job that waits, and one that has succeeded with a picture. */
  jobId: string;
  pictureJobId: string;
  artifactId: string;
  jobReceiptId: string;
  executionId: string;
  receiptId: string;
  bulkId: string;
  comparisonId: string;
};

let tenant: Tenant;
/**
 * The keys of two environments of one project and of the same environments in all projects, and the rows made in the first.
 */
let [here, elsewhere, unboundHere, unboundElsewhere] = ["", "", "", ""];
let made: Made;

beforeAll(async () => {
  tenant = await makeTenant();
  const { projectId, organizationId } = tenant;
  const scopes = [...SCOPES];
  [here, elsewhere, unboundHere, unboundElsewhere] = await Promise.all([
    makeKey({ projectId, scopes, environment: "production" }),
    makeKey({ projectId, scopes }),
    makeKey({ organizationId, scopes, environment: "production" }),
    makeKey({ organizationId, scopes }),
  ]);
  const post = async (target: string, body: unknown) =>
    (await call("POST", target, { key: here, body })).json;
  const { jobId } = await post(TEXT, {
    input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  });
  const { jobId: pictureJobId } = await post(PICTURE, { input: { prompt: "A kite" } });
  const { artifacts, receiptId: jobReceiptId } = await finish(pictureJobId);
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
  made = {
    jobId,
    pictureJobId,
    artifactId: artifacts[0]?.artifactId ?? "",
    jobReceiptId: jobReceiptId ?? "",
    executionId,
    receiptId,
    bulkId,
    comparisonId,
  };
}, 60_000);

const reads = (): [string, string][] => [
  ["GET", `/v1/jobs/${made.jobId}`],
  ["GET", `/v1/jobs/${made.jobId}/request`],
  ["GET", `/v1/jobs/${made.jobId}/events`],
  ["GET", `/v1/jobs/${made.executionId}/result`],
  ["GET", `/v1/jobs/${made.executionId}/receipt`],
  ["GET", `/v1/executions/${made.executionId}/events`],
  ["GET", `/v1/jobs/${made.pictureJobId}/artifacts/${made.artifactId}`],
  ["GET", `/v1/artifacts/${made.artifactId}`],
  ["GET", `/v1/inference/pinned/${made.receiptId}`],
  ["GET", `/v1/provenance/lockfile?receipt_id=${made.receiptId}`],
  ["GET", `/v1/inference/pinned/bulk/${made.bulkId}`],
  ["GET", `/v1/comparisons/${made.comparisonId}`],
];

test("a key reads nothing that ran in another environment", async () => {
  for (const [method, target] of reads()) {
    for (const key of [here, unboundHere])
      expect((await call(method, target, { key })).status, target).toBe(200);
    for (const key of [elsewhere, unboundElsewhere])
      expect((await call(method, target, { key })).status, target).toBe(404);
  }
});

test("a key cannot cancel, retry or judge what runs in another environment", async () => {
  for (const target of [
    `/v1/jobs/${made.jobId}/cancel`,
    `/v1/jobs/${made.jobId}/retry`,
    `/v1/jobs/${made.jobId}/approve`,
    `/v1/jobs/${made.jobId}/reject`,
    `/v1/jobs/${made.pictureJobId}/variants/select`,
    `/v1/inference/pinned/bulk/${made.bulkId}/cancel`,
    `/v1/inference/pinned/bulk/${made.bulkId}/retry`,
    `/v1/comparisons/${made.comparisonId}/judgements`,
  ]) {
    const body = target.endsWith("judgements")
      ? { decision: "tie" }
      : target.endsWith("select")
        ? { artifactId: made.artifactId }
        : undefined;
    for (const key of [elsewhere, unboundElsewhere])
      expect((await call("POST", target, { key, body })).status, target).toBe(404);
  }
  expect((await call("GET", `/v1/jobs/${made.jobId}`, { key: here })).json.status).toBe("queued");
  expect((await call("GET", `/v1/inference/pinned/bulk/${made.bulkId}`, { key: here })).json.status).toBe(
    "accepted",
  );
});

test("a project's lists show a key only its environment's executions, and show a person those of every environment", async () => {
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

test("a key cannot bind a receipt of another environment, which is answered like a missing one", async () => {
  const { projectId } = tenant;
  const bind = (key: string, ...receiptIds: string[]) =>
    call("POST", "/v1/provenance/manifests", { key, body: { label: "mine", projectId, receiptIds } });
  const receiptIds = [made.jobReceiptId, made.receiptId];
  for (const key of [elsewhere, unboundElsewhere]) {
    const { status, json } = await bind(key, ...receiptIds);
    expect(status).toBe(422);
    expect(json.detail).toEqual(
      receiptIds.map((_, place) =>
        expect.objectContaining({ loc: ["body", "receiptIds", place], type: "not_found" }),
      ),
    );
  }
  const bound = await bind(here, ...receiptIds);
  expect(bound.status).toBe(200);
  // A manifest belongs to the project: its reader verifies it against all that it binds.
  const verified = await call("POST", `/v1/provenance/manifests/${bound.json.manifestId}/verify`, {
    key: elsewhere,
  });
  expect(verified.json).toMatchObject({ verified: true, receiptsFound: 2 });
});

test("a lockfile is compared with the last run of its own environment", async () => {
  const { json: own } = await call("POST", "/v1/inference/pinned", { key: elsewhere, body: PIN });
  const { json: later } = await call("POST", "/v1/inference/pinned", { key: here, body: PIN });
  const lockfile = (
    await call("GET", `/v1/provenance/lockfile?receipt_id=${own.receiptId}`, { key: elsewhere })
  ).json;
  const { text } = await call("POST", "/v1/provenance/lockfile/verify", { key: elsewhere, body: lockfile });
  expect(text).toContain(own.receiptId);
  expect(text).not.toContain(later.receiptId);
});

test("no list of executions or outputs shows a key what ran in another environment", async () => {
  const { projectId } = tenant;
  const { jobId, executionId, pictureJobId, artifactId } = made;
  const lists: [string, string[]][] = [
    [`/v1/projects/${projectId}/jobs?limit=100`, [jobId, executionId, pictureJobId]],
    [`/v1/projects/${projectId}/references?limit=100`, [artifactId, pictureJobId]],
  ];
  const person = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  for (const [list, named] of lists) {
    for (const id of named) {
      for (const seer of [{ key: here }, { key: unboundHere }, person])
        expect((await call("GET", list, seer)).text, list).toContain(id);
      for (const key of [elsewhere, unboundElsewhere])
        expect((await call("GET", list, { key })).text, list).not.toContain(id);
    }
  }
});

/** For each capability whose input names files: an input that names this file. */
const NAMING: Record<string, (artifactId: string) => object> = {
  "3d.render_reference.v1": (artifactId) => ({ source: { artifactId } }),
  "document.verify.v1": (artifactId) => ({
    document: { artifactId },
    fields: [{ name: "a", question: "b?" }],
  }),
  "model.generate.3d.from-image.v1": (baseArtifactId) => ({ baseArtifactId }),
  "model.generate.3d.v1": (artifactId) => ({ inputArtifactIds: [artifactId] }),
};

test("every capability whose input names files is listed here", () => {
  const naming = Object.values(capabilities as Capability[]).filter(({ execute }) => execute.sources);
  expect(naming.map(({ key }) => key).sort()).toEqual(Object.keys(NAMING).sort());
});

test("a key's request cannot use an output of another environment, which is answered like a missing one", async () => {
  const weights = (ref: string) => ({
    displayName: `Adapter ${ref}`,
    baseModelFamily: "flux",
    source: { kind: "service_artifact", ref },
  });
  const compare = (artifactId: string) => ({
    context: { projectId: tenant.projectId },
    competitors: pinned("1", "2"),
    input: NAMING["model.generate.3d.v1"]?.(artifactId),
  });
  const doors: [string, (artifactId: string) => object][] = Object.entries(NAMING).flatMap(([key, input]) => {
    const body = (artifactId: string) => ({
      context: { projectId: tenant.projectId },
      input: input(artifactId),
    });
    return ["jobs", "quote", "estimate"].map((verb): [string, typeof body] => [
      `/v1/capabilities/${key}/${verb}`,
      body,
    ]);
  });
  doors.push(
    ["/v1/capabilities/document.verify.v1/invoke", doors.find(([door]) => door.includes("document"))![1]],
    ["/v1/capabilities/model.generate.3d.v1/comparisons", compare],
    [
      `/v1/capabilities/model.generate.3d.v1/comparisons/estimate?projectId=${tenant.projectId}`,
      (id) => ({ ...compare(id), context: undefined }),
    ],
    [`/v1/adapters?projectId=${tenant.projectId}`, weights],
  );
  for (const [door, body] of doors) {
    for (const key of [elsewhere, unboundElsewhere]) {
      const [theirs, none] = await Promise.all(
        [made.artifactId, newId("artifact")].map((id) => call("POST", door, { key, body: body(id) })),
      );
      expect({ ...theirs?.json, requestId: null }, door).toEqual({ ...none?.json, requestId: null });
      expect(theirs, door).toMatchObject({
        status: 422,
        json: { detail: [expect.objectContaining({ type: "not_found" })] },
      });
    }
    // In its own environment the output is found, whatever else the request lacks.
    for (const key of [here, unboundHere])
      expect((await call("POST", door, { key, body: body(made.artifactId) })).text, door).not.toContain(
        "not_found",
      );
  }
});

test("a person can use outputs of every environment and offer them in an embed, and a key cannot offer another environment's", async () => {
  const input = NAMING["model.generate.3d.v1"]?.(made.artifactId);
  const mesh = "/v1/capabilities/model.generate.3d.v1/jobs";
  const owner = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  const open = async (by: { key: string } | typeof owner) => {
    const body = {
      projectId: tenant.projectId,
      allowedOrigins: [HOST],
      maxSpendMicros: 10_000_000,
      environment: "development",
      initialInputs: input,
    };
    const { json } = await call("POST", "/v1/panel-sessions", { ...by, body });
    return call("POST", mesh, { key: json.accessToken, headers: { origin: HOST }, body: { input } });
  };
  expect((await open(owner)).status).toBe(200);
  expect((await open({ key: elsewhere })).status).toBe(422);
  const person = (await makePerson(tenant.organizationId, "member")).ctx;
  const context = { projectId: tenant.projectId, environment: "development" };
  expect(await jobs.submit(person, "model.generate.3d.v1", { context, input } as never)).toMatchObject({
    status: "queued",
  });
});

test("an uploaded file belongs to the project, whatever the environment of a key", async () => {
  const { artifactId } = (
    await call("POST", `/v1/artifacts?projectId=${tenant.projectId}`, {
      key: here,
      body: "one",
      headers: { "content-type": "text/plain" },
    })
  ).json;
  expect((await call("GET", `/v1/artifacts/${artifactId}`, { key: elsewhere })).text).toBe("one");
  expect(
    (await call("GET", `/v1/projects/${tenant.projectId}/references`, { key: elsewhere })).text,
  ).toContain(artifactId);
  const input = { document: { artifactId }, fields: [{ name: "a", question: "b?" }] };
  const verify = "/v1/capabilities/document.verify.v1/jobs";
  expect((await call("POST", verify, { key: elsewhere, body: { input } })).status).toBe(200);
});
