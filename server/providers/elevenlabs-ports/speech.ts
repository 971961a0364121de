import { isCount } from "../counts";
import type { ModelFacts, PortAdapter, SpeechCall } from "../define";
import { creditsOf, requestTakes } from "./common";

const OPUS = ["opus_48000_32", "opus_48000_64", "opus_48000_96", "opus_48000_128", "opus_48000_192"];
const MP3 = [
  "mp3_22050_32",
  "mp3_24000_48",
  "mp3_44100_32",
  "mp3_44100_64",
  "mp3_44100_96",
  "mp3_44100_128",
  "mp3_44100_192",
];
/** Opus arrives in an Ogg container. */
const DEFAULTS = { ogg: "opus_48000_96", mp3: "mp3_44100_128" } as const;

/**
 * `enable_logging: false` makes the vendor store nothing; only enterprise plans support it. The vendor takes it as a
 * query parameter.
 */
const QUERY = ["enable_logging"];
const AUDIO: ModelFacts["audio"] = {
  settings: ["stability", "similarityBoost", "style", "speed", "useSpeakerBoost"],
  formats: [...OPUS, ...MP3],
  extensions: {
    enable_logging: "boolean",
    language_code: "string",
    previous_text: "string",
    next_text: "string",
    apply_text_normalization: ["auto", "on", "off"],
    apply_language_text_normalization: "boolean",
    use_pvc_as_ivc: "boolean",
  },
};

/**
 * List prices by model, in US dollars per million characters, with the credits per character and the most characters of
 * a text.
 */
const MODELS = [
  { id: "eleven_multilingual_v2", title: "Eleven Multilingual v2", dollars: 100, credits: 1, most: 10_000 },
  { id: "eleven_flash_v2_5", title: "Eleven Flash v2.5", dollars: 50, credits: 0.5, most: 40_000 },
  { id: "eleven_turbo_v2_5", title: "Eleven Turbo v2.5", dollars: 50, credits: 0.5, most: 40_000 },
];

export const elevenLabsSpeechModels = MODELS.map(
  ({ id, title, dollars, most }): ModelFacts => ({
    id,
    port: "speech",
    title,
    price: { per: "million_characters", micros: dollars * 1_000_000 },
    supports: { seed: true },
    maxCharacters: most,
    audio: AUDIO,
  }),
);

const SEEDS = 4_294_967_296;

function toBody(call: SpeechCall, modelId: string, take: number) {
  const { text, seed, settings, diverse } = call;
  const extensions = Object.entries(call.extensions ?? {}).filter(([name]) => !QUERY.includes(name));
  return {
    text,
    model_id: modelId,
    ...(settings ? { voice_settings: toSettings(settings) } : {}),
    // Equal seeds make equal takes, so takes that should differ each get a seed of their own.
    ...(seed === undefined ? {} : { seed: diverse ? (seed + take) % SEEDS : seed }),
    ...Object.fromEntries(extensions),
  };
}

const toSettings = ({
  stability,
  similarityBoost,
  style,
  speed,
  useSpeakerBoost,
}: NonNullable<SpeechCall["settings"]>) => ({
  stability,
  similarity_boost: similarityBoost,
  style,
  speed,
  use_speaker_boost: useSpeakerBoost,
});

export const elevenLabsSpeech: PortAdapter<"speech"> = {
  api: "text-to-speech",
  submit(call, io) {
    const logging = call.extensions?.enable_logging;
    const query = new URLSearchParams({
      ...(logging === undefined ? {} : { enable_logging: String(logging) }),
      output_format: call.format ?? DEFAULTS[call.container],
    });
    const path = `/v1/text-to-speech/${encodeURIComponent(call.voiceId)}?${query}`;
    const perCharacter = MODELS.find(({ id }) => id === io.model.id)?.credits ?? 1;
    return requestTakes(io, path, {
      count: call.count,
      bodyOf: (take) => toBody(call, io.model.id, take),
      usageOf: (reply) => {
        // Some voices cost a multiple. The credits include it, so they become characters at the list price.
        const credits = creditsOf(reply);
        const characters = credits === null ? null : Math.ceil(credits / perCharacter);
        return isCount(characters) ? { characters } : null;
      },
    });
  },
};
