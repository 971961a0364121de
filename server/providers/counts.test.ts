import { afterAll, beforeAll, describe, expect, test } from "vitest";
import anthropic from "./anthropic";
import { MOST_COST_MICROS, MOST_COUNT, toCostMicros } from "./counts";
import type { Progress, TextResult } from "./define";
import google from "./google";
import openai from "./openai";
import compatible, { modelsFromSetting } from "./openai-compatible";
import type { Provider } from "./provider";
import { hello } from "./testing/calls";
import { ioFor, startVendor, type Vendor } from "./testing/vendor";

/* Vendors that report impossible counts: the answer is accepted, and the figure is unknown. */

const NO_COUNTS = [
  "1.5",
  "-5",
  "1e30",
  String(2 ** 52),
  "1e400",
  String(MOST_COUNT + 1),
  '"7"',
  "[1]",
  "true",
];

/** An answer of each vendor, as JSON, with the given input count. */
const VENDORS: { provider: Provider; answer: (input: string) => string }[] = [
  {
    provider: { ...compatible, models: modelsFromSetting("priced:1:2") },
    answer: (input) =>
      `{"choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":${input},"completion_tokens":4}}`,
  },
  {
    provider: openai,
    answer: (input) =>
      `{"id":"r1","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],
        "usage":{"input_tokens":${input},"output_tokens":4}}`,
  },
  {
    provider: anthropic,
    answer: (input) =>
      `{"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn",
        "usage":{"input_tokens":1,"cache_read_input_tokens":${input},"output_tokens":4}}`,
  },
  {
    provider: google,
    answer: (input) =>
      `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],
        "usageMetadata":{"promptTokenCount":1,"toolUsePromptTokenCount":${input},"candidatesTokenCount":4}}`,
  },
];

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

async function ask(
  provider: Provider,
  text: string,
): Promise<Extract<Progress<TextResult>, { state: "done" }>> {
  vendor.answer({ text });
  const model = provider.models.find(({ port }) => port === "text")?.id ?? "";
  const credentials = { apiKey: "sk-1" };
  const progress = await provider.text?.submit(
    hello,
    ioFor(provider, model, "text", { baseUrl: vendor.url, credentials }),
  );
  if (progress?.state !== "done") throw new Error("it was not answered");
  return progress;
}

describe.each(VENDORS)("$provider.name", ({ provider, answer }) => {
  test.each(NO_COUNTS)(
    "the invalid count %s is dropped, and the answer and its other figures are kept",
    async (input) => {
      const { result, usage } = await ask(provider, answer(input));
      expect(result.text).toBe("Hi");
      expect(usage).toEqual({ outputTokens: 4 });
    },
  );

  test("counts up to the maximum are reported", async () => {
    const figure = String(MOST_COUNT - 1);
    const { usage } = await ask(provider, answer(figure));
    expect(usage?.outputTokens).toBe(4);
    expect([MOST_COUNT - 1, MOST_COUNT]).toContain(usage?.inputTokens);
  });

  test("a usage that is not an object counts as none", async () => {
    const { result, usage } = await ask(
      provider,
      answer("1").replace(/("usage(Metadata)?":)\{.*\}\s*\}$/s, '$1"much"}'),
    );
    expect(result.text).toBe("Hi");
    expect(usage).toBeNull();
  });
});

test("a total below the input yields no output count", async () => {
  const usage = '{"promptTokenCount":9,"totalTokenCount":4}';
  const figure = `{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"usageMetadata":${usage}}`;
  expect((await ask(google, figure)).usage).toEqual({ inputTokens: 9 });
});

test.each([1e13, MOST_COST_MICROS / 1e6 + 0.000001, -0.01, Number.POSITIVE_INFINITY, Number.NaN, "1", null])(
  "%s dollars are not a valid cost",
  (dollars) => expect(toCostMicros(dollars)).toBeNull(),
);
