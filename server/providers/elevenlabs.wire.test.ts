import { ElevenLabsClient } from "@elevenlabs/elevenlabs-js";
import elevenlabs from "./elevenlabs";
import { ioFor } from "./testing/vendor";
import { sendsWhatItsClientSends, type WireComparison } from "./testing/wire";

const SECRET = "xi-wire-1";
const clientAt = (baseUrl: string) => new ElevenLabsClient({ apiKey: SECRET, baseUrl, maxRetries: 0 });
const io = (port: "speech" | "music" | "sound", model: string, baseUrl: string) =>
  ioFor(elevenlabs, model, port, { baseUrl, credentials: { apiKey: SECRET } });
const answer = { bytes: Buffer.from("OggS"), headers: { "content-type": "audio/ogg" } };
const voiceId = "21m00Tcm4TlvDq8ikWAM";

const cases: WireComparison[] = [
  {
    title: "speech",
    answer,
    theirs: (url) =>
      clientAt(url).textToSpeech.convert(voiceId, {
        text: "Grüße, 世界!",
        modelId: "eleven_multilingual_v2",
        outputFormat: "opus_48000_96",
      }),
    ours: async (url) =>
      elevenlabs.speech?.submit(
        { text: "Grüße, 世界!", voiceId, count: 1, diverse: true, container: "ogg" },
        io("speech", "eleven_multilingual_v2", url),
      ),
  },
  {
    title: "speech with settings, a seed and fields of its own",
    answer,
    theirs: (url) =>
      clientAt(url).textToSpeech.convert(voiceId, {
        text: "Hello",
        modelId: "eleven_flash_v2_5",
        outputFormat: "mp3_44100_128",
        enableLogging: false,
        seed: 7,
        languageCode: "en",
        applyTextNormalization: "on",
        previousText: "Well.",
        voiceSettings: {
          stability: 0.4,
          similarityBoost: 0.8,
          style: 0.1,
          speed: 1.1,
          useSpeakerBoost: true,
        },
      }),
    ours: async (url) =>
      elevenlabs.speech?.submit(
        {
          text: "Hello",
          voiceId,
          count: 1,
          diverse: false,
          container: "mp3",
          seed: 7,
          settings: { stability: 0.4, similarityBoost: 0.8, style: 0.1, speed: 1.1, useSpeakerBoost: true },
          extensions: {
            enable_logging: false,
            language_code: "en",
            apply_text_normalization: "on",
            previous_text: "Well.",
          },
        },
        io("speech", "eleven_flash_v2_5", url),
      ),
  },
  {
    title: "music",
    answer,
    theirs: (url) =>
      clientAt(url).music.compose({
        prompt: "Calm piano",
        musicLengthMs: 30_000,
        modelId: "music_v1",
        forceInstrumental: true,
        outputFormat: "mp3_44100_128",
        signWithC2Pa: true,
      }),
    ours: async (url) =>
      elevenlabs.music?.submit(
        {
          prompt: "Calm piano",
          durationMs: 30_000,
          count: 1,
          instrumental: true,
          container: "mp3",
          extensions: { sign_with_c2pa: true },
        },
        io("music", "music_v1", url),
      ),
  },
  {
    title: "a sound effect",
    answer,
    theirs: (url) =>
      clientAt(url).textToSoundEffects.convert({
        text: "A coin",
        durationSeconds: 2.5,
        promptInfluence: 0.3,
        loop: true,
        modelId: "eleven_text_to_sound_v2",
        outputFormat: "opus_48000_96",
      }),
    ours: async (url) =>
      elevenlabs.sound?.submit(
        {
          prompt: "A coin",
          durationMs: 2_500,
          count: 1,
          promptInfluence: 0.3,
          diverse: true,
          container: "ogg",
          extensions: { loop: true },
        },
        io("sound", "eleven_text_to_sound_v2", url),
      ),
  },
];

sendsWhatItsClientSends("elevenlabs", cases, {
  "x-fern-*": "The client describes itself.",
  "cache-control": "The client's fetch keeps nothing; nothing of ours is kept.",
  pragma: "Likewise.",
});
