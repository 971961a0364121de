import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { muxMp4 } from "@/server/sandbox/video/mp4";
import type { ImageCall, PortName } from "./define";
import replicate from "./replicate";
import { cube as oneCube, picture, sea } from "./testing/calls";
import { answersItsFixtures, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, everythingOf, ioFor, startVendor, type Vendor } from "./testing/vendor";

const KEY = "r8_canary0a9b8c7d6e5f4a3b";
const ID = "gm3qorzdhgbfurvjtvhg6dckhu";
const LORA = "black-forest-labs/flux-dev-lora";
const VIDEO = "bytedance/seedance-1-lite";
const cube: ImageCall = { ...oneCube, quality: "medium", count: 2 };

answersItsFixtures(replicate, join(import.meta.dirname, "replicate.fixtures"), {
  headers: { "content-type": "application/json" },
});
tellsTheTruthAboutSubmission(replicate, { port: "image", model: LORA, call: cube });
tellsTheTruthAboutSubmission(replicate, { port: "video", model: VIDEO, call: sea });

let vendor: Vendor;
let files: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
  files = await startVendor();
});
afterAll(() => Promise.all([vendor.stop(), files.stop()]));
const io = (model = LORA, port: PortName = "image") =>
  ioFor(replicate, model, port, { baseUrl: vendor.url, credentials: { apiKey: KEY } });
const { image, video } = replicate;
if (!image?.poll || !video?.poll) throw new Error("ports that are asked again");
const ask = { image: image.poll, video: video.poll };
const handle = { id: ID };
const prediction = (more: object) => ({
  json: { id: ID, model: LORA, error: null, logs: "", output: null, ...more },
});

test("a submission does not ask the vendor to wait for the result", async () => {
  vendor.answer({ status: 201, json: { id: ID, status: "starting" } });
  await image.submit(cube, io());
  expect(vendor.arrived[0]?.headers.prefer).toBeUndefined();
});

describe("replicate's predictions", () => {
  test.each([
    ["starting", "", { phase: "provider", step: "starting" }],
    ["processing", "Using seed: 7\n", { phase: "provider", step: "generating" }],
    [
      "processing",
      "  4%|▎   | 1/28\r 57%|█████▋    | 16/28 [00:02<00:01]",
      { phase: "provider", step: "generating", percent: 57 },
    ],
  ])("a prediction that is %s with the log %j stays pending", async (status, logs, progress) => {
    vendor.answer(prediction({ status, logs }));
    expect(await ask.image(handle, io())).toEqual({ state: "pending", handle, pollAfterMs: 2_000, progress });
    expect(vendor.arrived).toMatchObject([
      { method: "GET", path: `/predictions/${ID}`, headers: { authorization: `Bearer ${KEY}` } },
    ]);
  });

  test("the files of a prediction that succeeded are fetched at once and without the token", async () => {
    files.answer({ text: "one", headers: { "content-type": "image/png" } });
    const output = [`${files.url}/1.png`, `${files.url}/2.png`];
    vendor.answer(prediction({ status: "succeeded", output, metrics: { predict_time: 2.1 } }));
    expect(await ask.image(handle, io())).toEqual({
      state: "done",
      result: {
        images: [
          { bytes: Buffer.from("one"), mediaType: "image/png" },
          { bytes: Buffer.from("one"), mediaType: "image/png" },
        ],
      },
      usage: { images: 2 },
      providerRequestId: ID,
      providerModel: LORA,
      httpStatus: 200,
    });
    expect(files.arrived.map(({ path }) => path).sort()).toEqual(["/1.png", "/2.png"]);
    expect(JSON.stringify(files.arrived)).not.toContain(KEY);
  });

  test("a video is billed by the length in its file", async () => {
    const sample = { unit: Buffer.from("e"), isWhole: true };
    const bytes = muxMp4({
      width: 16,
      height: 16,
      framesPerSecond: 24,
      sequence: Buffer.from("gBAK"),
      picture: Buffer.from("h"),
      samples: Array.from({ length: 49 }, () => sample), // one frame more than two seconds
    });
    files.answer({ bytes, headers: { "content-type": "video/mp4" } });
    vendor.answer(prediction({ status: "succeeded", output: `${files.url}/a.mp4`, model: VIDEO }));
    const done = await ask.video(handle, io(VIDEO, "video"));
    expect(done).toMatchObject({
      state: "done",
      usage: { durationMs: 2_000 },
      result: { videos: [{ mediaType: "video/mp4" }] },
    });
  });

  test("a request that the safety check rejects is refused and costs nothing", async () => {
    const error = `NSFW content detected in ${KEY}. Try a different prompt.`;
    vendor.answer(prediction({ status: "failed", error }));
    const fault = await caughtFault(ask.image(handle, io()));
    expect([fault.kind, fault.submission, fault.details.usage]).toEqual([
      "refused",
      "attempted",
      { images: 0 },
    ]);
    expect(fault.details.vendor?.message).toBe(
      "NSFW content detected in [redacted]. Try a different prompt.",
    );
    expect(everythingOf(fault)).not.toContain(KEY);
  });

  test.each<[string, Parameters<Vendor["answer"]>, string]>([
    ["a failure", [prediction({ status: "failed", error: `CUDA out of memory ${KEY}` })], "failed"],
    ["a cancel", [prediction({ status: "canceled" })], "failed"],
    ["an abort", [prediction({ status: "aborted" })], "failed"],
    ["success without files", [prediction({ status: "succeeded" })], "failed"],
    ["a state that is new", [prediction({ status: "dreaming" })], "failed"],
    ["a prediction that is gone", [{ status: 404, json: { detail: "not found" } }], "refused"],
    ["a token that is not good any more", [{ status: 401, json: { detail: KEY } }], "refused"],
  ])("%s reports no cost", async (_case, scripts, kind) => {
    vendor.answer(...scripts);
    const fault = await caughtFault(ask.image(handle, io()));
    expect([fault.kind, fault.submission, fault.details.usage]).toEqual([kind, "attempted", undefined]);
    expect(everythingOf(fault)).not.toContain(KEY);
  });

  test("a poll is lost if its file is temporarily unavailable", async () => {
    files.answer({ status: 503, json: {} });
    vendor.answer(prediction({ status: "succeeded", output: [`${files.url}/1.png`] }));
    expect((await caughtFault(ask.image(handle, io()))).kind).toBe("lost");
  });

  test.each<Json>([{ id: "../account" }, { id: "" }, {}])(
    "an invalid handle %j sends no request",
    async (broken) => {
      vendor.answer({ json: {} });
      await expect(ask.image(broken, io())).rejects.toThrow();
      expect(vendor.arrived).toEqual([]);
    },
  );
});

test.each<[string, Partial<ImageCall>, string]>([
  ["an edit", { source: picture }, LORA],
  ["references", { referenceImages: [picture] }, LORA],
  ["nothing behind it", { transparent: true }, LORA],
  ["a size it does not have", { width: 1200 }, LORA],
  ["LoRA weights", { adapters: [{ url: "https://example.com/a", weight: 1 }] }, "black-forest-labs/flux-dev"],
  [
    "three LoRA weights",
    { adapters: ["a", "b", "c"].map((name) => ({ url: `https://example.com/${name}`, weight: 1 })) },
    LORA,
  ],
])("%s is refused before anything is sent", async (_case, more, model) => {
  vendor.answer({ json: {} });
  const fault = await caughtFault((async () => image.submit({ ...cube, ...more }, io(model)))());
  expect([fault.kind, fault.submission, vendor.arrived.length]).toEqual(["refused", "not_attempted", 0]);
});

test("the account check reads the token's owner, and a wrong token is refused", async () => {
  vendor.answer({ json: { type: "organization", username: "acme", name: "Acme" } });
  await replicate.check?.(io());
  expect(vendor.arrived).toMatchObject([{ method: "GET", path: "/account" }]);
  vendor.answer({ status: 401, json: { detail: KEY } });
  const fault = await caughtFault(replicate.check?.(io()) ?? Promise.resolve());
  expect([fault.kind, fault.message]).toEqual([
    "refused",
    "Replicate does not accept the API token. (HTTP 401)",
  ]);
});
