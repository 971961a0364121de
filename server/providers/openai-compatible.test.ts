import { join } from "node:path";
import { expect, test } from "vitest";
import compatible, { modelsFromSetting } from "./openai-compatible";
import { hello } from "./testing/calls";
import { answersItsFixtures, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { ioFor, startVendor } from "./testing/vendor";

const provider = { ...compatible, models: modelsFromSetting("llama3:8b:0.05:0.08,nomic:0.01:embeddings") };

answersItsFixtures(provider, join(import.meta.dirname, "openai-compatible.fixtures"), {
  headers: { "content-type": "application/json" },
});
tellsTheTruthAboutSubmission(provider, { port: "text", model: "llama3:8b", call: hello });

test("a connection without a key sends none", async () => {
  const vendor = await startVendor();
  vendor.answer({ json: { choices: [{ message: { content: "Hi" } }] } });
  await provider.text?.submit(hello, ioFor(provider, "llama3:8b", "text", { baseUrl: vendor.url }));
  expect(vendor.arrived[0]?.headers.authorization).toBeUndefined();
  await vendor.stop();
});

test("errors of other servers do not mention OpenAI", async () => {
  const vendor = await startVendor();
  const io = ioFor(provider, "llama3:8b", "text", { baseUrl: vendor.url });
  for (const [status, code, message] of [
    [401, "invalid_api_key", "The provider does not accept the API key. (HTTP 401)"],
    [429, "insufficient_quota", "The provider's account has no credit left. (HTTP 429)"],
    [429, "rate_limit_exceeded", "The provider's rate limit is reached. (HTTP 429)"],
    [404, "model_not_found", "The provider's account has no access to this model. (HTTP 404)"],
  ] as const) {
    vendor.answer({ status, json: { error: { code } } });
    await expect(provider.text?.submit(hello, io)).rejects.toMatchObject({ message });
  }
  vendor.answer({ status: 401, json: { error: { code: "invalid_api_key" } } });
  await expect(provider.check?.({ ...io, signal: AbortSignal.timeout(5_000) })).rejects.toThrow(
    "The provider does not accept the API key.",
  );
  await vendor.stop();
});

test.each<[unknown, number | undefined]>([
  [0.0123456, 12_346],
  [0.0000004, 0],
  [0, 0],
  [null, undefined],
  [-1, undefined],
  ["0.01", undefined],
])("a cost of %j in the usage is reported as %j micros", async (cost, micros) => {
  const vendor = await startVendor();
  const usage = { prompt_tokens: 3, completion_tokens: 4, cost };
  vendor.answer({ json: { choices: [{ message: { content: "Hi" } }], usage } });
  const progress = await provider.text?.submit(
    hello,
    ioFor(provider, "llama3:8b", "text", { baseUrl: vendor.url }),
  );
  await vendor.stop();
  expect(progress).toMatchObject({
    usage: {
      inputTokens: 3,
      outputTokens: 4,
      ...(micros === undefined ? {} : { reportedCostMicros: micros }),
    },
  });
  if (micros === undefined) expect(progress).not.toHaveProperty("usage.reportedCostMicros");
});

test("models are read from a setting, with prices per million tokens and ids that contain colons and slashes", () => {
  expect(
    modelsFromSetting(" llama3:8b:0.05:0.08, org/model:1:2.5,").map(({ id, price }) => [id, price]),
  ).toEqual([
    ["llama3:8b", { per: "million_tokens", input: 50_000, output: 80_000 }],
    ["org/model", { per: "million_tokens", input: 1_000_000, output: 2_500_000 }],
  ]);
  expect(modelsFromSetting(undefined)).toEqual([]);
});

test("an embedding model has the word embeddings in place of an output price", () => {
  expect(modelsFromSetting("nomic:latest:0.02:embeddings")).toMatchObject([
    { id: "nomic:latest", port: "embedding", price: { per: "million_tokens", input: 20_000, output: 0 } },
  ]);
  expect(() => modelsFromSetting("nomic:embeddings")).toThrow("nomic:embeddings");
});

test("a model reads pictures if the word pictures follows its prices, with an optional maximum of tokens", () => {
  const read = (entry: string) =>
    modelsFromSetting(entry).map(({ id, supports, imageTokens }) => [id, supports.vision, imageTokens]);
  expect(read("qwen:vl:1:2:pictures")).toEqual([["qwen:vl", true, 16_384]]);
  expect(read(" m:1:2:pictures=48169 ,n:1:2")).toEqual([
    ["m", true, 48_169],
    ["n", undefined, undefined],
  ]);
  expect(read("pictures:1:2")).toEqual([["pictures", undefined, undefined]]);
});

test.each([
  ...["m:1:2:picture", "m:1:2:pictures=", "m:1:2:pictures=0", "m:1:2:pictures=-1", "m:1:2:pictures=1.5"],
  ...[
    "m:1:2:pictures=1e3",
    "m:1:2:pictures=10000000",
    "m:1:2:pictures:pictures",
    "m:1:pictures",
    "m:1:embeddings:pictures",
  ],
])("the form %s is refused with the list of valid forms", (setting) =>
  expect(() => modelsFromSetting(setting)).toThrow(
    `"${setting}" is not of the form id:in:out, id:in:out:pictures`,
  ),
);

test.each(["llama3", "llama3:1", ":1:2", "m:one:2", "m:1:-2", "m:1e3:2", "m:0.0000001:2"])(
  "the setting %s is refused with a message that quotes it",
  (setting) => expect(() => modelsFromSetting(setting)).toThrow(setting),
);
