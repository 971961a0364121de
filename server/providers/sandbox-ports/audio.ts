import { z } from "zod";
import { Count, CountsOf, figures } from "../counts";
import type { AnyCall, AudioResult, ModelFacts, PortAdapter, Price, Progress, ProviderIo } from "../define";
import { parseReply, postJson, safeWord } from "../http";
import { explainSandboxError, MAX_FILES_BYTES, SANDBOX_MODELS, sandboxHeaders } from "./common";

/* Speech, music and sound effects that the sandbox synthesizes; equal calls give equal sounds. */

const AudioReply = z.object({
  id: z.string(),
  model: z.string(),
  takes: z.array(z.object({ mediaType: z.string(), base64: z.string() })),
  usage: CountsOf({ characters: Count, durationMs: Count }),
});

/**
 * Models that misbehave about files: `partial` returns one take fewer than requested, `garbled` returns unplayable
 * takes.
 */
const AUDIO_MODELS: typeof SANDBOX_MODELS = [
  ...SANDBOX_MODELS,
  ...["partial", "garbled"].map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    onlyByName: true as const,
  })),
];

const modelsOf = (
  port: "speech" | "music" | "sound",
  price: (isDear: boolean) => Price,
  facts: Partial<ModelFacts>,
) =>
  AUDIO_MODELS.map(
    (model): ModelFacts => ({
      ...model,
      port,
      price: price(model.id === "sandbox-2"),
      supports: {},
      ...facts,
    }),
  );

const perSecond =
  (micros: number) =>
  (isDear: boolean): Price => ({
    per: "second",
    micros: isDear ? micros * 2 : micros,
  });

export const audioModels: ModelFacts[] = [
  ...modelsOf(
    "speech",
    (isDear) => ({ per: "million_characters", micros: isDear ? 30_000_000 : 15_000_000 }),
    {
      supports: { seed: true },
      maxCharacters: 40_000,
      audio: { settings: ["stability", "similarityBoost", "style", "speed", "useSpeakerBoost"] },
    },
  ),
  ...modelsOf("music", perSecond(2_000), { duration: { minMs: 3_000, maxMs: 300_000 } }),
  ...modelsOf("sound", perSecond(1_000), { duration: { minMs: 100, maxMs: 22_000 } }),
];

async function record(path: string, call: AnyCall, io: ProviderIo): Promise<Progress<AudioResult>> {
  const reply = await postJson(io, path, {
    body: { model: io.model.id, ...call },
    headers: sandboxHeaders(io),
    explain: explainSandboxError,
    maxResponseBytes: MAX_FILES_BYTES,
  });
  const { id, model, takes, usage } = parseReply(AudioReply, reply, io);
  return {
    state: "done",
    result: {
      takes: takes.map(({ mediaType, base64 }) => ({ mediaType, bytes: Buffer.from(base64, "base64") })),
    },
    usage: usage ? figures(usage) : null,
    providerRequestId: safeWord(id, io),
    providerModel: safeWord(model, io),
    httpStatus: reply.status,
  };
}

export const sandboxSpeech: PortAdapter<"speech"> = {
  api: "speech",
  submit: (call, io) => record("/v1/speech", call, io),
};
export const sandboxMusic: PortAdapter<"music"> = {
  api: "music",
  submit: (call, io) => record("/v1/music", call, io),
};
export const sandboxSound: PortAdapter<"sound"> = {
  api: "sound-generation",
  submit: (call, io) => record("/v1/sound", call, io),
};
