import { z } from "zod";
import type { ModelFacts, ProviderAccount } from "./define";
import { explainGoogleError, googleHeaders } from "./google-ports/common";
import { googleEmbedding, googleEmbeddingModels } from "./google-ports/embedding";
import { googleImage, googleImageModels } from "./google-ports/image";
import { googlePins } from "./google-ports/pins";
import { googleText } from "./google-ports/text";
import { getJson } from "./http";
import { defineProvider } from "./provider";

/* Google: the Gemini API, with text and pictures through generateContent. */

async function check(account: ProviderAccount): Promise<void> {
  await getJson(account, "/v1beta/models?pageSize=1", {
    headers: googleHeaders(account),
    explain: explainGoogleError,
  });
}

/*
 * Limits are from the vendor's model pages, prices from ai.google.dev/gemini-api/docs/pricing as of October 2026; of
 * several prices the highest within the listed `contextWindow` is used. A picture in a prompt counts at most 1,120
 * tokens at the default resolution.
 */
const GEMINI: Pick<
  ModelFacts,
  "port" | "contextWindow" | "maxOutputTokens" | "imageTokens" | "supports" | "takes"
> = {
  port: "text",
  takes: ["topP", "stop", "seed", "frequencyPenalty", "presencePenalty"],
  contextWindow: 1_048_576,
  maxOutputTokens: 65_536,
  imageTokens: 1_120,
  supports: {
    jsonObject: true,
    jsonSchema: true,
    reasoning: true,
    tools: true,
    forcedTools: true,
    stream: true,
    vision: true,
  },
};

export default defineProvider({
  name: "google",
  title: "Google Gemini",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("A Gemini API key from Google AI Studio.") }),
  environment: { credentials: { apiKey: "GEMINI_API_KEY" }, baseUrl: "GEMINI_BASE_URL" },
  defaultBaseUrl: "https://generativelanguage.googleapis.com",
  models: [
    {
      ...GEMINI,
      id: "gemini-3.5-flash-lite",
      title: "Gemini 3.5 Flash-Lite",
      price: { per: "million_tokens", input: 300_000, cachedInput: 30_000, output: 2_500_000 },
      grades: ["fast"],
    },
    {
      ...GEMINI,
      id: "gemini-3.8-flash",
      title: "Gemini 3.8 Flash",
      // The price from 2027 on; it is half until then.
      price: { per: "million_tokens", input: 1_500_000, cachedInput: 150_000, output: 7_500_000 },
      grades: ["fast", "reasoning"],
    },
    {
      ...GEMINI,
      id: "gemini-3.1-pro-preview",
      title: "Gemini 3.1 Pro",
      // For prompts up to 200,000 tokens; longer ones cost 4 and 18 US dollars.
      price: { per: "million_tokens", input: 2_000_000, output: 12_000_000 },
      contextWindow: 200_000,
      supports: { ...GEMINI.supports, temperature: true },
      grades: ["reasoning", "frontier", "longform"],
    },
    ...googleImageModels,
    ...googleEmbeddingModels,
  ],
  check,
  text: googleText,
  image: googleImage,
  embedding: googleEmbedding,
  pins: googlePins,
});
