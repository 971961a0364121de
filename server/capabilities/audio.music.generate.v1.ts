import { z } from "zod";
import {
  atLeast,
  DURABLE,
  extensionsFor,
  FEATURES,
  isNamed,
  isShortEnough,
  ModelId,
  ProviderExtensions,
  takesExtensions,
  VariantCount,
} from "./audio/input";
import { AudioOutput, toAudioFiles } from "./audio/takes";
import { defineCapability } from "./define";

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
  key: "audio.music.generate.v1",
  title: "Music generation",
  description: "Composes music from a prompt, three seconds to five minutes long, in one to four takes.",
  modality: "audio",
  family: "audio",
  category: "generation",
  modes: ["job_async"],
  input: MusicInput,
  output: AudioOutput,
  inputConstraints: {
    prompt: {
      measurement: "characters",
      max: PROMPT_CHARACTERS,
      overflow: "reject",
      semantic: true,
      byModel: { music_v1: { max: PROMPT_CHARACTERS } },
    },
  },
  features: { ...FEATURES, durationMs: { min: 3_000, max: 300_000, default: 30_000 }, instrumental: true },
  inputMediaTypes: ["text/plain"],
  outputKind: "artifact",
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
  durable: DURABLE,
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
