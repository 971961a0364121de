import type { SpeechRequest } from "@/server/contract/openai-media";
import { type Fields, MODEL_FIELDS } from "./fields";

/* POST /v1/audio/speech: converts its request to an input. The response is the file itself. */

export const SPEECH_FIELDS: Fields = {
  ...MODEL_FIELDS,
  "input.text": "input",
  "input.voiceId": "voice",
  "input.voiceSettings.speed": "speed",
  "input.outputFormatPreference": "response_format",
};

/** Opus is delivered in Ogg. Clients expect MP3 if they name no format. */
export const toSpeechInput = ({ input, voice, response_format, speed }: SpeechRequest) => ({
  text: input,
  voiceId: voice,
  outputFormatPreference: response_format === "opus" ? "ogg" : "mp3",
  ...(speed && speed !== 1 ? { voiceSettings: { speed } } : {}),
});
