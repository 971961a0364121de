import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ImageCall, TextCall } from "./define";
import google from "./google";
import { cube, hello } from "./testing/calls";
import {
  answersItsFixtures,
  checksCredentials,
  keyInHeader,
  tellsTheTruthAboutSubmission,
} from "./testing/fixtures";
import { caughtFault, ioFor, type Script, startVendor, type Vendor } from "./testing/vendor";

const signing = keyInHeader("x-goog-api-key");

answersItsFixtures(google, join(import.meta.dirname, "google.fixtures"), {
  headers: { "content-type": "application/json" },
  signing,
});
tellsTheTruthAboutSubmission(google, { port: "text", model: "gemini-3.8-flash", call: hello, signing });
tellsTheTruthAboutSubmission(google, { port: "image", model: "gemini-nano-banana-2.1", call: cube, signing });
checksCredentials(google, { path: "/v1beta/models?pageSize=1", answer: { models: [] }, signing });

describe("google", () => {
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await startVendor();
  });
  afterAll(() => vendor.stop());
  const credentials = { apiKey: "AIza-1" };
  const submit = async (call: TextCall) =>
    google.text?.submit(
      call,
      ioFor(google, "gemini-3.8-flash", "text", { baseUrl: vendor.url, credentials }),
    );
  const draw = async (call: ImageCall) =>
    google.image?.submit(
      call,
      ioFor(google, "gemini-nano-banana-2.1", "image", { baseUrl: vendor.url, credentials }),
    );

  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };
  test.each([
    [400, "INVALID_ARGUMENT", [info], "refused", "Google does not accept the API key. (HTTP 400)"],
    [400, "INVALID_ARGUMENT", [], "refused", "The provider rejected the request. (HTTP 400)"],
    [
      403,
      "PERMISSION_DENIED",
      [],
      "refused",
      "The Google API key does not have permission for this. (HTTP 403)",
    ],
    [404, "NOT_FOUND", [], "refused", "This Google account has no such model. (HTTP 404)"],
    [429, "RESOURCE_EXHAUSTED", [], "capacity", "Google's rate limit or quota is reached. (HTTP 429)"],
    [503, "UNAVAILABLE", [], "capacity", "Google has no capacity for this model right now. (HTTP 503)"],
    [500, "INTERNAL", [], "failed", "The provider failed while working on the request. (HTTP 500)"],
  ])("the error %i %s %j is %s", async (status, word, details, kind, message) => {
    vendor.answer({ status, json: { error: { code: status, message: "Hello?", status: word, details } } });
    const fault = await caughtFault(submit(hello));
    expect([fault.kind, fault.submission, fault.message]).toEqual([kind, "attempted", message]);
  });

  test.each<[string, Partial<TextCall>]>([
    ["a temperature for a model without one", { temperature: 1 }],
    ["a tool of the vendor's own", { tools: [{ googleSearch: {} }] }],
  ])("%s is refused before anything is sent", async (_case, more) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(submit({ ...hello, ...more }));
    expect([fault.kind, fault.submission]).toEqual(["refused", "not_attempted"]);
    expect(vendor.arrived).toEqual([]);
  });

  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 1120, totalTokenCount: 1129 };
  const picture = (data: string): Script => ({
    json: {
      candidates: [
        { content: { parts: [{ inlineData: { mimeType: "image/png", data } }] }, finishReason: "STOP" },
      ],
      usageMetadata,
    },
  });
  const used = (images: number) => ({ inputTokens: 9 * images, outputTokens: 1120 * images, images });

  test("several pictures are requested in sequence, and their usage is summed", async () => {
    vendor.answer(picture("AAAA"), picture("BBBB"), picture("CCCC"));
    const progress = await draw({ ...cube, count: 3 });
    expect(progress).toMatchObject({ result: { images: [{}, {}, {}] }, usage: used(3) });
    expect(vendor.arrived).toHaveLength(3);
  });

  test.each<[string, Script, object | null]>([
    ["full house, which costs nothing", { status: 429, json: {} }, used(1)],
    ["refusal, which costs nothing", { status: 400, json: {} }, used(1)],
    ["failure, which may have cost something", { status: 500, json: {} }, null],
    ["silence, which may have cost something", "close", null],
  ])("the first %s ends the sequence, and earlier pictures are the result", async (_case, script, usage) => {
    vendor.answer(picture("AAAA"), script);
    const progress = await draw({ ...cube, count: 3 });
    expect(progress).toMatchObject({ state: "done", result: { images: [{}] } });
    expect(progress?.state === "done" && progress.usage).toEqual(usage);
    expect(vendor.arrived).toHaveLength(2);
  });

  test.each<[string, object, string]>([
    ["a blocked prompt", { promptFeedback: { blockReason: "SAFETY" }, usageMetadata }, "refused"],
    ["a blocked picture", { candidates: [{ finishReason: "IMAGE_SAFETY" }], usageMetadata }, "refused"],
    ["no picture", { candidates: [{ finishReason: "NO_IMAGE" }], usageMetadata }, "failed"],
    ["words alone", { candidates: [{ content: { parts: [{ text: "No." }] } }], usageMetadata }, "failed"],
  ])("%s is reported without a picture, with its usage", async (_case, json, kind) => {
    vendor.answer({ json });
    const fault = await caughtFault(draw(cube));
    expect([fault.kind, fault.submission, fault.details.usage]).toEqual([
      kind,
      "attempted",
      { inputTokens: 9, outputTokens: 1120, images: 0 },
    ]);
  });

  test("a size that the vendor does not draw is refused before anything is sent", async () => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(draw({ ...cube, width: 1000 }));
    expect([fault.kind, fault.submission]).toEqual(["refused", "not_attempted"]);
    expect(vendor.arrived).toEqual([]);
  });
});
