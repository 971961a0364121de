import { z } from "zod";
import {
  atLeast,
  DiversityMode,
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

const PROMPT_CHARACTERS = 450;

export const SoundInput = z.strictObject({
  prompt: z.string().min(1).meta({ maxLength: PROMPT_CHARACTERS }),
  durationMs: z
    .int()
    .min(100)
    .max(22_000)
    .default(2_000)
    .describe("If a model cannot make a sound this short, it makes the shortest it can."),
  variantCount: VariantCount,
  promptInfluence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("1 follows the prompt as closely as possible."),
  diversityMode: DiversityMode,
  modelId: ModelId,
  providerExtensions: ProviderExtensions,
});

export default defineCapability({
  ...AUDIO,
  key: "audio.sfx.generate.v1",
  title: "Sound effects",
  description: "Makes a sound effect from a prompt, up to 22 seconds long, in one to four takes.",
  input: SoundInput,
  inputConstraints: {
    prompt: inCharacters(PROMPT_CHARACTERS),
  },
  features: { ...FEATURES, durationMs: { min: 100, max: 22_000, default: 2_000 }, promptInfluence: true },
  outputMediaType: "audio/ogg",
  intentExamples: [
    "Make the sound of a coin being picked up",
    "Generate rain on a tin roof",
    "A laser zap for a game",
    "I need a door slam sound effect",
  ],
  synonyms: ["sound effect", "sfx", "foley", "noise", "ambience", "whoosh", "sound"],
  taskTags: ["audio", "sound", "effects", "game"],
  trialEligible: true,
  readySummary: "Sound effects as Ogg files, as durable jobs with one artifact per take.",
  variants: (input) => input.variantCount,
  examples: [
    { title: "A coin", input: { prompt: "A coin is picked up, bright and short", durationMs: 900 } },
    {
      title: "Two takes of rain",
      input: { prompt: "Rain on a tin roof", durationMs: 6_000, variantCount: 2 },
    },
  ],
  execute: {
    port: "sound",
    accepts: (input, model) => isNamed(input.modelId, model) && isShortEnough(input.durationMs, model),
    prefers: (input, model) => Number(takesExtensions(input.providerExtensions, model)),
    call: (input, _options, model) => ({
      prompt: input.prompt,
      durationMs: atLeast(input.durationMs, model),
      count: input.variantCount,
      ...(input.promptInfluence === undefined ? {} : { promptInfluence: input.promptInfluence }),
      diverse: input.diversityMode !== "none",
      container: "ogg" as const,
      ...extensionsFor(input.providerExtensions, model),
    }),
    result: (result, input) => toAudioFiles(result, "sound", input.variantCount),
    bounds: (input, model) => ({
      durationMs: atLeast(input.durationMs, model) * input.variantCount,
      requests: input.variantCount,
    }),
  },
});
