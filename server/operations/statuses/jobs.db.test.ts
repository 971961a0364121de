import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { DAY_MS } from "@/server/platform/time/units";
import { finish, submitWaiting } from "@/testing/api";
import { everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import {
  at,
  drawTwo,
  type Finished,
  get,
  input,
  MATH,
  openTenant,
  post,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A succeeded image job with two variants, a succeeded text job and one that waits. */
let image: Finished;
let done: string;
let queued: string;
/** A canceled job. */
let canceled: string;
/** A synchronous execution. */
let executed: string;
/** Jobs that waited for approval, by their decision. */
let approved: string;
let rejected: string;

beforeAll(async () => {
  image = await drawTwo("A kite over the dunes");
  done = (await finish((await tenant.post(at(TEXT, "jobs"), { input })).json.jobId)).jobId;
  queued = (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  canceled = (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  expect((await tenant.post(`/v1/jobs/${canceled}/cancel`)).json.status).toBe("canceled");
  executed = (await tenant.post(at(MATH, "invoke"), { input: { expression: "6 * 7" } })).json.executionId;
  approved = (await submitWaiting(tenant, TEXT, { input })).jobId;
  rejected = (await submitWaiting(tenant, TEXT, { input })).jobId;
  await tenant.post(`/v1/jobs/${approved}/approve`);
  await tenant.post(`/v1/jobs/${rejected}/reject`);
}, 60_000);

/** A request that succeeds, for each endpoint, with the jobs above. */
function sample({ method, path }: Endpoint): Request {
  const ended: Record<string, string> = { cancel: canceled, approve: approved, reject: rejected };
  const verb = path.split("/").at(-1) ?? "";
  const target = path.replace("{job_id}", ended[verb] ?? done).replace("{execution_id}", executed);
  return { method, target };
}

everyEndpoint("jobs", { sample });

describe("jobs", () => {
  test("the frames of an unknown execution are 404, and so are those of a job, which has events", async () => {
    for (const id of [newId("job"), done]) await get([404, "NotFound"], `/v1/executions/${id}/events`);
    const past = { headers: { "last-event-id": "9".repeat(30) } };
    await get(200, `/v1/jobs/${done}/events`, past);
    const odd = { headers: { "last-event-id": "the last" } };
    const refused = await get([422, "list"], `/v1/executions/${executed}/events`, odd);
    expect(refused.json.detail[0].loc).toEqual(["header", "Last-Event-ID"]);
    const twice = await get([422, "list"], `/v1/executions/${executed}/events`, {
      lines: { "last-event-id": ["1", "2"] },
    });
    expect(twice.json.detail[0].loc).toEqual(["header", "Last-Event-ID"]);
    await get(200, `/v1/executions/${executed}/events`, { lines: { "last-event-id": ["1", '"1"'] } });
  });

  test("a stream that has ended returns 204 to a reconnect that has its last event", async () => {
    const accept = "text/event-stream";
    for (const target of [`/v1/jobs/${done}/events`, `/v1/executions/${executed}/events`]) {
      const { bytes } = await tenant.get(target, { headers: { accept } });
      const ids = [
        ...Buffer.from(bytes)
          .toString()
          .matchAll(/^id: (.*)$/gm),
      ].map(([, id]) => String(id));
      await get(204, target, { headers: { accept, "last-event-id": ids.at(-1) ?? "" } });
    }
  });

  for (const what of ["", "/events", "/request", "/result", "/receipt", "/artifacts/art_1"]) {
    test(`GET /v1/jobs/{job_id}${what} is 404 for an unknown job`, async () => {
      await get([404, "NotFound"], `/v1/jobs/${newId("job")}${what}`);
      await get([404, "NotFound"], `/v1/jobs/nonsense${what}`);
    });
  }

  test("a POST to an unknown job is 404", async () => {
    for (const verb of ["cancel", "approve", "reject", "retry"])
      await post([404, "NotFound"], `/v1/jobs/${newId("job")}/${verb}`);
    await post([404, "NotFound"], `/v1/jobs/${newId("job")}/variants/select`, { artifactId: "art_1" });
  });

  test("a succeeded text job has output, receipt, and a snapshot with the executed prompt", async () => {
    const { json } = await get(200, `/v1/jobs/${done}`);
    expect(json).toMatchObject({
      status: "succeeded",
      nextAction: "download_artifacts",
      pollAfterSeconds: null,
      receiptId: done.replace("wfr_", "rcpt_"),
      retry: { sameKey: false, newKeySafe: false },
      requestSnapshot: { capability: TEXT, input: { ...input, prompt: "How deep is the sea?" } },
      diagnostics: { backendKind: "provider", backendState: "attempted", backendId: "sandbox/sandbox-1" },
      variantSet: null,
      progress: null,
      approval: null,
      pricing: { mode: "managed", fundingSource: "sandbox", charge: { customerCharge: { currency: "USD" } } },
    });
    expect(json.outputs).toEqual(json.typedOutput);
    expect(json.actualCost).toBe(json.pricing.providerCost.amount.amountMicros / 1_000_000);
    const { json: request } = await get(200, `/v1/jobs/${done}/request`);
    expect(request.request.input).toEqual(input);
    expect(request.requestHash).toBe(sha256Hex(canonicalText(request.request)));
    const { json: result } = await get(200, `/v1/jobs/${done}/result`);
    expect(result).toMatchObject({
      jobId: done,
      status: "succeeded",
      payloadState: "available",
      error: null,
    });
    expect(result.typedOutput).toEqual(json.typedOutput);
  });

  test("a queued job has a time to poll after, no result, and 409 instead of a receipt", async () => {
    const { json } = await get(200, `/v1/jobs/${queued}`);
    expect(json).toMatchObject({ status: "queued", nextAction: "poll", receiptId: null, pricing: null });
    vi.useFakeTimers({ now: Date.now() + 11_000, toFake: ["Date"] });
    const later = await get(200, `/v1/jobs/${queued}`);
    vi.useRealTimers();
    expect(later.json.pollAfterSeconds).toBe(4);
    const { json: result } = await get(200, `/v1/jobs/${queued}/result`);
    expect(result).toMatchObject({
      typedOutput: null,
      outputPayloadRef: null,
      payloadState: null,
      artifacts: [],
    });
    const refused = await get([409, "JobNotFinished"], `/v1/jobs/${queued}/receipt`);
    expect(refused.json.detail.details).toEqual({ status: "queued" });
  });

  test("a snapshot whose content was removed has the remaining fields", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input, idempotencyKey: "pruned" });
    await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1", [json.jobId]);
    const { json: job } = await get(200, `/v1/jobs/${json.jobId}`);
    expect(job.requestSnapshot).toEqual({
      capability: TEXT,
      productId: "",
      environment: "development",
      idempotencyKey: "pruned",
    });
    const { json: request } = await get(200, `/v1/jobs/${json.jobId}/request`);
    expect(request).toMatchObject({
      contentState: "pruned",
      request: null,
      requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("a canceled job stays canceled, and a finished one cannot be canceled", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input });
    const first = await post(200, `/v1/jobs/${json.jobId}/cancel`);
    expect(first.json).toMatchObject({
      status: "canceled",
      nextAction: "stop",
      error: { code: "Cancelled", retryable: false, terminal: true },
      retry: { sameKey: false, newKeySafe: true },
      actualCost: 0,
    });
    expect((await post(200, `/v1/jobs/${json.jobId}/cancel`)).json).toEqual(first.json);
    const refused = await post([409, "JobNotCancelable"], `/v1/jobs/${done}/cancel`);
    expect(refused.json.detail.details).toEqual({ status: "succeeded" });
  });
});

describe("a job that waits for approval", () => {
  const waitingJob = () => submitWaiting(tenant, TEXT, { input });
  const features = (settings: object) =>
    pool.query("UPDATE organization SET settings = $2 WHERE id = $1", [
      tenant.organizationId,
      JSON.stringify(settings),
    ]);

  test("a waiting job names who may decide until when, is queued once approved, and approving it again returns it", async () => {
    const { idempotency, ...waiting } = await waitingJob();
    expect(idempotency).toEqual({ source: "minted", replayed: false });
    expect(waiting).toMatchObject({
      status: "awaiting_approval",
      nextAction: "present_approval",
      pollAfterSeconds: null,
      approval: {
        reason: "estimate_above_threshold",
        threshold: 0,
        currency: "USD",
        deadlineAt: new Date(Date.parse(waiting.createdAt) + 7 * DAY_MS).toISOString(),
        whoMayDecide: { keyScope: "approvals:write", differentPersonRequired: false },
        approvalUrl: expect.stringMatching(new RegExp(`^http.*/jobs/${waiting.jobId}$`)),
        approvePath: `/v1/jobs/${waiting.jobId}/approve`,
      },
    });
    expect((await get(200, `/v1/jobs/${waiting.jobId}`)).json).toEqual(waiting);
    const path = `/v1/jobs/${waiting.jobId}/approve`;
    const estimate = waiting.approval?.estimatedCost ?? 0;
    expect(waiting.approval).toMatchObject({
      chargeEstimatedMicros: waiting.charge?.estimatedMicros,
      chargeMaximumMicros: waiting.charge?.authorizedMicros,
    });
    const { json } = await post([409, "EstimateExceedsMaxCost"], path, { authorizedMaxAmount: estimate / 2 });
    expect(json.detail.details).toEqual({ authorizedMaxAmount: estimate / 2, estimatedCost: estimate });
    const { json: job } = await post(200, path, { authorizedMaxAmount: estimate });
    expect(job).toMatchObject({ status: "queued", nextAction: "poll", approval: null });
    expect((await post(200, path)).json).toMatchObject({ jobId: waiting.jobId, status: "queued" });
    for (const amount of [estimate, estimate + 1])
      expect((await post(200, path, { authorizedMaxAmount: amount })).json).toMatchObject({
        status: "queued",
      });
    await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${waiting.jobId}/reject`);
    expect((await finish(waiting.jobId)).status).toBe("succeeded");
  });

  test("a second approval that authorizes less than the first is 409 and changes nothing", async () => {
    const approved = async (first: number | null | undefined) => {
      const { jobId } = await waitingJob();
      const path = `/v1/jobs/${jobId}/approve`;
      await post(200, path, first === undefined ? undefined : { authorizedMaxAmount: first });
      return path;
    };
    const limited = await approved(5);
    for (const authorizedMaxAmount of [4.999999, 0.000001, 0]) {
      const { json } = await post([409, "JobNotAwaitingApproval"], limited, { authorizedMaxAmount });
      expect(json.detail.details).toEqual({ status: "queued", authorizedMaxAmount: 5 });
      expect(json.detail.message).toContain("with authorizedMaxAmount 5");
    }
    await post(200, limited, { authorizedMaxAmount: 5 });
    for (const unlimited of [await approved(null), await approved(undefined)]) {
      const { json } = await post([409, "JobNotAwaitingApproval"], unlimited, { authorizedMaxAmount: 1e9 });
      expect(json.detail.details).toEqual({ status: "queued", authorizedMaxAmount: null });
      await post(200, unlimited, { authorizedMaxAmount: null });
    }
  });

  test("a waiting job is canceled when it is rejected, and rejecting it again returns it", async () => {
    const { jobId } = await waitingJob();
    const { json } = await post(200, `/v1/jobs/${jobId}/reject`);
    expect(json).toMatchObject({
      status: "canceled",
      nextAction: "stop",
      error: { code: "ApprovalRejected", retryable: false, terminal: true },
      actualCost: 0,
    });
    expect((await post(200, `/v1/jobs/${jobId}/reject`)).json).toEqual(json);
    await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${jobId}/approve`);
  });

  test("a decision on a job that never waited is 409, and 403 if the plan has no approvals", async () => {
    for (const verb of ["approve", "reject"]) {
      const refused = await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${done}/${verb}`);
      expect(refused.json.detail.details).toEqual({ status: "succeeded" });
    }
    const { jobId } = await waitingJob();
    await features({ features: { cancel: false, approve: false, reject: false } });
    for (const verb of ["approve", "reject", "cancel"]) {
      const { json } = await post([403, "CapabilityNotAllowed"], `/v1/jobs/${jobId}/${verb}`);
      expect(json.detail.details).toEqual({ feature: verb, plan: "self-hosted" });
    }
    await features({});
    await post(200, `/v1/jobs/${jobId}/cancel`);
  });

  test("an invoke above the threshold is refused in favor of a durable job", async () => {
    const set = "UPDATE project SET approval_threshold_micros = $2 WHERE id = $1";
    await pool.query(set, [tenant.projectId, 0]);
    await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input });
    await pool.query(set, [tenant.projectId, null]);
    await post(200, at(TEXT, "invoke"), { input });
  });
});

describe("events", () => {
  const events = async (query: string) => (await get(200, `/v1/jobs/${image.jobId}/events${query}`)).json;

  test("ids count from one without gaps, and a page has nextCursor only if more events remain", async () => {
    const whole = await events("");
    const ids = whole.events.map((event: { id: string }) => event.id);
    expect(ids).toEqual(ids.map((_: string, position: number) => String(position + 1)));
    expect(whole).not.toHaveProperty("nextCursor");
    for (const event of whole.events) {
      expect(event).toMatchObject({ cursor: event.id, jobId: image.jobId, projectId: tenant.projectId });
    }
    expect(whole.events.map((event: { type: string }) => event.type)).toEqual([
      "job.queued",
      "job.started",
      "job.provider_submitted",
      "job.artifact_stored",
      "job.artifact_stored",
      "job.succeeded",
      "job.receipt_sealed",
    ]);

    let cursor: string | undefined;
    const paged = [];
    do {
      const page = await events(`?limit=2${cursor ? `&cursor=${cursor}` : ""}`);
      expect(page.events.length).toBeLessThanOrEqual(2);
      paged.push(...page.events);
      cursor = page.nextCursor;
    } while (cursor);
    expect(paged).toEqual(whole.events);
    expect(await events(`?limit=${ids.length}`)).not.toHaveProperty("nextCursor");
    expect((await events(`?limit=${ids.length - 1}`)).nextCursor).toBe(ids.at(-2));
  });

  test("a cursor is exclusive and a number, and finds nothing past the end", async () => {
    expect((await events("?cursor=5")).events.map((event: { id: string }) => event.id)).toEqual(["6", "7"]);
    expect(await events("?cursor=7")).toEqual({ events: [] });
    expect((await events("?cursor=0")).events).toHaveLength(7);
    // No event has such a cursor, so the page names the one to continue from.
    for (const past of ["8", "2147483647", "2147483648", "9".repeat(19), "9".repeat(30)])
      expect(await events(`?cursor=${past}`)).toEqual({ events: [], resumeCursor: "7" });
    expect(await events("?cursor=50&type=job.queued")).toEqual({ events: [], resumeCursor: "7" });
    for (const cursor of ["x", "-1", "1.5", "1e3", " 1"]) {
      const target = `/v1/jobs/${image.jobId}/events?cursor=${encodeURIComponent(cursor)}`;
      expect((await get([422, "list"], target)).json.detail[0].loc).toEqual(["query", "cursor"]);
    }
  });

  test("events are filtered by one type, and paged by the same ids", async () => {
    const first = await events("?type=job.artifact_stored&limit=1");
    expect(first).toMatchObject({ events: [{ id: "4" }], nextCursor: "4" });
    expect(await events(`?type=job.artifact_stored&limit=1&cursor=4`)).toMatchObject({
      events: [{ id: "5" }],
    });
    expect(await events("?type=job.unheard_of")).toEqual({ events: [] });
  });

  test("a limit is between 1 and 200", async () => {
    for (const limit of ["0", "201", "x", "1.5"]) {
      const { json } = await get([422, "list"], `/v1/jobs/${image.jobId}/events?limit=${limit}`);
      expect(json.detail[0].loc).toEqual(["query", "limit"]);
    }
    await events("?limit=200");
  });
});

everyStatusHasACase("jobs");
