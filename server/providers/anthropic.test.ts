import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import anthropic from "./anthropic";
import { fitsOutputFormat } from "./anthropic-ports/request";
import type { TextCall } from "./define";
import { answersItsFixtures, checksCredentials, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, ioFor, startVendor, type Vendor } from "./testing/vendor";

const hello: TextCall = {
  messages: [{ role: "user", content: "Hello" }],
  maxOutputTokens: 100,
  responseFormat: { type: "text" },
};
answersItsFixtures(anthropic, join(import.meta.dirname, "anthropic.fixtures"), {
  headers: { "content-type": "application/json", "anthropic-version": "2026-10-21" },
});
tellsTheTruthAboutSubmission(anthropic, { port: "text", model: "claude-sonnet-5-5", call: hello });
checksCredentials(anthropic, { path: "/v1/models?limit=1", answer: { data: [], has_more: false } });

describe("anthropic", () => {
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await startVendor();
  });
  afterAll(() => vendor.stop());
  const submit = (call: TextCall, model = "claude-sonnet-5-5") => {
    if (!anthropic.text) throw new Error("no text port");
    return anthropic.text.submit(
      call,
      ioFor(anthropic, model, "text", { baseUrl: vendor.url, credentials: { apiKey: "sk-1" } }),
    );
  };

  test.each([
    [529, "overloaded_error", "capacity", "Anthropic is overloaded. (HTTP 529)"],
    [503, "overloaded_error", "capacity", "Anthropic is overloaded. (HTTP 503)"],
    [429, "rate_limit_error", "capacity", "Anthropic's rate limit is reached. (HTTP 429)"],
    [402, "billing_error", "refused", "The Anthropic account has a billing problem. (HTTP 402)"],
    [413, "request_too_large", "refused", "The request is larger than Anthropic allows. (HTTP 413)"],
    [404, "not_found_error", "refused", "The Anthropic account has no access to this model. (HTTP 404)"],
    [500, "api_error", "failed", "The provider failed while working on the request. (HTTP 500)"],
  ])("the error %i %s is %s", async (status, type, kind, message) => {
    vendor.answer({ status, json: { type: "error", error: { type, message: "Hello is not nice" } } });
    const fault = await caughtFault(submit(hello));
    expect([fault.kind, fault.submission, fault.message]).toEqual([kind, "attempted", message]);
  });

  test.each<[string, Partial<TextCall>, string]>([
    ["a temperature for a model without one", { temperature: 1 }, "claude-sonnet-5-5"],
    [
      "reasoning without room for it",
      { reasoningIntent: "deep", maxOutputTokens: 1_024 },
      "claude-haiku-4-5",
    ],
    [
      "a tool of the vendor's own",
      { tools: [{ type: "web_search_20260318", name: "web_search" }] },
      "claude-sonnet-5-5",
    ],
  ])("%s is refused before anything is sent", async (_case, more, model) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(submit({ ...hello, ...more }, model));
    expect([fault.kind, fault.submission]).toEqual(["refused", "not_attempted"]);
    expect(vendor.arrived).toEqual([]);
  });

  const closed = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`p${i}`, { type: "string" }]));
  test.each([
    ["closed and all required", closed, true],
    ["with an optional property", { ...closed, required: [] }, true],
    [
      "with more optional properties than the vendor takes",
      { ...closed, properties: many, required: [] },
      false,
    ],
    ["nested", { ...closed, properties: { a: { type: "array", items: closed, minItems: 1 } } }, true],
    ["of alternatives", { anyOf: [closed, { type: "null" }] }, true],
    ["with literals", { ...closed, properties: { a: { enum: ["x", 1, null] } } }, true],
    ["with literals that are objects", { ...closed, properties: { a: { const: {} } } }, false],
    ["a list at the root", { type: "array", items: closed }, true],
    ["open", { ...closed, additionalProperties: true }, false],
    ["with an open object inside", { ...closed, properties: { a: { type: "object" } } }, false],
    ["with a list of anything", { ...closed, properties: { a: { type: "array" } } }, false],
    ["with a reference", { ...closed, properties: { a: { $ref: "#" } } }, false],
    ["with a length", { ...closed, properties: { a: { type: "string", maxLength: 3 } } }, false],
    ["with a known format", { ...closed, properties: { a: { type: "string", format: "date" } } }, true],
    ["with a format of its own", { ...closed, properties: { a: { type: "string", format: "iban" } } }, false],
    ["that allows anything", {}, false],
  ])("the output format check has the expected result for a schema: %s", (_case, schema, expected) => {
    expect(fitsOutputFormat(schema)).toBe(expected);
  });
});
