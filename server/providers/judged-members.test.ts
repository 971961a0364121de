import { afterAll, beforeAll, describe, expect, test } from "vitest";
import anthropic from "./anthropic";
import deepseek from "./deepseek";
import type { ModelFacts, TextCall, TextSettings } from "./define";
import google from "./google";
import openai from "./openai";
import compatible, { modelsFromSetting, USUAL_MEMBERS } from "./openai-compatible";
import { isBeyondBounds } from "./priced-members";
import type { Provider } from "./provider";
import { ioFor, startVendor, type Vendor } from "./testing/vendor";

/*
 * Classifies each member of a sent request by its effect on the price. A member missing here fails the test: classify
 * it first, and count it in the bound (server/domain/quotes/tokens.ts, estimate.ts) or do not send it.
 */

const SENT = {
  /** Counted as prompt: the conversation, tools, the answer format, and members that are passed through. */
  input: [
    ...["messages", "input", "instructions", "contents", "systemInstruction", "system", "tools", "top_k"],
    ...["response_format", "text.format", "output_config.format", "generationConfig.responseJsonSchema"],
  ],
  /** Covered by the output limit, which includes reasoning and is counted once per answer. */
  output: [
    ...["max_tokens", "max_completion_tokens", "max_output_tokens", "generationConfig.maxOutputTokens", "n"],
    ...["reasoning_effort", "reasoning.effort", "output_config.effort", "thinking"],
    "generationConfig.thinkingConfig",
  ],
  /** The estimate assumes the requested tier, and the hold the dearest one. */
  tier: ["service_tier"],
  /** No vendor charges for these. */
  free: [
    ...["model", "temperature", "top_p", "stop", "stop_sequences", "seed", "frequency_penalty"],
    ...["presence_penalty", "tool_choice", "parallel_tool_calls", "toolConfig", "stream", "stream_options"],
    ...["store", "include", "generationConfig.temperature", "generationConfig.topP", "generationConfig.seed"],
    ...["generationConfig.stopSequences", "generationConfig.frequencyPenalty"],
    ...["generationConfig.presencePenalty", "generationConfig.responseMimeType"],
  ],
};
const JUDGED = new Set(Object.values(SENT).flat());
/** Members whose nested members are classified one by one. */
const WITHIN = ["text", "output_config", "generationConfig", "reasoning"];

const SETTINGS: Required<Omit<TextSettings, "members">> = {
  ...{ topP: 0.5, stop: ["x"], seed: 1, frequencyPenalty: 0.5, presencePenalty: 0.5, choices: 2 },
};

/**
 * A call with everything that a model accepts, with or without reasoning, since some vendors refuse settings while they
 * reason.
 */
function fullest({ supports, takes = [], members }: ModelFacts, reasons: boolean): TextCall {
  const settings = Object.fromEntries(takes.map((name) => [name, SETTINGS[name]])) as TextSettings; // the names are the model's own settings
  const asked = { type: "text" as const, text: "JSON, please." };
  const picture = { type: "image" as const, mediaType: "image/png", bytes: Buffer.from("x") };
  return {
    messages: [
      { role: "system", content: "Be short.", cache: [{}] },
      { role: "user", content: supports.vision ? [asked, picture] : asked.text },
      { role: "user", content: "Now.", name: "ada" },
    ],
    maxOutputTokens: 4_000,
    responseFormat: supports.jsonSchema
      ? { type: "json_schema", name: "answer", schema: { type: "object" } }
      : { type: supports.jsonObject ? "json_object" : "text" },
    ...(supports.temperature && !reasons ? { temperature: 0.5 } : {}),
    ...(supports.reasoning && reasons ? { reasoningIntent: "deep" as const } : {}),
    tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
    ...(supports.forcedTools && !reasons ? { toolChoice: "required" as const } : {}),
    parallelToolCalls: false,
    settings: { ...settings, ...(members ? { members: { top_k: 1 } } : {}) },
  };
}

const PROVIDERS: Provider[] = [
  ...[openai, anthropic, google, deepseek],
  { ...compatible, models: modelsFromSetting("m:1:2:pictures", [...USUAL_MEMBERS, "reasoning_effort"]) },
];

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const namesIn = (body: Record<string, unknown>): string[] =>
  Object.entries(body).flatMap(([name, value]) =>
    WITHIN.includes(name) ? Object.keys(value as object).map((inner) => `${name}.${inner}`) : [name],
  );

describe("sent members", () => {
  test.each(PROVIDERS.map((provider) => [provider.name, provider] as const))(
    "every member that %s receives is classified",
    async (_name, provider) => {
      for (const model of provider.models.filter(({ port }) => port === "text")) {
        vendor.answer({ json: {} });
        const io = ioFor(provider, model.id, "text", {
          baseUrl: vendor.url,
          credentials: { apiKey: "sk-1" },
        });
        for (const reasons of [true, false]) {
          const call = fullest(model, reasons);
          // The answer is empty; only the request matters.
          await provider.text?.submit(call, { ...io, tier: "flex" }).catch(() => {});
          await provider.text?.stream?.(call, io, () => {}).catch(() => {});
        }
        const sent = vendor.arrived.map(({ body }) => JSON.parse(body || "{}"));
        expect(sent.length, model.id).toBeGreaterThan(0);
        const names = [...new Set(sent.flatMap(namesIn))];
        expect(
          names.filter((name) => !JUDGED.has(name)),
          model.id,
        ).toEqual([]);
      }
    },
  );
});

test("the usual members have no price beyond their tokens", () => {
  expect(USUAL_MEMBERS).toEqual([
    ...["top_k", "min_p", "repetition_penalty", "guided_*", "chat_template_kwargs", "logit_bias"],
  ]);
  expect(USUAL_MEMBERS.filter(isBeyondBounds)).toEqual([]);
});

test.each([
  ...[
    "service_tier",
    "web_search_options",
    "prediction",
    "plugins",
    "best_of",
    "cache_control",
    "models",
    "audio",
  ],
  ...["Best_Of", "search_parameters", "extra_body"],
])("%s is beyond every price bound", (name) => expect(isBeyondBounds(name)).toBe(true));
