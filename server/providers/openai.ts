import { z } from "zod";
import { bearer, getJson, parseReply } from "./http";
import { explainOpenAiError } from "./openai-ports/common";
import { openAiEmbedding, openAiEmbeddingModels } from "./openai-ports/embedding";
import { openAiImage, openAiImageModels } from "./openai-ports/image";
import { openAiPins } from "./openai-ports/pins";
import { openAiSpeech, openAiSpeechModels } from "./openai-ports/speech";
import { openAiText } from "./openai-ports/text";
import { defineProvider } from "./provider";

/* OpenAI: text through the Responses API. Each port has its own file. */

const REASONING_MODEL = {
  jsonObject: true,
  jsonSchema: true,
  reasoning: true,
  tools: true,
  forcedTools: true,
  stream: true,
  deferred: true,
  vision: true,
};
/** High detail: at most 2,500 patches of 32 pixels, at 1.2 tokens each. */
const PICTURE = { imageTokens: 3_000, imagePatch: { edge: 32, tokensPerHundred: 120 } };
/**
 * Reasoning is billed as output and not shown. The ratio is from the only example in the vendor's guide: 1,186 output
 * tokens, of which 162 were visible (developers.openai.com/api/docs/guides/reasoning).
 */
const HIDING = { hiddenOutput: 7.3 };
/** Flex processing, at half the token rates. */
const FLEX = { flexDiscountBps: 5_000 };

export default defineProvider({
  name: "openai",
  title: "OpenAI",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An API key for an OpenAI project.") }),
  environment: { credentials: { apiKey: "OPENAI_API_KEY" }, baseUrl: "OPENAI_BASE_URL" },
  defaultBaseUrl: "https://api.openai.com/v1",
  models: [
    {
      id: "gpt-5.6-luna",
      port: "text",
      title: "GPT-5.6 Luna",
      price: { per: "million_tokens", input: 1_000_000, cachedInput: 100_000, output: 6_000_000, ...FLEX },
      contextWindow: 400_000,
      tokenizer: "o200k_base",
      maxOutputTokens: 128_000,
      grades: ["fast", "reasoning"],
      ...PICTURE,
      ...HIDING,
      supports: REASONING_MODEL,
    },
    {
      id: "gpt-5.6-terra",
      port: "text",
      title: "GPT-5.6 Terra",
      price: { per: "million_tokens", input: 2_500_000, cachedInput: 250_000, output: 15_000_000, ...FLEX },
      contextWindow: 400_000,
      tokenizer: "o200k_base",
      maxOutputTokens: 128_000,
      grades: ["reasoning", "longform"],
      ...PICTURE,
      ...HIDING,
      supports: REASONING_MODEL,
    },
    {
      id: "gpt-5.6-sol",
      port: "text",
      title: "GPT-5.6 Sol",
      price: { per: "million_tokens", input: 5_000_000, cachedInput: 500_000, output: 30_000_000, ...FLEX },
      contextWindow: 1_050_000,
      tokenizer: "o200k_base",
      maxOutputTokens: 128_000,
      grades: ["reasoning", "frontier", "longform"],
      ...PICTURE,
      ...HIDING,
      supports: REASONING_MODEL,
    },
    {
      id: "gpt-4.1-mini",
      port: "text",
      title: "GPT-4.1 mini",
      price: { per: "million_tokens", input: 400_000, cachedInput: 100_000, output: 1_600_000 },
      contextWindow: 1_047_576,
      tokenizer: "o200k_base",
      maxOutputTokens: 32_768,
      hiddenOutput: 1, // The model does not reason.
      takes: ["topP"],
      grades: ["fast"],
      // High detail: at most 1,536 patches of 32 pixels, at 1.62 tokens each.
      imageTokens: 2_489,
      imagePatch: { edge: 32, tokensPerHundred: 162 },
      supports: {
        jsonObject: true,
        jsonSchema: true,
        temperature: true,
        tools: true,
        forcedTools: true,
        stream: true,
        vision: true,
      },
    },
    ...openAiImageModels,
    ...openAiSpeechModels,
    ...openAiEmbeddingModels,
  ],
  text: openAiText,
  image: openAiImage,
  speech: openAiSpeech,
  embedding: openAiEmbedding,
  // Lists the account's models, which needs the key, changes nothing and is free.
  async check(account) {
    const reply = await getJson(account, "/models", {
      headers: bearer(account),
      explain: explainOpenAiError,
    });
    parseReply(z.object({ data: z.array(z.unknown()) }), reply, account);
  },
  pins: openAiPins,
});
