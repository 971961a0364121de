import { z } from "zod";
import { charactersOf } from "@/server/platform/text/characters";
import type { AudioContainer, ModelFacts } from "@/server/providers/define";
import {
  DiversityMode,
  extensionsFor,
  FEATURES,
  formatFor,
  isNamed,
  ModelId,
  ProviderExtensions,
  takesExtensions,
  VariantCount,
} from "./audio/input";
import { AUDIO, toAudioFiles } from "./audio/takes";
import { defineCapability, inCharacters } from "./define";

const Share = z.number().min(0).max(1).optional();

export const VoiceInput = z.strictObject({
  text: z.string().min(1).meta({
    description: "The text to read aloud. Its maximum length depends on the model.",
    maxLength: 40_000,
  }),
  voiceId: z.string().min(1).describe("The provider's id or name for a voice."),
  modelId: ModelId,
  variantCount: VariantCount,
  diversityMode: DiversityMode,
  seed: z.int().min(0).max(4_294_967_295).optional(),
  outputFormatPreference: z
    .string()
    .min(1)
    .optional()
    .describe("ogg (default), mp3, or one of the provider's own format names that results in one of them."),
  voiceSettings: z
    .strictObject({
      stability: Share,
      similarityBoost: Share,
      style: Share,
      speed: z.number().min(0.25).max(4).optional(),
      useSpeakerBoost: z.boolean().optional(),
    })
    .optional(),
  providerExtensions: ProviderExtensions,
});
type VoiceInput = z.output<typeof VoiceInput>;

/** Only the settings that have a value. */
const settingsOf = ({ voiceSettings }: VoiceInput) =>
  Object.fromEntries(Object.entries(voiceSettings ?? {}).filter(([, value]) => value !== undefined));

function accepts(input: VoiceInput, model: ModelFacts): boolean {
  const { voices, settings = [] } = model.audio ?? {};
  if (!isNamed(input.modelId, model) || (voices && !voices.includes(input.voiceId))) return false;
  if (input.seed !== undefined && !model.supports.seed) return false;
  return Object.keys(settingsOf(input)).every((name) => settings.some((each) => each === name));
}

const CONTAINERS: Record<string, AudioContainer> = {
  ogg: "ogg",
  "audio/ogg": "ogg",
  mp3: "mp3",
  "audio/mpeg": "mp3",
};

/** `ogg` and `mp3`, or their media types, name a container; any other text must be one of the vendor's formats. */
function containerFor(preference: string | undefined, model: ModelFacts) {
  const container = preference === undefined ? "ogg" : CONTAINERS[preference];
  return container ? { container } : { container: "ogg" as const, ...formatFor(preference, model) };
}

export default defineCapability({
  ...AUDIO,
  key: "audio.voice.generate.v1",
  title: "Voice generation",
  description: "Reads a text aloud in a voice you name, in one to four takes.",
  input: VoiceInput,
  inputConstraints: {
    text: inCharacters(10_000, {
      eleven_multilingual_v2: 10_000,
      eleven_flash_v2_5: 40_000,
      eleven_turbo_v2_5: 40_000,
    }),
  },
  features: { ...FEATURES, voiceSettings: true, seed: true, noSilentTruncation: true },
  outputMediaType: "audio/ogg",
  intentExamples: [
    "Read this text aloud",
    "Make a voice-over for a product video",
    "Turn a chapter into speech",
    "Record a phone greeting in a warm voice",
  ],
  synonyms: [
    "speech",
    "text to speech",
    "tts",
    "voice",
    "voiceover",
    "narration",
    "narrate",
    "read aloud",
    "speak",
  ],
  taskTags: ["audio", "speech", "voice", "narration"],
  trialEligible: false,
  readySummary: "Spoken text as Ogg files, as durable jobs with one artifact per take.",
  variants: (input) => input.variantCount,
  examples: [
    {
      title: "A sentence",
      input: { text: "Welcome aboard. We leave at nine.", voiceId: "alloy" },
    },
    {
      title: "Three different calm takes",
      input: {
        text: "The lighthouse keeper counted the ships, one by one.",
        voiceId: "21m00Tcm4TlvDq8ikWAM",
        variantCount: 3,
        diversityMode: "auto",
        seed: 7,
        voiceSettings: { stability: 0.8, speed: 0.9 },
      },
    },
  ],
  execute: {
    port: "speech",
    accepts,
    prefers: (input, model) =>
      Number(model.audio?.voices?.includes(input.voiceId) ?? false) +
      Number(takesExtensions(input.providerExtensions, model)),
    call: (input, _options, model) => ({
      text: input.text,
      voiceId: input.voiceId,
      count: input.variantCount,
      ...(input.seed === undefined ? {} : { seed: input.seed }),
      ...(Object.keys(settingsOf(input)).length > 0 ? { settings: settingsOf(input) } : {}),
      diverse: input.diversityMode !== "none",
      ...containerFor(input.outputFormatPreference, model),
      ...extensionsFor(input.providerExtensions, model),
    }),
    result: (result, input) => toAudioFiles(result, "voice", input.variantCount),
    bounds: (input) => ({ characters: charactersOf(input.text) * input.variantCount }),
  },
});
