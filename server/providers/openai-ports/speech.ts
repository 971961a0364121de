import type { AudioResult, ModelFacts, PortAdapter } from "../define";
import { requireFile } from "../file-answer";
import { postForFile, safeWord } from "../http";
import { addUsages, inTurn } from "../takes";
import { explainOpenAiError, openAiHeaders } from "./common";

/*
 * Speech through the Audio API: one request makes one take, and the answer is the file. Opus arrives in an Ogg
 * container.
 */

const VOICES = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];
const FORMATS = { ogg: "opus", mp3: "mp3" } as const;

export const openAiSpeechModels = [
  { id: "tts-1", title: "TTS-1", micros: 15_000_000 },
  { id: "tts-1-hd", title: "TTS-1 HD", micros: 30_000_000 },
].map(
  ({ id, title, micros }): ModelFacts => ({
    id,
    port: "speech",
    title,
    price: { per: "million_characters", micros },
    supports: {},
    maxCharacters: 4_096,
    audio: { voices: VOICES, settings: ["speed"] },
  }),
);

export const openAiSpeech: PortAdapter<"speech"> = {
  api: "audio-speech",
  submit(call, io) {
    const { text, voiceId, settings, container } = call;
    const body = {
      model: io.model.id,
      input: text,
      voice: voiceId,
      response_format: FORMATS[container],
      ...(settings?.speed === undefined ? {} : { speed: settings.speed }),
    };
    const take = async () => {
      const options = { explain: explainOpenAiError };
      const answer = await postForFile(io, "/audio/speech", { body, headers: openAiHeaders(io), ...options });
      const reply = requireFile(answer, io, { vendor: "OpenAI", ...options });
      const { bytes, mediaType } = reply;
      return {
        state: "done" as const,
        result: { takes: [{ bytes, mediaType }] },
        // The vendor reports no usage and bills the characters sent.
        usage: { characters: [...text].length },
        providerRequestId: safeWord(reply.header("x-request-id"), io),
        providerModel: null,
        httpStatus: reply.status,
      };
    };
    const join = (results: AudioResult[]) => ({ takes: results.flatMap(({ takes }) => takes) });
    return inTurn(call.count, take, join, addUsages);
  },
};
