import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { makeTenant, type Tenant } from "@/testing/api";
import { projectLeasesPass } from "@/testing/leases";
import { tapSandbox } from "@/testing/vendor-tap";
import { inlineStep, rowsOf, startJob, testClock } from "@/testing/world";

import { attempt } from "../running/run";

const VIDEO = "video.generate.v1";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

const submit = (input: object, more: object = {}) =>
  tenant.post(`/v1/capabilities/${VIDEO}/jobs`, { input, ...more });

/** The sandbox needs a moment of real time for its work, whatever the clock of a test shows. */
const patient = (clock: ReturnType<typeof testClock>) => ({
  ...inlineStep(clock),
  sleep: async (_id: string, ms: number) => {
    clock.advance(ms);
    await new Promise((resolve) => setTimeout(resolve, 200));
  },
});

async function make(input: object, model = "sandbox-1", more: object = {}) {
  const submitted = await submit(input, { preferredModel: model, ...more });
  expect(submitted.status).toBe(200);
  const clock = testClock();
  const { jobId } = submitted.json;
  await jobs.run({ ...systemCtx("test"), now: clock.now }, jobId, patient(clock));
  return { jobId, job: (await tenant.get(`/v1/jobs/${jobId}`)).json };
}

test("a prompt and pictures become an MP4 whose length is measured, reported and charged", {
  tags: "long",
}, async () => {
  const picture = await sharp({ create: { width: 300, height: 300, channels: 3, background: "#c33" } })
    .png()
    .toBuffer();
  const reference = { dataBase64: picture.toString("base64"), filename: "a.png", mimeType: "image/png" };
  const { jobId, job } = await make({
    prompt: "Rain on a window",
    aspectRatio: "9:16",
    durationSeconds: 3,
    referenceImages: [reference],
    features: { resolution: "720p" },
  });
  expect(job).toMatchObject({
    status: "succeeded",
    error: null,
    typedOutput: { aspectRatio: "9:16", durationMs: 3_000, width: 720, height: 1280 },
  });
  const [artifact, ...others] = job.artifacts;
  expect(others).toEqual([]);
  expect(artifact).toMatchObject({
    kind: "video",
    mediaType: "video/mp4",
    filename: "video.mp4",
    durationMs: 3_000,
  });
  const { bytes, headers } = await tenant.get(artifact.downloadPath);
  expect(headers["content-type"]).toBe("video/mp4");
  expect(bytes.subarray(4, 8).toString("latin1")).toBe("ftyp");
  const { attempts, hold, job: row } = await rowsOf(jobId);
  expect(attempts).toMatchObject([{ submission: "attempted", cost_micros: 300_000 }]);
  expect([hold.state, row.status]).toEqual(["settled", "succeeded"]);
});

describe("a video that the provider is working on", () => {
  test("progress is reported, and a new worker polls without submitting again", {
    tags: "long",
  }, async () => {
    const tap = await tapSandbox();
    try {
      const asked = { prompt: "Fog", durationSeconds: 1 };
      const submitted = await submit(asked, { preferredModel: "sandbox-slow" });
      const { jobId } = submitted.json;
      const clock = testClock();
      const ctx = { ...systemCtx("test"), now: clock.now };
      const first = await startJob(ctx, jobId);
      if (!first) throw new Error("not claimed");
      expect(await attempt(ctx, jobId, first)).toMatchObject({ state: "pending" });
      expect(await attempt(ctx, jobId, first)).toMatchObject({ state: "pending" });
      // The worker and its lease are gone: the sweep finds the job, and another worker runs it.
      clock.advance(60_000);
      await projectLeasesPass(tenant.projectId, 60_000);
      await jobs.sweep(ctx, { projectId: tenant.projectId });
      const second = await startJob(ctx, jobId);
      if (!second) throw new Error("not taken over");
      expect(second.attemptId).toBe(first.attemptId);
      expect(await attempt(ctx, jobId, first)).toEqual({ state: "ended" });
      const { sleep } = patient(clock);
      while ((await attempt(ctx, jobId, second)).state !== "ended") await sleep("", 1_000);
      const job = (await tenant.get(`/v1/jobs/${jobId}`)).json;
      expect(job).toMatchObject({ status: "succeeded", typedOutput: { durationMs: 1_000 } });
      const { rows } = await pool.query("SELECT type, payload FROM job_event WHERE job_id = $1 ORDER BY id", [
        jobId,
      ]);
      const progress = rows.filter(({ type }) => type === "job.progress").map(({ payload }) => payload);
      expect(progress).toContainEqual(
        expect.objectContaining({ phase: "provider", step: "working", percent: expect.any(Number) }),
      );
      expect(rows.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
      const { attempts } = await rowsOf(jobId);
      expect(attempts).toHaveLength(1);
      const posts = tap.of(attempts[0].id).filter(({ path }) => path === "/v1/video");
      expect(posts).toHaveLength(1);
      expect(tap.of(attempts[0].id).length).toBeGreaterThan(2);
    } finally {
      await tap.stop();
    }
  });

  test("a passed deadline ends the job as ExecutionTimeout, with an ambiguous hold and an unknown cost", {
    tags: "long",
  }, async () => {
    const { jobId, job } = await make({ prompt: "Snow", durationSeconds: 2 }, "sandbox-slow", {
      execution: { executionConstraints: { maxDurationSeconds: 5 } },
    });
    expect(job).toMatchObject({ status: "failed", error: { code: "ExecutionTimeout" } });
    const { hold, attempts } = await rowsOf(jobId);
    expect(attempts).toMatchObject([{ submission: "attempted", cost_micros: null }]);
    expect([hold.state, hold.settled_micros]).toEqual(["ambiguous", null]);
  });
});

test.each([
  ["sandbox-refuse", "failed", "ProviderRejected", "released"],
  ["sandbox-empty", "failed", "PROVIDER_EMPTY_OUTPUT", "settled"],
  ["sandbox-fail", "failed", "PROVIDER_ERROR", "released"],
  ["sandbox-lost", "failed", "TRANSPORT_AMBIGUOUS", "ambiguous"],
  ["sandbox-busy", "succeeded", undefined, "settled"],
])("a video on %s ends %s as %s with its hold %s", async (model, status, code, held) => {
  const { jobId, job } = await make({ prompt: "Snow", durationSeconds: 1 }, model);
  expect([job.status, job.error?.code]).toEqual([status, code]);
  expect((await rowsOf(jobId)).hold.state).toBe(held);
});

test.each<[string, object, string]>([
  ["no prompt", { prompt: "" }, "prompt"],
  ["nine seconds", { prompt: "x", durationSeconds: 9 }, "durationSeconds"],
  ["half a second", { prompt: "x", durationSeconds: 0.5 }, "durationSeconds"],
  ["a square", { prompt: "x", aspectRatio: "1:1" }, "aspectRatio"],
  ["sound", { prompt: "x", features: { nativeAudio: true } }, "features.nativeAudio"],
  [
    "a picture that is none",
    { prompt: "x", referenceImages: [{ dataBase64: "aGVsbG8h", filename: "a.png", mimeType: "image/png" }] },
    "referenceImages.0.dataBase64",
  ],
])("a video with %s is a 422 at its field", async (_case, input, field) => {
  const { status, json } = await submit(input);
  expect(status).toBe(422);
  expect(JSON.stringify(json)).toContain(JSON.stringify(field.split(".").at(-1)));
});

test("a resolution that no available model makes is refused for lack of a route or a connection", async () => {
  const { json } = await submit({ prompt: "x", features: { resolution: "1080p" } });
  expect(json.code ?? json.error?.code).toMatch(/ROUTE_UNAVAILABLE|CONNECTION_REQUIRED/);
});
