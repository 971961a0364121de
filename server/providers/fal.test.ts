import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import type { ImageCall, PortName, VideoCall } from "./define";
import fal from "./fal";
import { cube as oneCube, picture, sea } from "./testing/calls";
import { answersItsFixtures, keyInHeader, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, everythingOf, ioFor, startVendor, type Vendor } from "./testing/vendor";

const KEY = "fal-canary-0a9b8c7d6e5f4a3b";
const ID = "764cabcf-b745-4b3e-ae38-1200304cf45b";
const cube: ImageCall = { ...oneCube, quality: "medium", count: 2 };

const signing = keyInHeader("authorization", "Key ");
answersItsFixtures(fal, join(import.meta.dirname, "fal.fixtures"), {
  // The vendor's retries and fallbacks are off.
  headers: {
    "content-type": "application/json",
    "x-fal-no-retry": "1",
    "x-app-fal-disable-fallback": "true",
  },
  signing,
});
tellsTheTruthAboutSubmission(fal, { port: "image", model: "fal-ai/flux-lora", call: cube, signing });
tellsTheTruthAboutSubmission(fal, { port: "video", model: "fal-ai/veo3/fast", call: sea, signing });

let vendor: Vendor;
let files: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
  files = await startVendor();
});
afterAll(() => Promise.all([vendor.stop(), files.stop()]));
const io = (model = "fal-ai/flux/dev", port: PortName = "image") =>
  ioFor(fal, model, port, { baseUrl: vendor.url, credentials: { apiKey: KEY } });
const { image, video } = fal;
if (!image?.poll || !video?.poll) throw new Error("ports that are asked again");
const ask = { image: image.poll, video: video.poll };
const handle = { id: ID, path: "fal-ai/flux/dev" };
const complete = { json: { status: "COMPLETED", request_id: ID } };

describe("fal's queue", () => {
  test.each([
    [
      { status: "IN_QUEUE", queue_position: 3 },
      { phase: "provider", step: "queued behind 3" },
    ],
    [
      { status: "IN_QUEUE", queue_position: 0 },
      { phase: "provider", step: "queued" },
    ],
    [
      { status: "IN_PROGRESS", logs: null },
      { phase: "provider", step: "generating" },
    ],
  ])("work with the status %j stays pending", async (json, progress) => {
    vendor.answer({ status: 202, json });
    expect(await ask.image(handle, io())).toEqual({ state: "pending", handle, pollAfterMs: 2_000, progress });
    expect(vendor.arrived).toMatchObject([
      {
        method: "GET",
        path: `/fal-ai/flux/requests/${ID}/status?logs=0`,
        headers: { authorization: `Key ${KEY}` },
      },
    ]);
  });

  test("the pictures of completed work are fetched at once and without the key", async () => {
    files.answer({ text: "one" }, { text: "two" });
    const images = [
      { url: `${files.url}/1.png`, content_type: "image/png" },
      { url: `${files.url}/2.jpg`, content_type: "image/jpeg" },
    ];
    vendor.answer(complete, { json: { images, has_nsfw_concepts: [false, false], seed: 7 } });
    expect(await ask.image(handle, io())).toEqual({
      state: "done",
      result: {
        images: [
          { bytes: expect.any(Buffer), mediaType: "image/png" },
          { bytes: expect.any(Buffer), mediaType: "image/jpeg" },
        ],
      },
      usage: { images: 2 },
      providerRequestId: ID,
      providerModel: "fal-ai/flux/dev",
      httpStatus: 200,
    });
    expect(vendor.arrived.map(({ method, path }) => [method, path])).toEqual([
      ["GET", `/fal-ai/flux/requests/${ID}/status?logs=0`],
      ["GET", `/fal-ai/flux/requests/${ID}`],
    ]);
    expect(files.arrived.map(({ path }) => path).sort()).toEqual(["/1.png", "/2.jpg"]);
    expect(JSON.stringify(files.arrived)).not.toContain(KEY);
  });

  test("a video file without a length leaves the cost unknown", async () => {
    files.answer({ text: "no index" });
    vendor.answer(complete, { json: { video: { url: `${files.url}/a.mp4`, content_type: "video/mp4" } } });
    const done = await ask.video({ id: ID, path: "fal-ai/veo3/fast" }, io("fal-ai/veo3/fast", "video"));
    expect(done).toMatchObject({
      state: "done",
      usage: null,
      result: { videos: [{ mediaType: "video/mp4" }] },
    });
  });

  test("flagged pictures are left out, and if all are flagged the work is refused and still billed", async () => {
    files.answer({ text: "fit" });
    const images = [{ url: `${files.url}/black.png` }, { url: `${files.url}/fit.png` }];
    vendor.answer(complete, { json: { images, has_nsfw_concepts: [true, false] } });
    expect(await ask.image(handle, io())).toMatchObject({
      state: "done",
      result: { images: [{ bytes: Buffer.from("fit") }] },
      usage: { images: 2 },
    });
    expect(files.arrived.map(({ path }) => path)).toEqual(["/fit.png"]);
    vendor.answer(complete, { json: { images, has_nsfw_concepts: [true, true] } });
    const fault = await caughtFault(ask.image(handle, io()));
    expect([fault.kind, fault.submission, fault.details.usage]).toEqual([
      "refused",
      "attempted",
      { images: 2 },
    ]);
  });

  test("a prompt against the policy is refused and costs nothing", async () => {
    const detail = [{ loc: ["body", "prompt"], msg: KEY, type: "content_policy_violation" }];
    vendor.answer(complete, { status: 422, json: { detail } });
    const fault = await caughtFault(
      ask.video({ id: ID, path: "fal-ai/veo3/fast" }, io("fal-ai/veo3/fast", "video")),
    );
    expect([fault.kind, fault.details.usage]).toEqual(["refused", { durationMs: 0 }]);
    expect(fault.message).toMatch(/content policy/);
    expect(everythingOf(fault)).not.toContain(KEY);
  });

  test.each<[string, Parameters<Vendor["answer"]>, string]>([
    ["work that failed", [complete, { status: 500, json: { detail: KEY } }], "failed"],
    ["a result of another shape", [complete, { json: { pictures: [] } }], "failed"],
    ["work that is gone", [{ status: 404, json: { status: "NOT_FOUND" } }], "refused"],
    ["a result that is gone", [complete, { status: 404, json: {} }], "refused"],
    ["a key that is not good any more", [{ status: 401, json: { detail: KEY } }], "refused"],
    ["a state that is new", [{ json: { status: "DREAMING" } }], "failed"],
  ])("%s reports no cost", async (_case, scripts, kind) => {
    vendor.answer(...scripts);
    const fault = await caughtFault(ask.image(handle, io()));
    expect([fault.kind, fault.submission, fault.details.usage]).toEqual([kind, "attempted", undefined]);
    expect(everythingOf(fault)).not.toContain(KEY);
  });

  test("a poll is lost if its file is temporarily unavailable", async () => {
    files.answer({ status: 503, json: {} });
    vendor.answer(complete, { json: { images: [{ url: `${files.url}/1.png` }] } });
    expect((await caughtFault(ask.image(handle, io()))).kind).toBe("lost");
  });

  test.each<Json>([{ id: "../../other", path: "fal-ai/flux/dev" }, { id: ID, path: "../x" }, { id: ID }])(
    "an invalid handle %j sends no request",
    async (broken) => {
      vendor.answer({ json: {} });
      await expect(ask.image(broken, io())).rejects.toThrow();
      expect(vendor.arrived).toEqual([]);
    },
  );
});

describe("unsupported options", () => {
  test.each<[string, Partial<ImageCall>, string]>([
    ["a mask", { source: picture, mask: picture }, "fal-ai/flux-lora"],
    ["references", { referenceImages: [picture] }, "fal-ai/flux-lora"],
    ["nothing behind it", { transparent: true }, "fal-ai/flux-lora"],
    ["an edit", { source: picture }, "fal-ai/flux/dev"],
    ["LoRA weights", { adapters: [{ url: "https://example.com/a", weight: 1 }] }, "fal-ai/flux/dev"],
  ])("%s is refused before anything is sent", async (_case, more, model) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault((async () => image.submit({ ...cube, ...more }, io(model)))());
    expect([fault.kind, fault.submission, vendor.arrived.length]).toEqual(["refused", "not_attempted", 0]);
  });

  test.each<[string, Partial<VideoCall>, string]>([
    ["references", { referenceImages: [picture] }, "fal-ai/veo3/fast"],
    ["references and six seconds", { referenceImages: [picture], durationSeconds: 6 }, "fal-ai/veo3.1"],
  ])("a video with %s is refused before anything is sent", async (_case, more, model) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault((async () => video.submit({ ...sea, ...more }, io(model, "video")))());
    expect([fault.kind, fault.submission, vendor.arrived.length]).toEqual(["refused", "not_attempted", 0]);
  });
});

describe("the account check", () => {
  test('a good key is recognized by "not found" for an unknown request', async () => {
    vendor.answer({ status: 404, json: { status: "NOT_FOUND" } });
    await fal.check?.(io());
    expect(vendor.arrived).toMatchObject([{ method: "GET", headers: { authorization: `Key ${KEY}` } }]);
  });

  test("a wrong key is refused", async () => {
    vendor.answer({ status: 401, json: { detail: KEY } });
    const fault = await caughtFault(fal.check?.(io()) ?? Promise.resolve());
    expect([fault.kind, fault.message]).toEqual(["refused", "fal does not accept the API key. (HTTP 401)"]);
  });
});
