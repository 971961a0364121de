import { type Container, encode, type Sound } from "./encode";

export type AudioAnswer = { takes: { mediaType: string; base64: string }[] };

/**
 * Encodes each take. `sandbox-partial` leaves out the last of several, and `sandbox-garbled` sends files that no player
 * understands.
 */
export async function recordTakes(
  model: string,
  count: number,
  container: Container,
  soundOf: (take: number) => Sound,
): Promise<AudioAnswer> {
  const made = model === "sandbox-partial" ? Math.max(1, count - 1) : count;
  const takes: AudioAnswer["takes"] = [];
  for (let take = 0; take < made; take++) {
    const file = await encode(soundOf(take), container);
    const sent = model === "sandbox-garbled" ? file.subarray(0, file.byteLength / 2).fill(0x2a, 20) : file;
    takes.push({
      mediaType: container === "ogg" ? "audio/ogg" : "audio/mpeg",
      base64: sent.toString("base64"),
    });
  }
  return { takes };
}
