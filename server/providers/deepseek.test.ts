import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import deepseek from "./deepseek";
import type { TextCall } from "./define";
import { hello } from "./testing/calls";
import { answersItsFixtures, checksCredentials, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, ioFor, startVendor, type Vendor } from "./testing/vendor";

answersItsFixtures(deepseek, join(import.meta.dirname, "deepseek.fixtures"), {
  headers: { "content-type": "application/json" },
});
tellsTheTruthAboutSubmission(deepseek, { port: "text", model: "deepseek-flash", call: hello });
checksCredentials(deepseek, { path: "/models", answer: { object: "list", data: [] } });

describe("deepseek", () => {
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await startVendor();
  });
  afterAll(() => vendor.stop());
  const submit = async (call: TextCall) =>
    deepseek.text?.submit(
      call,
      ioFor(deepseek, "deepseek-flash", "text", { baseUrl: vendor.url, credentials: { apiKey: "sk-1" } }),
    );

  test.each([
    [402, "refused", "The DeepSeek account has no balance left. (HTTP 402)"],
    [422, "refused", "DeepSeek does not support one of the parameters. (HTTP 422)"],
    [429, "capacity", "DeepSeek's rate limit is reached. (HTTP 429)"],
    [503, "capacity", "DeepSeek is overloaded. (HTTP 503)"],
  ])("the status %i is %s", async (status, kind, message) => {
    vendor.answer({ status, json: { error: { message: "Hello?", type: "unknown_error" } } });
    const fault = await caughtFault(submit(hello));
    expect([fault.kind, fault.submission, fault.message]).toEqual([kind, "attempted", message]);
  });

  const picture = { type: "image" as const, mediaType: "image/png", bytes: Buffer.from("x") };
  test.each<[string, Partial<TextCall>]>([
    ["a schema", { responseFormat: { type: "json_schema", name: "answer", schema: { type: "object" } } }],
    ["a temperature while reasoning", { temperature: 1, reasoningIntent: "deep" }],
    ["a picture", { messages: [{ role: "user", content: [picture] }] }],
  ])("%s is refused before anything is sent", async (_case, more) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(submit({ ...hello, ...more }));
    expect([fault.kind, fault.submission]).toEqual(["refused", "not_attempted"]);
    expect(vendor.arrived).toEqual([]);
  });
});
