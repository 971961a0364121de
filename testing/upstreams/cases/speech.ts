import { bytes, json, type MadeCase, type MadeExpected, page } from "../made";
import { SOUND } from "../made-files";

/* Speech, returned as the file itself: OpenAI's Audio API at 15 micros a character, ElevenLabs at 100. */

const FILE = bytes(SOUND, "audio/ogg");
const withCost = (credits: number) => ({
  ...FILE,
  headers: { ...FILE.headers, "character-cost": String(credits) },
});
/** The cost in micros of the whole text, which names the case (`wordsOf`). */
const costOf = (name: string) => [...`case ${name} `].length * 15;

const FULL: MadeExpected = { fails: "ProviderUnavailable", hold: "released", isSafe: true };
const WAITS = { headers: { "retry-after": "3600" } };
const FAILED: MadeExpected = { fails: "PROVIDER_ERROR", hold: "released" };

export const SPEECH: readonly MadeCase[] = [
  {
    name: "speech-plain",
    from: ["https://platform.openai.com/docs/api-reference/audio"],
    maker: "speech",
    plays: { submit: FILE },
    expect: { files: 1, mediaType: "audio/ogg", cost: costOf("speech-plain") },
  },
  {
    name: "speech-under-another-type",
    from: ["openclaw/openclaw#97454"],
    maker: "speech",
    plays: { submit: bytes(SOUND, "text/plain") },
    expect: { files: 1, mediaType: "audio/ogg", cost: costOf("speech-under-another-type") },
  },
  {
    name: "speech-full-with-200",
    from: ["nodetool-ai/nodetool#5755"],
    maker: "speech",
    plays: { submit: json({ error: { code: 429, message: "Rate limited." } }, WAITS) },
    expect: { ...FULL, said: { code: null, message: "Rate limited." } },
  },
  {
    name: "speech-error-as-audio",
    from: ["maximhq/bifrost#5963"],
    maker: "speech",
    plays: {
      submit: bytes(
        Buffer.from('{"error":{"message":"The engine died.","type":"server_error"}}'),
        "audio/ogg",
      ),
    },
    expect: { ...FAILED, said: { code: "server_error", message: "The engine died." } },
  },
  {
    name: "speech-page",
    from: ["maximhq/bifrost#5963"],
    maker: "speech",
    plays: { submit: page(200) },
    expect: FAILED,
  },
  {
    name: "speech-empty",
    from: ["elevenlabs/elevenlabs-python#13"],
    maker: "speech",
    plays: { submit: bytes(Buffer.alloc(0), "audio/ogg") },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: costOf("speech-empty") },
  },
  {
    name: "speech-cut-off",
    from: ["elevenlabs/elevenlabs-python#13"],
    maker: "speech",
    plays: { submit: bytes(SOUND.subarray(0, SOUND.length - 20), "audio/ogg") },
    expect: { fails: "PROVIDER_ERROR", cost: costOf("speech-cut-off") },
  },
  {
    name: "voice-plain",
    from: ["https://elevenlabs.io/docs/api-reference/text-to-speech/convert"],
    maker: "elevenlabs",
    plays: { submit: withCost(17) },
    expect: { files: 1, mediaType: "audio/ogg", cost: 1_700 },
  },
  {
    name: "voice-quota-with-200",
    from: ["home-assistant/core#160414", "Significant-Gravitas/AutoGPT#263"],
    maker: "elevenlabs",
    plays: {
      submit: json({ detail: { status: "quota_exceeded", message: "You have 0 credits remaining." } }),
    },
    expect: {
      fails: "ProviderRejected",
      hold: "released",
      isSafe: true,
      said: { code: "quota_exceeded", message: "You have 0 credits remaining." },
    },
  },
  {
    name: "voice-full-with-200",
    from: ["elevenlabs/elevenlabs-docs#812"],
    maker: "elevenlabs",
    plays: { submit: json({ detail: { status: "too_many_concurrent_requests", message: "Busy." } }, WAITS) },
    expect: { ...FULL, said: { code: "too_many_concurrent_requests", message: "Busy." } },
  },
];
