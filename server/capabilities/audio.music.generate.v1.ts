import { z } from "zod";
import {
  atLeast,
  extensionsFor,
  FEATURES,
  isNamed,
  isShortEnough,
  ModelId,
  ProviderExtensions,
  takesExtensions,
  VariantCount,
} from "./audio/input";
import { AUDIO, toAudioFiles } from "./audio/takes";
import { defineCapability, inCharacters } from "./define";

const PROMPT_CHARACTERS = 4_100;

export const MusicInput = z.strictObject({
  prompt: z.string().min(1).meta({ maxLength: PROMPT_CHARACTERS }),
  durationMs: z.int().min(3_000).max(300_000).default(30_000),
  variantCount: VariantCount,
  forceInstrumental: z.boolean().default(true).describe("Instrumental only, without vocals."),
  modelId: ModelId,
  providerExtensions: ProviderExtensions,
});

export default defineCapability({
  ...AUDIO,
  key: "audio.music.generate.v1",
  title: "Music generation",
  description: "Composes music from a prompt, three seconds to five minutes long, in one to four takes.",
  input: MusicInput,
  inputConstraints: {
    prompt: inCharacters(PROMPT_CHARACTERS, { music_v1: PROMPT_CHARACTERS }),
  },
  features: { ...FEATURES, durationMs: { min: 3_000, max: 300_000, default: 30_000 }, instrumental: true },
  outputMediaType: "audio/mpeg",
  intentExamples: [
    "Compose background music for a video",
    "Make a calm piano loop",
    "Write an upbeat theme song for a game",
    "Generate a thirty second jingle",
  ],
  synonyms: ["song", "soundtrack", "melody", "instrumental", "jingle", "compose", "theme", "score", "tune"],
  taskTags: ["audio", "music", "composition"],
  trialEligible: false,
  readySummary: "Music as MP3 files, as durable jobs with one artifact per take.",
  variants: (input) => input.variantCount,
  examples: [
    { title: "Half a minute of calm piano", input: { prompt: "Calm piano with soft strings, slow" } },
    {
      title: "Two takes of an upbeat theme",
      input: { prompt: "Upbeat electronic theme for a racing game", durationMs: 12_000, variantCount: 2 },
    },
  ],
  execute: {
    port: "music",
    accepts: (input, model) => isNamed(input.modelId, model) && isShortEnough(input.durationMs, model),
    prefers: (input, model) => Number(takesExtensions(input.providerExtensions, model)),
    call: (input, _options, model) => ({
      prompt: input.prompt,
      durationMs: atLeast(input.durationMs, model),
      count: input.variantCount,
      instrumental: input.forceInstrumental,
      container: "mp3" as const,
      ...extensionsFor(input.providerExtensions, model),
    }),
    result: (result, input) => toAudioFiles(result, "music", input.variantCount),
    bounds: (input, model) => ({ durationMs: atLeast(input.durationMs, model) * input.variantCount }),
  },
});
