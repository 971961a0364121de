import { readMp3 } from "./mp3";
import { readOgg } from "./ogg";

type AudioFacts = { mediaType: "audio/ogg" | "audio/mpeg"; durationMs: number };

/**
 * Reads the type and length of an audio file by walking every page or frame. Null if it is neither Ogg (Opus, Vorbis) nor MP3, or
 * is damaged.
 */
export function readAudio(bytes: Uint8Array): AudioFacts | null {
  const ogg = readOgg(bytes);
  if (ogg) return { mediaType: "audio/ogg", durationMs: toMs(ogg) };
  const mp3 = readMp3(bytes);
  return mp3 && { mediaType: "audio/mpeg", durationMs: toMs(mp3) };
}

const toMs = ({ samples, rate }: { samples: number; rate: number }) => Math.round((samples / rate) * 1000);
