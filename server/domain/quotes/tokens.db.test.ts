import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import * as quotes from "@/server/domain/quotes";
import { env } from "@/server/platform/settings/env";
import { countTokens } from "@/server/platform/text/tokenizer";
import type { ModelFacts, TextCall } from "@/server/providers/define";
import openai from "@/server/providers/openai";
import sandbox from "@/server/providers/sandbox";
import { campaign } from "@/testing/campaign";
import { setSettings } from "@/testing/settings";
import { makeProject } from "@/testing/world";
import { inputTokensAtMost, tokensAbove } from "./tokens";

const { OPENAI_API_KEY } = env;
afterEach(() => {
  setSettings({ OPENAI_API_KEY });
});

const modelOf = (models: ModelFacts[], id: string) => models.find((model) => model.id === id)!;
const luna = modelOf(openai.models, "gpt-5.6-luna");
const sandbox1 = modelOf(sandbox.models, "sandbox-1");
const callOf = (...contents: string[]): TextCall => ({
  messages: contents.map((content) => ({ role: "user", content })),
  responseFormat: { type: "text" },
});

test("every text model of OpenAI has its tokenizer", () => {
  for (const { port, tokenizer } of openai.models)
    expect(tokenizer).toBe(port === "text" ? "o200k_base" : undefined);
});

test("messages to OpenAI are counted by its tokenizer, up to 256 KiB and not a byte more", async () => {
  const said = "How deep is the sea? Wie tief ist das Meer? 海有多深？";
  expect(await inputTokensAtMost(luna, callOf(said, "Answer."))).toEqual({
    tokens: 16 * 3 + (await countTokens(said)) + (await countTokens("Answer.")),
    isCounted: true,
  });
  const most = readFileSync("ARCHITECTURE.md", "latin1")
    .replace(/[^ -~\n]/g, "x")
    .repeat(40)
    .slice(0, 262_144);
  const counted = await inputTokensAtMost(luna, callOf(most));
  expect(counted.isCounted).toBe(true);
  expect(counted.tokens).toBeLessThan(131_072);
  expect(await inputTokensAtMost(luna, callOf(most, "x"))).toEqual({
    tokens: 16 * 3 + 262_145,
    isCounted: false,
  });
});

test("tokens of another vendor are bounded by the bytes, or by the bytes per token that the model states", async () => {
  expect(await inputTokensAtMost(sandbox1, callOf("深 sea"))).toEqual({
    tokens: 16 * 2 + 7,
    isCounted: false,
  });
  const dense = { ...sandbox1, tokenBytes: 3 };
  expect(await inputTokensAtMost(dense, callOf("深 sea"))).toEqual({ tokens: 16 * 2 + 3, isCounted: false });
});

test("schemas and tools are bounded by their bytes for every model", async () => {
  const schema = { type: "object", properties: { depth: { type: "number" } } };
  const call: TextCall = {
    ...callOf("Hi"),
    responseFormat: { type: "json_schema", name: "answer", schema },
    tools: [{ type: "function", name: "look" }],
  };
  const shape = JSON.stringify(schema) + JSON.stringify(call.tools);
  expect(await inputTokensAtMost(luna, call)).toEqual({
    tokens: 32 + (await countTokens("Hi")) + shape.length,
    isCounted: false,
  });
});

test("a count never exceeds the bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (content) => {
      const { tokens } = await inputTokensAtMost(luna, callOf(content));
      expect(tokens).toBeLessThanOrEqual((await inputTokensAtMost(sandbox1, callOf(content))).tokens);
    }),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});

test("175,000 tokens exceed a limit of 128,000, and 100,000 of OpenAI's do not", async () => {
  const seas = (count: number) => [" sea".repeat(count)];
  expect(await tokensAbove(luna, seas(175_000), 128_000)).toBe(175_000);
  expect(await tokensAbove(luna, seas(100_000), 128_000)).toBeNull();
  expect(await tokensAbove(sandbox1, seas(175_000), 128_000)).toBeGreaterThan(175_000);
  expect(await tokensAbove(sandbox1, seas(60_000), 128_000)).toBeNull();
  const { ctx } = await makeProject();
  const messages = [{ role: "user", content: seas(175_000)[0] }];
  await expect(
    quotes.quote(ctx, "text.general.fast.v1", { input: { messages } as never, preferredModel: "sandbox-1" }),
  ).rejects.toMatchObject({ code: "PromptTooLong", details: { maxTokens: 128_000 } });
});

test("the token bound is never below the count of OpenAI's tokenizer, nor above the bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), async (content) => {
      const bound = (await tokensAbove(sandbox1, [content], 0)) ?? 0;
      expect(bound).toBeLessThanOrEqual(Buffer.byteLength(content));
      const counted = await countTokens(content);
      expect(await tokensAbove(sandbox1, [content], counted - 1)).toBeGreaterThanOrEqual(counted);
    }),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});

test("a quote tells whether its price is exact, and an answer in tokens never has a fixed price", async () => {
  const { ctx } = await makeProject();
  setSettings({ OPENAI_API_KEY: "a key" });
  const text = (preferredModel: string, input: object) =>
    quotes.quote(ctx, "text.general.fast.v1", { input: input as never, preferredModel });
  const messages = [{ role: "user", content: "How deep is the sea?" }];
  const [counted, bounded, shaped] = [
    await text("gpt-5.6-luna", { messages }),
    await text("sandbox-1", { messages }),
    await text("gpt-5.6-luna", { messages, responseSchema: { type: "object" } }),
  ];
  expect([counted, bounded, shaped].map(({ pricing }) => pricing?.quote?.qualifier)).toEqual([
    "exact",
    "upper_bound",
    "upper_bound",
  ]);
  expect([counted, bounded, shaped].map(({ pricing }) => pricing?.quote?.kind)).toEqual(
    Array.from({ length: 3 }, () => "estimate"),
  );
  expect(counted.basis).toMatchObject({ inputTokens: 32 + (await countTokens("How deep is the sea?")) });
  const image = (input: object) =>
    quotes.quote(ctx, "image.generate.v1", {
      input: { prompt: "A kite", ...input },
      preferredModel: "gpt-image-2",
    });
  for (const [input, kind, qualifier] of [
    [{ quality: "high" }, "fixed", "exact"],
    [{ quality: "auto" }, "estimate", "upper_bound"],
    [{ width: 1200, height: 640 }, "estimate", "upper_bound"],
  ] as const)
    expect((await image(input)).pricing?.quote).toMatchObject({ kind, qualifier });
});
