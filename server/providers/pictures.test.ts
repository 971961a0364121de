import { expect, test } from "vitest";
import anthropic from "./anthropic";
import type { ModelFacts } from "./define";
import google from "./google";
import openai from "./openai";
import { modelsFromSetting } from "./openai-compatible";
import { pictureTokensAtMost } from "./pictures";

/*
 * Vendors' published figures: Claude's patches of 28 pixels, OpenAI's of 32 with a factor, and Gemini's single figure.
 */

const modelOf = ({ models }: { models: ModelFacts[] }, id: string) =>
  models.find((model) => model.id === id)!;

test.each<[string, ModelFacts, [number, number], number]>([
  ["Claude Opus 5.5", modelOf(anthropic, "claude-opus-5-5"), [256, 256], 100],
  ["Claude Opus 5.5", modelOf(anthropic, "claude-opus-5-5"), [1_024, 1_024], 1_369],
  ["Claude Opus 5.5", modelOf(anthropic, "claude-opus-5-5"), [1_920, 1_080], 2_691],
  ["Claude Opus 5.5", modelOf(anthropic, "claude-opus-5-5"), [4_032, 3_024], 4_784],
  ["Claude Haiku 4.5", modelOf(anthropic, "claude-haiku-4-5"), [768, 768], 784],
  ["Claude Haiku 4.5", modelOf(anthropic, "claude-haiku-4-5"), [4_032, 3_024], 1_568],
  ["GPT-5.6 Luna", modelOf(openai, "gpt-5.6-luna"), [256, 256], 77],
  ["GPT-5.6 Luna", modelOf(openai, "gpt-5.6-luna"), [1_024, 1_024], 1_229],
  ["GPT-5.6 Luna", modelOf(openai, "gpt-5.6-luna"), [4_032, 3_024], 3_000],
  ["GPT-4.1 mini", modelOf(openai, "gpt-4.1-mini"), [512, 512], 415],
  ["GPT-4.1 mini", modelOf(openai, "gpt-4.1-mini"), [1, 1], 2],
  ["Gemini 3.8 Flash", modelOf(google, "gemini-3.8-flash"), [16, 16], 1_120],
  ["a server of one's own", modelsFromSetting("m:1:2:pictures")[0]!, [16, 16], 8_192],
  ["a server of one's own", modelsFromSetting("m:1:2:pictures")[0]!, [3_000, 1_000], 11_844],
  ["a server of one's own", modelsFromSetting("m:1:2:pictures")[0]!, [8_000, 5_000], 16_384],
  // Together counts 6,404 for Llama 3.2.
  ["a server of one's own", modelsFromSetting("m:1:2:pictures")[0]!, [561, 561], 8_192],
  ["one whose owner knows it", modelsFromSetting("m:1:2:pictures=700")[0]!, [8_000, 5_000], 700],
])(
  "a picture for %s (%#) has the token bound of its size and model",
  (_name, model, [width, height], tokens) => {
    expect(pictureTokensAtMost(model, { width, height })).toBe(tokens);
  },
);

test("a picture of unknown size counts the model's maximum, and a model without a maximum has no bound", () => {
  expect(pictureTokensAtMost({ imageTokens: 3_000, imagePatch: { edge: 32 } }, {})).toBe(3_000);
  expect(pictureTokensAtMost({}, { width: 1, height: 1 })).toBeNaN();
});
