import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MeshCall, ProviderIo } from "./define";
import meshy from "./meshy";
import { answersItsFixtures, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, everythingOf, ioFor, startVendor, type Vendor } from "./testing/vendor";

const picture = { bytes: Buffer.from("iVBORw0K", "base64"), mediaType: "image/png" };
const bare: MeshCall = { images: [picture], profile: "toy_default", texture: null };
const ID = "018a210d-8ba4-705c-b111-1f1776f7f578";
const PATH = "/openapi/v1/multi-image-to-3d";
const KEY = "msy_canary0a9b8c7d6e5f";

answersItsFixtures(meshy, join(import.meta.dirname, "meshy.fixtures"), {
  headers: { "content-type": "application/json" },
});
tellsTheTruthAboutSubmission(meshy, { port: "mesh", model: "meshy-6", call: bare });

let vendor: Vendor;
let files: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
  files = await startVendor();
});
afterAll(() => Promise.all([vendor.stop(), files.stop()]));
const io = (more: Partial<ProviderIo> = {}) =>
  ioFor(meshy, "meshy-6", "mesh", {
    baseUrl: vendor.url,
    credentials: { apiKey: KEY },
    ...(more as object), // none of these tests changes the credentials
  });
const { mesh } = meshy;
if (!mesh?.poll) throw new Error("no mesh port that is asked again");
const { submit, poll } = { submit: mesh.submit, poll: mesh.poll };
const handle = { path: PATH, id: ID };

describe("meshy's tasks", () => {
  test.each([
    ["PENDING", 0, { phase: "provider", step: "queued", percent: 0 }],
    ["IN_PROGRESS", 41.7, { phase: "provider", step: "generating", percent: 41 }],
    ["IN_PROGRESS", null, { phase: "provider", step: "generating" }],
  ])("a task that is %s at %s stays pending", async (status, progress, reported) => {
    vendor.answer({ json: { id: ID, status, progress } });
    expect(await poll(handle, io())).toEqual({
      state: "pending",
      handle,
      pollAfterMs: 5_000,
      progress: reported,
    });
    expect(vendor.arrived).toMatchObject([
      { method: "GET", path: `${PATH}/${ID}`, headers: { authorization: `Bearer ${KEY}` } },
    ]);
  });

  test("the GLB of a SUCCEEDED task is fetched at once, without the key", async () => {
    files.answer({ text: "glTF...", headers: { "content-type": "application/octet-stream" } });
    const glb = `${files.url}/task/model.glb?Signature=abc`;
    vendor.answer({
      json: { id: ID, status: "SUCCEEDED", progress: 100, model_urls: { glb }, ai_model: "meshy-6" },
    });
    expect(await poll(handle, io())).toEqual({
      state: "done",
      result: { mesh: { bytes: Buffer.from("glTF..."), mediaType: "model/gltf-binary" } },
      usage: { meshes: 1 },
      providerRequestId: ID,
      providerModel: "meshy-6",
      httpStatus: 200,
    });
    expect(files.arrived).toMatchObject([{ method: "GET", path: "/task/model.glb?Signature=abc" }]);
    expect(JSON.stringify(files.arrived)).not.toContain(KEY);
  });

  test("a poll is lost if its file is temporarily unavailable, and fails if the file is forbidden", async () => {
    const glb = `${files.url}/model.glb`;
    vendor.answer({ json: { status: "SUCCEEDED", model_urls: { glb } } });
    files.answer({ status: 503, json: {} });
    expect((await caughtFault(poll(handle, io()))).kind).toBe("lost");
    files.answer({ status: 403, json: {} });
    expect((await caughtFault(poll(handle, io()))).kind).toBe("failed");
  });

  test.each([
    ["FAILED", { type: "invalid_input", code: "image_too_complex", message: KEY }, /too complex/],
    ["FAILED", { type: "invalid_input", message: KEY }, /cannot make a mesh from these pictures/],
    ["FAILED", null, /failed while working/],
    ["CANCELED", { message: "" }, /canceled at Meshy/],
    ["EXPIRED", null, /expired/],
    ["SUCCEEDED", null, /without a GLB/],
    ["DREAMING", null, /documented format/],
  ])("a task that ends as %s %j has a message in our own words", async (status, task_error, message) => {
    vendor.answer({ json: { id: ID, status, task_error } });
    const fault = await caughtFault(poll(handle, io()));
    expect([fault.kind, fault.submission]).toEqual(["failed", "attempted"]);
    expect(fault.message).toMatch(message);
    if (task_error && "code" in task_error)
      expect(fault.details.vendor).toEqual({ code: task_error.code, message: "[redacted]" });
    expect(everythingOf(fault)).not.toContain(KEY);
  });

  test("an account without credits is refused", async () => {
    vendor.answer({ status: 402, json: { message: "Insufficient credits" } });
    const fault = await caughtFault(submit(bare, io()));
    expect([fault.kind, fault.submission, fault.message]).toEqual([
      "refused",
      "attempted",
      "The Meshy account has no credits left. (HTTP 402)",
    ]);
  });

  test.each<[string, Partial<MeshCall>]>([
    ["a WebP picture", { images: [{ ...picture, mediaType: "image/webp" }] }],
    ["two guides for one texture", { texture: { prompt: "gold", image: picture } }],
    ["a mode it does not have", { texture: { mode: "toon" } }],
    ["a longer prompt than it takes", { texture: { prompt: "x".repeat(601) } }],
  ])("%s is refused before anything is sent", async (_case, more) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(submit({ ...bare, ...more }, io()));
    expect([fault.kind, fault.submission]).toEqual(["refused", "not_attempted"]);
    expect(vendor.arrived).toEqual([]);
  });
});

describe("the account check", () => {
  test("the account check reads only the balance", async () => {
    vendor.answer({ json: { balance: 1000 } });
    await meshy.check?.(io());
    expect(vendor.arrived).toMatchObject([{ method: "GET", path: "/openapi/v1/balance" }]);
  });

  test("a wrong key is refused", async () => {
    vendor.answer({ status: 401, json: { message: KEY } });
    const fault = await caughtFault(meshy.check?.(io()) ?? Promise.resolve());
    expect([fault.kind, fault.message]).toEqual(["refused", "Meshy does not accept the API key. (HTTP 401)"]);
  });
});
