import { z } from "zod";
import { elevenLabsHeaders, explainElevenLabsError } from "./elevenlabs-ports/common";
import { elevenLabsMusic, musicModels } from "./elevenlabs-ports/music";
import { elevenLabsSound, soundModels } from "./elevenlabs-ports/sound";
import { elevenLabsSpeech, elevenLabsSpeechModels } from "./elevenlabs-ports/speech";
import { getJson } from "./http";
import { defineProvider } from "./provider";

/*
 * ElevenLabs: speech, music and sound effects; each answer is the file itself. Ids and limits are from its API
 * reference; docs/reference/providers.md names the source of the prices.
 */

export default defineProvider({
  name: "elevenlabs",
  title: "ElevenLabs",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An ElevenLabs API key.") }),
  environment: { credentials: { apiKey: "ELEVENLABS_API_KEY" }, baseUrl: "ELEVENLABS_BASE_URL" },
  defaultBaseUrl: "https://api.elevenlabs.io",
  models: [...elevenLabsSpeechModels, ...musicModels, ...soundModels],
  speech: elevenLabsSpeech,
  music: elevenLabsMusic,
  sound: elevenLabsSound,
  check: async (account) => {
    await getJson(account, "/v1/user", {
      headers: elevenLabsHeaders(account),
      explain: explainElevenLabsError,
    });
  },
});
