import type { ModelFacts, PortAdapter } from "../define";
import { requestTakes } from "./common";

/* Music, billed by the requested length. */

const FORMATS = { ogg: "opus_48000_96", mp3: "mp3_44100_128" } as const;

export const musicModels = [
  { id: "music_v1", title: "Eleven Music v1" },
  { id: "music_v2", title: "Eleven Music v2" },
].map(
  (model): ModelFacts => ({
    ...model,
    port: "music",
    price: { per: "second", micros: 5_000 },
    supports: {},
    duration: { minMs: 3_000, maxMs: 600_000 },
    audio: { extensions: { sign_with_c2pa: "boolean" } },
  }),
);

export const elevenLabsMusic: PortAdapter<"music"> = {
  api: "music",
  submit: ({ prompt, durationMs, count, instrumental, container, extensions }, io) =>
    requestTakes(io, `/v1/music?output_format=${FORMATS[container]}`, {
      count,
      bodyOf: () => ({
        prompt,
        music_length_ms: durationMs,
        model_id: io.model.id,
        force_instrumental: instrumental,
        ...extensions,
      }),
      usageOf: () => ({ durationMs }),
    }),
};
