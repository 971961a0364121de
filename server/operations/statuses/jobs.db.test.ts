import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { artifactStore } from "@/server/domain/artifacts";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { DAY_MS } from "@/server/platform/time/units";
import { finish, submitWaiting } from "@/testing/api";
import { ask, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import {
  at,
  type Finished,
  get,
  IMAGE,
  input,
  MANIFESTS,
  MATH,
  openTenant,
  post,
  say,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A finished image job with two variants, a finished text job and one that waits. */
let image: Finished;
let done: string;
let queued: string;
/** One more finished image job, whose variants are chosen, and a canceled job. */
let chosen: Finished;
let canceled: string;
/** An execution that was invoked. */
let executed: string;
/** Jobs that waited for approval, and what was decided. */
let approved: string;
let rejected: string;

beforeAll(async () => {
  const draw = async (prompt: string) => {
    const { json } = await tenant.post(at(IMAGE, "jobs"), { prompt, variantCount: 2 });
    return (await finish(json.jobId)) as unknown as Finished; // a finished image job has all three
  };
  image = await draw("A kite over the dunes");
  chosen = await draw("Two kites over the dunes");
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

/** For every endpoint a request that succeeds, made of the jobs above. */
function sample({ method, path }: Endpoint): Request {
  const job = path.endsWith("/select") ? chosen : image;
  const artifactId = job.artifacts[0]?.artifactId ?? "";
  const ended: Record<string, string> = {
    cancel: canceled,
    retry: canceled,
    approve: approved,
    reject: rejected,
  };
  const verb = path.split("/").at(-1) ?? "";
  const target = path
    .replace("{job_id}", /artifact|variants/.test(path) ? job.jobId : (ended[verb] ?? done))
    .replace("{execution_id}", executed)
    .replace("{artifact_id}", artifactId);
  return path.endsWith("/select") ? { method, target, body: { artifactId } } : { method, target };
}

everyEndpoint("jobs", { sample });

describe("jobs", () => {
  test("GET an execution's frames: 404 for one that does not exist, and for a job, which has events", async () => {
    for (const id of [newId("job"), done]) await get([404, "NotFound"], `/v1/executions/${id}/events`);
    const past = { headers: { "last-event-id": "9".repeat(30) } };
    await get(200, `/v1/jobs/${done}/events`, past);
    const odd = { headers: { "last-event-id": "the last" } };
    const refused = await get([422, "list"], `/v1/executions/${executed}/events`, odd);
    expect(refused.json.detail[0].loc).toEqual(["header", "Last-Event-ID"]);
  });

  for (const what of ["", "/events", "/request", "/result", "/receipt", "/artifacts/art_1"]) {
    test(`GET /v1/jobs/{job_id}${what}: 404 for no such job`, async () => {
      await get([404, "NotFound"], `/v1/jobs/${newId("job")}${what}`);
      await get([404, "NotFound"], `/v1/jobs/nonsense${what}`);
    });
  }

  test("POST: 404 for no such job", async () => {
    for (const verb of ["cancel", "approve", "reject", "retry"])
      await post([404, "NotFound"], `/v1/jobs/${newId("job")}/${verb}`);
    await post([404, "NotFound"], `/v1/jobs/${newId("job")}/variants/select`, { artifactId: "art_1" });
  });

  test("a finished text job: output, receipt, snapshot with the executed prompt, nothing more to ask", async () => {
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
    expect(request.requestHash).toBe(`v1:${sha256Hex(canonicalText(request.request))}`);
    const { json: result } = await get(200, `/v1/jobs/${done}/result`);
    expect(result).toMatchObject({
      jobId: done,
      status: "succeeded",
      payloadState: "available",
      error: null,
    });
    expect(result.typedOutput).toEqual(json.typedOutput);
  });

  test("a job that waits says how long to wait, has no result, and 409 instead of a receipt", async () => {
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

  test("a snapshot whose content was removed names what is still known", async () => {
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
      requestHash: expect.stringMatching(/^v1:/),
    });
  });

  test("a canceled job stays canceled; a finished one cannot be", async () => {
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

describe("a job that waits for a person", () => {
  const waitingJob = () => submitWaiting(tenant, TEXT, { input });
  const features = (settings: object) =>
    pool.query("UPDATE organization SET settings = $2 WHERE id = $1", [
      tenant.organizationId,
      JSON.stringify(settings),
    ]);

  test("says who may decide until when, and is queued when it is approved; approving again answers with it", async () => {
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
    const { json } = await post([409, "EstimateExceedsMaxCost"], path, { authorizedMaxAmount: estimate / 2 });
    expect(json.detail.details).toEqual({ authorizedMaxAmount: estimate / 2, estimatedCost: estimate });
    const { json: job } = await post(200, path, { authorizedMaxAmount: estimate });
    expect(job).toMatchObject({ status: "queued", nextAction: "poll", approval: null });
    expect((await post(200, path)).json).toMatchObject({ jobId: waiting.jobId, status: "queued" });
    await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${waiting.jobId}/reject`);
    expect((await finish(waiting.jobId)).status).toBe("succeeded");
  });

  test("is canceled when it is rejected; rejecting again answers with it", async () => {
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

  test("409 for one that never waited; 403 where the plan has no such thing", async () => {
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

  test("cannot be had by an invoke above the threshold: it names the durable job instead", async () => {
    const set = "UPDATE project SET approval_threshold_micros = $2 WHERE id = $1";
    await pool.query(set, [tenant.projectId, 0]);
    await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input });
    await pool.query(set, [tenant.projectId, null]);
    await post(200, at(TEXT, "invoke"), { input });
  });
});

describe("retry", () => {
  const retry = (jobId: string) => `/v1/jobs/${jobId}/retry`;
  const refusedJob = async () => {
    const { json } = await post(200, at(TEXT, "jobs"), {
      input,
      preferredModel: "sandbox-refuse",
      tags: ["mine"],
    });
    return (await finish(json.jobId)).jobId;
  };

  test("is a new job of the same request under a new key, once, or once for each key that is named", async () => {
    const first = await refusedJob();
    const { json } = await post(200, retry(first));
    expect(json).toMatchObject({ retryOf: first, status: "queued", tags: ["mine"] });
    const original = (await get(200, `/v1/jobs/${first}/request`)).json;
    const again = (await get(200, `/v1/jobs/${json.jobId}/request`)).json;
    expect(again.request).toEqual(original.request);
    expect(again.requestHash).toBe(original.requestHash);
    expect(again.idempotencyKey).not.toBe(original.idempotencyKey);
    expect((await post(200, retry(first))).json.jobId).toBe(json.jobId);
    const headers = { "idempotency-key": "third-try" };
    const third = await post(200, retry(first), undefined, { headers });
    expect([first, json.jobId]).not.toContain(third.json.jobId);
    const taken = { "idempotency-key": original.idempotencyKey };
    expect((await post(200, retry(first), undefined, { headers: taken })).json.jobId).toBe(first);
  });

  test("runs a job again that may have run, once its caller accepts that it may be charged twice", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input, preferredModel: "sandbox-lost" });
    await finish(json.jobId);
    const { json: refused } = await post([409, "RetryNotSafe"], retry(json.jobId), {
      acceptPossibleDuplicateCharge: false,
    });
    expect(refused.detail.message).toContain("acceptPossibleDuplicateCharge: true");
    const accepted = { acceptPossibleDuplicateCharge: true };
    const again = await post(200, retry(json.jobId), accepted);
    expect(again.json).toMatchObject({ retryOf: json.jobId, status: "queued" });
    expect((await post(200, retry(json.jobId), accepted)).json.jobId).toBe(again.json.jobId);
    for (const job of [done, queued]) await post([409, "RetryNotSafe"], retry(job), accepted);
  });

  test("runs a refused request on another model, a job for each model", async () => {
    const first = await refusedJob();
    const { error } = (await get(200, `/v1/jobs/${first}`)).json;
    expect(error.resolution).toContain("Another model may accept it.");
    const other = await post(200, retry(first), { model: "sandbox/sandbox-2" });
    expect(other.json).toMatchObject({
      retryOf: first,
      tags: ["mine"],
      diagnostics: { backendId: "sandbox/sandbox-2" },
    });
    expect((await post(200, retry(first), { model: "sandbox/sandbox-2" })).json.jobId).toBe(other.json.jobId);
    expect((await post(200, retry(first))).json.jobId).not.toBe(other.json.jobId);
    expect((await finish(other.json.jobId)).status).toBe("succeeded");
  });

  test("409 where it may have run, has not ended, or its key belongs to something else", async () => {
    await post([409, "RetryNotSafe"], retry(done));
    await post([409, "RetryNotSafe"], retry(queued));
    const { json } = await post(200, at(TEXT, "jobs"), { input, preferredModel: "sandbox-lost" });
    await finish(json.jobId);
    await post([409, "RetryNotSafe"], retry(json.jobId));
    const other = (await post(200, at(TEXT, "jobs"), say("Something else."))).json;
    const headers = { "idempotency-key": other.idempotencyKey };
    await post([409, "IdempotencyConflict"], retry(canceled), undefined, { headers });
  });

  test("409 for a competitor that no one has judged, as for its receipt", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input });
    const { receiptId } = await finish(json.jobId);
    const comparisonId = newId("comparison");
    await pool.query("UPDATE job SET is_blind = true, comparison_id = $2 WHERE id = $1", [
      json.jobId,
      comparisonId,
    ]);
    for (const refused of [
      await post([409, "ComparisonUnjudged"], retry(json.jobId)),
      await get([409, "ComparisonUnjudged"], `/v1/jobs/${json.jobId}/receipt`),
      await post([409, "ComparisonUnjudged"], MANIFESTS, { label: "x", receiptIds: [receiptId] }),
    ])
      expect(refused.json.detail.details).toEqual({ comparisonId });
  });

  test("409 where the route has gone meanwhile, 410 where the content was removed, 400 for a synchronous run", async () => {
    const rewrite = (jobId: string, content: string | null) =>
      pool.query("UPDATE payload SET content = $2 WHERE job_id = $1 AND kind = 'request'", [jobId, content]);
    const first = await refusedJob();
    const { request } = (await get(200, `/v1/jobs/${first}/request`)).json;
    const wanting = (preferredModel: string) => {
      const execution = { ...request.execution, executionConstraints: { preferredModel } };
      return JSON.stringify({ ...request, execution });
    };
    await rewrite(first, wanting("gone-1"));
    await post([409, "ROUTE_UNAVAILABLE"], retry(first));
    await rewrite(first, wanting("gpt-4.1-mini"));
    await post([409, "CONNECTION_REQUIRED"], retry(first));
    await rewrite(first, null);
    await post([410, "PayloadUnavailable"], retry(first));
    const { json } = await post([422, "division_by_zero"], at(MATH, "invoke"), { expression: "1 / 0" });
    await post([400, "USE_INVOKE"], retry(json.detail.executionId));
  });
});

describe("events", () => {
  const events = async (query: string) => (await get(200, `/v1/jobs/${image.jobId}/events${query}`)).json;

  test("ids count from one without gaps; a page ends with nextCursor only when more remains", async () => {
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

  test("a cursor is exclusive, past the end it finds nothing, and it is a number", async () => {
    expect((await events("?cursor=5")).events.map((event: { id: string }) => event.id)).toEqual(["6", "7"]);
    for (const cursor of ["7", "8", "2147483647", "2147483648", "9999999999999999999"]) {
      expect(await events(`?cursor=${cursor}`)).toEqual({ events: [] });
    }
    expect((await events("?cursor=0")).events).toHaveLength(7);
    for (const past of ["9".repeat(19), "9".repeat(30)])
      expect(await events(`?cursor=${past}`)).toEqual({ events: [] });
    for (const cursor of ["x", "-1", "1.5", "1e3", " 1"]) {
      const target = `/v1/jobs/${image.jobId}/events?cursor=${encodeURIComponent(cursor)}`;
      expect((await get([422, "list"], target)).json.detail[0].loc).toEqual(["query", "cursor"]);
    }
  });

  test("one type alone can be read, paged by the same ids", async () => {
    const first = await events("?type=job.artifact_stored&limit=1");
    expect(first).toMatchObject({ events: [{ id: "4" }], nextCursor: "4" });
    expect(await events(`?type=job.artifact_stored&limit=1&cursor=4`)).toMatchObject({
      events: [{ id: "5" }],
    });
    expect(await events("?type=job.unheard_of")).toEqual({ events: [] });
  });

  test("a limit is 1 to 200", async () => {
    for (const limit of ["0", "201", "x", "1.5"]) {
      const { json } = await get([422, "list"], `/v1/jobs/${image.jobId}/events?limit=${limit}`);
      expect(json.detail[0].loc).toEqual(["query", "limit"]);
    }
    await events("?limit=200");
  });
});

describe("artifacts and variants", () => {
  const path = (position: number) =>
    `/v1/jobs/${image.jobId}/artifacts/${image.artifacts[position]?.artifactId}`;

  test("the bytes are those the receipt names", async () => {
    const { json: receipt } = await get(200, `/v1/jobs/${image.jobId}/receipt`);
    for (const [position, artifact] of receipt.artifacts.entries()) {
      expect(artifact.downloadPath).toBe(path(position));
      const answer = await get(200, artifact.downloadPath);
      expect(sha256Hex(answer.bytes)).toBe(artifact.sha256);
      expect(answer.bytes.byteLength).toBe(artifact.byteLength);
      expect(answer.headers).toMatchObject({
        "content-type": "image/png",
        "content-length": String(artifact.byteLength),
        etag: `"${artifact.sha256}"`,
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("206, 304, 416 and HEAD", async () => {
    const whole = await get(200, path(0));
    const length = whole.bytes.byteLength;
    const part = await get(206, path(0), { headers: { range: "bytes=10-19" } });
    expect(part.bytes.equals(whole.bytes.subarray(10, 20))).toBe(true);
    expect(part.headers["content-range"]).toBe(`bytes 10-19/${length}`);
    const tail = await get(206, path(0), { headers: { range: "bytes=-5" } });
    expect(tail.bytes.equals(whole.bytes.subarray(-5))).toBe(true);
    const known = await get(304, path(0), { headers: { "if-none-match": whole.headers.etag ?? "" } });
    expect(known.bytes.byteLength).toBe(0);
    const beyond = { headers: { range: `bytes=${length}-` } };
    const refused = await get([416, "RangeNotSatisfiable"], path(0), beyond);
    expect(refused.headers).toMatchObject({
      "content-range": `bytes */${length}`,
      "content-type": "application/json",
    });
    expect(refused.headers).not.toHaveProperty("content-length");
    expect(refused.json.detail.details).toEqual({ byteLength: length });
    const head = await ask(200, "HEAD", path(0), { key: tenant.key });
    expect(head.headers["content-length"]).toBe(String(length));
    expect(head.bytes.byteLength).toBe(0);
  });

  test("404 for an artifact that is not the job's, 410 when its bytes were removed", async () => {
    await get([404, "NotFound"], `/v1/jobs/${image.jobId}/artifacts/${newId("artifact")}`);
    await get([404, "NotFound"], `/v1/jobs/${done}/artifacts/${image.artifacts[0]?.artifactId}`);
    const { json } = await post(200, at(IMAGE, "jobs"), { prompt: "Something to be removed soon" });
    const [gone] = (await finish(json.jobId)).artifacts;
    await artifactStore().remove(gone?.sha256 ?? "");
    await get([410, "Gone"], gone?.downloadPath ?? "");
  });

  test("a variant is chosen, at once everywhere, and the choice may change", async () => {
    const { json } = await post(200, at(IMAGE, "jobs"), { prompt: "Two kites", variantCount: 2 });
    const [one, two] = (await finish(json.jobId)).artifacts.map(({ artifactId }) => artifactId);
    const before = (await get(200, `/v1/jobs/${json.jobId}`)).json;
    expect(before).toMatchObject({ primaryArtifactId: null, selectedArtifactId: null });
    expect(before.artifacts.map((each: { variantIndex: number }) => each.variantIndex)).toEqual([0, 1]);
    for (const artifactId of [one, two]) {
      const { json: job } = await post(200, `/v1/jobs/${json.jobId}/variants/select`, { artifactId });
      expect(job).toMatchObject({
        status: "succeeded",
        selectedArtifactId: artifactId,
        primaryArtifactId: artifactId,
        variantSet: { selectedArtifactId: artifactId, requestedCount: 2, completedCount: 2, failedCount: 0 },
      });
      expect(job.artifacts.filter((each: { selected: boolean }) => each.selected)).toMatchObject([
        { artifactId },
      ]);
      expect((await get(200, `/v1/jobs/${json.jobId}`)).json).toEqual(job);
    }
    await post(200, `/v1/jobs/${json.jobId}/variants/select`, { artifactId: two });
    const { json: page } = await get(200, `/v1/jobs/${json.jobId}/events?type=job.variant_selected`);
    expect(page.events.map((event: { payload: unknown }) => event.payload)).toEqual([
      { artifactId: one },
      { artifactId: two },
    ]);
    const sealed = (await get(200, `/v1/jobs/${json.jobId}/receipt`)).json;
    expect(sealed.artifacts.map((each: { selected: boolean }) => each.selected)).toEqual([false, false]);
  });

  test("422 for what is no variant of the job, 409 before it has succeeded", async () => {
    const target = `/v1/jobs/${image.jobId}/variants/select`;
    const { json } = await post([422, "list"], target, { artifactId: newId("artifact") });
    expect(json.detail[0].loc).toEqual(["body", "artifactId"]);
    await post([422, "list"], target, {});
    await post([422, "list"], target, { artifactId: "art_1", extra: 1 });
    await post([409, "JobNotFinished"], `/v1/jobs/${queued}/variants/select`, { artifactId: "art_1" });
  });
});

everyStatusHasACase("jobs");
