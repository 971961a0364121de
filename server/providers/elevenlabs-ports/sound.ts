import type { ModelFacts, PortAdapter } from "../define";
import { requestTakes } from "./common";

/* Sound effects, which all cost the same. */

const FORMATS = { ogg: "opus_48000_96", mp3: "mp3_44100_128" } as const;

export const soundModels: ModelFacts[] = [
  {
    id: "eleven_text_to_sound_v2",
    port: "sound",
    title: "Eleven Text to Sound v2",
    price: { per: "request", micros: 120_000 },
    supports: {},
    duration: { minMs: 500, maxMs: 30_000 },
    audio: { extensions: { loop: "boolean" } },
  },
];

export const elevenLabsSound: PortAdapter<"sound"> = {
  api: "sound-generation",
  submit: ({ prompt, durationMs, count, promptInfluence, container, extensions }, io) =>
    requestTakes(io, `/v1/sound-generation?output_format=${FORMATS[container]}`, {
      count,
      bodyOf: () => ({
        text: prompt,
        duration_seconds: durationMs / 1000,
        ...(promptInfluence === undefined ? {} : { prompt_influence: promptInfluence }),
        model_id: io.model.id,
        ...extensions,
      }),
      usageOf: () => ({ requests: 1 }),
    }),
};
