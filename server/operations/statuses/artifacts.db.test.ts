import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { artifactStore } from "@/server/domain/artifacts";
import { newId } from "@/server/platform/ids";
import { sha256Hex } from "@/server/platform/text/canonical";
import { finish } from "@/testing/api";
import { ask, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import {
  at,
  drawTwo,
  type Finished,
  get,
  IMAGE,
  input,
  openTenant,
  post,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** A succeeded image job with two variants, another whose variant is chosen, a succeeded text job and one that waits. */
let image: Finished;
let chosen: Finished;
let done: string;
let queued: string;
beforeAll(async () => {
  image = await drawTwo("A kite over the dunes");
  chosen = await drawTwo("Two kites over the dunes");
  done = (await finish((await tenant.post(at(TEXT, "jobs"), { input })).json.jobId)).jobId;
  queued = (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
}, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  const isChoice = path.endsWith("/select");
  const { jobId, artifacts } = isChoice ? chosen : image;
  const artifactId = artifacts[0]?.artifactId ?? "";
  const target = path.replace("{job_id}", jobId).replace("{artifact_id}", artifactId);
  return isChoice ? { method, target, body: { artifactId } } : { method, target };
}

everyEndpoint("artifacts", { sample });

describe("artifacts and variants", () => {
  const path = (position: number) =>
    `/v1/jobs/${image.jobId}/artifacts/${image.artifacts[position]?.artifactId}`;

  test("a download has the bytes that the receipt names", async () => {
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

  test("ranges and conditions are answered with 206, 304, 412 and 416, and HEAD without a body", async () => {
    const whole = await get(200, path(0));
    const length = whole.bytes.byteLength;
    const part = await get(206, path(0), { headers: { range: "bytes=10-19" } });
    expect(part.bytes.equals(whole.bytes.subarray(10, 20))).toBe(true);
    expect(part.headers["content-range"]).toBe(`bytes 10-19/${length}`);
    const tail = await get(206, path(0), { headers: { range: "bytes=-5" } });
    expect(tail.bytes.equals(whole.bytes.subarray(-5))).toBe(true);
    const known = await get(304, path(0), { headers: { "if-none-match": whole.headers.etag ?? "" } });
    expect(known.bytes.byteLength).toBe(0);
    const changed = await get([412, "PreconditionFailed"], path(0), { headers: { "if-match": '"other"' } });
    expect(changed.json.detail.details).toEqual({ etag: whole.headers.etag });
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

  test("an artifact of another job is 404, and one whose bytes were removed 410", async () => {
    await get([404, "NotFound"], `/v1/jobs/${image.jobId}/artifacts/${newId("artifact")}`);
    await get([404, "NotFound"], `/v1/jobs/${done}/artifacts/${image.artifacts[0]?.artifactId}`);
    const { json } = await post(200, at(IMAGE, "jobs"), { prompt: "Something to be removed soon" });
    const [gone] = (await finish(json.jobId)).artifacts;
    await artifactStore().remove(gone?.sha256 ?? "");
    await get([410, "Gone"], gone?.downloadPath ?? "");
  });

  test("a chosen variant shows on the job at once, the choice can change, and the receipt stays as sealed", async () => {
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

  test("a variant of another job is 422, and a choice before the job succeeded 409", async () => {
    const target = `/v1/jobs/${image.jobId}/variants/select`;
    const { json } = await post([422, "list"], target, { artifactId: newId("artifact") });
    expect(json.detail[0].loc).toEqual(["body", "artifactId"]);
    await post([422, "list"], target, {});
    await post([422, "list"], target, { artifactId: "art_1", extra: 1 });
    await post([409, "JobNotFinished"], `/v1/jobs/${queued}/variants/select`, { artifactId: "art_1" });
  });
});

everyStatusHasACase("artifacts");
