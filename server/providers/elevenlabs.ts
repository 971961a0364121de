import { z } from "zod";
import { explain, headers } from "./elevenlabs-ports/common";
import { music, musicModels } from "./elevenlabs-ports/music";
import { sound, soundModels } from "./elevenlabs-ports/sound";
import { speech, speechModels } from "./elevenlabs-ports/speech";
import { getJson } from "./http";
import { defineProvider } from "./provider";

/*
 * ElevenLabs: speech, music and sound effects; each answer is the file itself. Ids and limits are from its API
 * reference, prices from its API price list (elevenlabs.io/pricing/api).
 */

export default defineProvider({
  name: "elevenlabs",
  title: "ElevenLabs",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An ElevenLabs API key.") }),
  environment: { credentials: { apiKey: "ELEVENLABS_API_KEY" }, baseUrl: "ELEVENLABS_BASE_URL" },
  defaultBaseUrl: "https://api.elevenlabs.io",
  models: [...speechModels, ...musicModels, ...soundModels],
  speech,
  music,
  sound,
  check: async (account) => {
    await getJson(account, "/v1/user", { headers: headers(account), explain });
  },
});
